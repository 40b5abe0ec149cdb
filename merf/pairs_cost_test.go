package merf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPlansOfManyPairsAreRefused checks that a plan file of many columns is refused before their
// pairs are listed, however many features it allows.
func TestPlansOfManyPairsAreRefused(t *testing.T) {
	columns := make([]records.Column, 2000)
	for i := range columns {
		columns[i] = records.Flag(fmt.Sprint(i), "n", "y")
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.Pairs{Order: 1}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	all := synth.Systems{merf.System()}
	if _, err := all.ReadPlan(text); err != nil {
		t.Fatalf("single columns are refused: %v", err)
	}
	pairs := strings.Replace(string(text), `"order":1`, `"order":2,"max_dim":100000000`, 1)
	var limit *records.LimitError
	if _, err := all.ReadPlan([]byte(pairs)); !errors.As(err, &limit) {
		t.Errorf("got %v, want a limit", err)
	}
}

// TestPaidPairsCanBeRead checks that a plan is refused, before anything is paid, if no file could
// hold its embedding.
func TestPaidPairsCanBeRead(t *testing.T) {
	columns := make([]records.Column, 800)
	for i := range columns {
		columns[i] = records.Flag(fmt.Sprint(i), "n", "y")
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.Pairs{MaxDim: 3_000_000}}.Plan()
	if wrong := new(param.Error); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a *param.Error", err)
	}
}
