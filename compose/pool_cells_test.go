package compose_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestCellsOfPartsAreShared: each of a pool's models may have the cells that a file of one model
// may have, but not all of them together. A few kilobytes describe a tree of a million cells.
//
// Many models have fewer cells each: 32 of 2^18 cells took 216 MB.
func TestCellsOfPartsAreShared(t *testing.T) {
	ofModels(t, 3, 20)
	ofModels(t, 5, 18)
}

func ofModels(t *testing.T, n, flags int) {
	t.Helper()
	of := append(slices.Repeat([]synth.Design{tables.AIM{Rounds: 1}}, n-1), tables.MST{})
	ofDraws(t, compose.Pool{Of: of}, n, flags)
}

// TestCellsOfClassesAreShared: labels keep a draw of each class, which has the cells of the model.
// A file of 9 kB with 12 classes took 180 MB.
func TestCellsOfClassesAreShared(t *testing.T) {
	ofDraws(t, compose.Labels{Of: tables.AIM{Rounds: 1}, Nominal: 1000, Tries: 2,
		Features: rff.RBF{Dim: 6, Bandwidth: 1}, Train: sgd.Config{ClipNorm: 1,
			SamplingProbability: 0.5, Steps: 3, Optimizer: sgd.Momentum(2, 0.5)}}, 36, 9,
		records.Label("c", strings.Split("abcdefghijklmnopqrstuvwxyz0123456789", "")...))
}

// ofDraws checks that the file of a design may have large trees only if the limit of values allows
// n of them at once.
func ofDraws(t *testing.T, of synth.Design, n, flags int, more ...records.Column) {
	t.Helper()
	var columns []records.Column
	var pairs [][]int
	cells := 1 << flags
	row := make([]any, flags)
	for i := range flags {
		columns, row[i] = append(columns, records.Flag(fmt.Sprint("f", i), "n", "y")), "n"
		for j := range i {
			pairs = append(pairs, []int{j, i})
		}
	}
	for _, c := range more {
		columns, row = append(columns, c), append(row, c.Levels()[0])
		cells += len(c.Levels())
	}
	s := schemaOf(t, columns...)
	rows, err := records.FromValues(s, row)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := of.PlanFor(s, b)
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
	least := int64(2 * n * cells)
	for values, good := range map[int64]bool{0: least < 2<<20, least - 1: false, least: true} {
		_, err := systems.ReadModel(f, synth.Loading{
			Backend: device.CPU(), Limits: records.Limits{Values: values}})
		if over := new(records.LimitError); errors.As(err, &over) == good || good && err != nil {
			t.Errorf("%d draws of 2^%d cells, a limit of %d: %v", n, flags, values, err)
		}
	}
}

// asked is a system that ends its fit with the number of models that share the limits of its file.
type asked struct{ stub }

func (asked) Fit(ctx context.Context, _ *synth.Run) (synth.Model, error) {
	return nil, fmt.Errorf("%d sharers", network.Sharers(network.Sharing(ctx, 10)))
}

// TestPartsKnowWhatTheyShare: the fit of a part keeps to its share of the limits, so that a reader
// with the default limits accepts its model.
func TestPartsKnowWhatTheyShare(t *testing.T) {
	of := stubPlan(t, &asked{stub{schema: numbers}}, numbers)
	design := compose.Fixed(of)
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
		Optimizer: sgd.Momentum(2, 0.5)}
	for _, d := range []synth.Design{compose.Pool{Of: []synth.Design{design, design, design}},
		compose.Labels{Of: design, Nominal: 10, Features: rff.RBF{Dim: 6, Bandwidth: 1}, Train: train},
	} { // of three models, and of a draw for each of three classes
		b := accountant.Budget{Epsilon: 100, Delta: 1e-5}
		p := must(d.PlanFor(numbers, b))(t)
		_, err := p.FitOn(t.Context(), ledger.New(b), lowAndHigh(t, numbers, 10))
		if err == nil || !strings.Contains(err.Error(), "30 sharers") {
			t.Errorf("%T: got %v, want 10 times 3 sharers", d, err)
		}
	}
}
