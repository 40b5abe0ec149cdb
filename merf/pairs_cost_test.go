package merf_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
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
	s := must(records.NewSchema(columns...))(t)
	p := must(merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.Pairs{Order: 1}}.Plan())(t)
	text := must(p.MarshalJSON())(t)
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

// TestTablesOfFeaturesAreBounded checks that a plan and an embedding are refused if a few bytes of
// them describe a table of features larger than any file may hold, before anything is paid and
// again when they are read. Limits for trusted files, and a caller who names the kernel, allow
// what an earlier version has paid for.
func TestTablesOfFeaturesAreBounded(t *testing.T) {
	s, all := records.Interval(16_000, 0, 1), synth.Systems{merf.System()}
	large := rff.RBF{Dim: 8192, Bandwidth: 9}
	for _, k := range []rff.EmbeddingKernel{large, rff.Sum{Numbers: large}} {
		c := small(s, accountant.AddOrRemoveOne, k)
		if _, err := c.Plan(); !errors.As(err, new(*param.Error)) {
			t.Errorf("%T: %v", k, err)
		}
	}
	text := must(mustPlan(t, small(s, accountant.AddOrRemoveOne, rff.RBF{Dim: 1024,
		Bandwidth: 9})).MarshalJSON())(t)
	if _, err := all.ReadPlan(text); err != nil {
		t.Errorf("a table of 33 MB is refused: %v", err)
	}
	text = []byte(strings.Replace(string(text), `"dim":1024`, `"dim":8192`, 1))
	if _, err := all.ReadPlan(text); !errors.As(err, new(*records.LimitError)) {
		t.Errorf("a plan: got %v, want a limit", err)
	}
	p, err := all.ReadPlan(text, synth.WithLimits(records.Limits{Parameters: 1 << 30}))
	if err != nil {
		t.Fatalf("a trusted plan: %v", err)
	}
	var file bytes.Buffer
	if err := mustEmbed(t, p.(*merf.Plan), empty(t, s)).Save(&file); err != nil {
		t.Fatal(err)
	}
	_, err = merf.LoadEmbedding(bytes.NewReader(file.Bytes()), rff.RBF{Dim: 8190, Bandwidth: 9})
	if !errors.As(err, new(*records.LimitError)) || !errors.Is(err, synth.ErrFormat) {
		t.Errorf("an embedding: got %v, want a limit", err)
	}
	if _, err := merf.LoadEmbedding(&file, large); err != nil {
		t.Errorf("an embedding of a kernel that the caller names: %v", err)
	}
}

// TestDefaultTablesCanBeRead checks that the default features of wide records fit into files.
func TestDefaultTablesCanBeRead(t *testing.T) {
	for _, s := range []records.Schema{records.RGBImage(32, 32), records.RGBImage(64, 64),
		records.Image(96, 96), records.Binary(200_000)} {
		for _, n := range []int{0, 1_000_000} {
			c := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 8, Delta: 1e-7}, Nominal: n,
				Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{2}}}}
			text := must(mustPlan(t, c).MarshalJSON())(t)
			if _, err := (synth.Systems{merf.System()}).ReadPlan(text); err != nil {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}
