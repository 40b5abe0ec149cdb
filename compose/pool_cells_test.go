package compose_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestCellsOfPartsAreShared: each of a pool's models may have the cells that a file of one model
// may have, but not all of them together. A few kilobytes describe a tree of a million cells.
func TestCellsOfPartsAreShared(t *testing.T) {
	const flags = 20
	var columns []records.Column
	var pairs [][]int
	row := make([]any, flags)
	for i := range flags {
		columns, row[i] = append(columns, records.Flag(fmt.Sprint("f", i), "n", "y")), "n"
		for j := range i {
			pairs = append(pairs, []int{j, i})
		}
	}
	s := schemaOf(t, columns...)
	rows, err := records.FromValues(s, row)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	of := []synth.Design{tables.AIM{Rounds: 1}, tables.AIM{Rounds: 1}, tables.MST{}}
	p, err := compose.Pool{Of: of}.PlanFor(s, b)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.FitOn(t.Context(), ledger.New(b), rows)
	if err != nil {
		t.Fatal(err)
	}
	f, err := g.Model().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var h struct {
		Models []struct {
			System   string         `json:"system"`
			Model    map[string]any `json:"model"`
			Sections int            `json:"sections"`
		} `json:"models"`
		Released json.RawMessage `json:"released"`
	}
	if err := json.Unmarshal(f.Header, &h); err != nil {
		t.Fatal(err)
	}
	for i := range h.Models {
		h.Models[i].Model["factors"] = pairs
	}
	if f.Header, err = json.Marshal(h); err != nil {
		t.Fatal(err)
	}
	for i := range f.Sections {
		if f.Sections[i].Name == "factors" {
			f.Sections[i].Data = make([]byte, len(pairs)*4*8)
		}
	}
	systems := compose.Systems(tables.Systems())
	for values, good := range map[int64]bool{0: false, 3*2<<20 - 1: false, 3 * 2 << 20: true} {
		_, err := systems.ReadModel(f, synth.Loading{Limits: records.Limits{Values: values}})
		if over := new(records.LimitError); errors.As(err, &over) == good || good && err != nil {
			t.Errorf("3 models of 2^20 cells, a limit of %d: %v", values, err)
		}
	}
}
