package tables_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestPlansThatCannotBeDrawnAreRefused checks that a plan is refused if the noise of its first
// release or of a later one does not fit the grid of the counts. Every other plan must fit, with
// a checkpoint if ε is small, since the noise of its shares is larger, and without one otherwise.
func TestPlansThatCannotBeDrawnAreRefused(t *testing.T) {
	t.Parallel() // it waits for the disk
	s := must(records.NewSchema(records.Flag("a", "x", "y"), records.Flag("b", "x", "y")))(t)
	data := must(records.FromValues(s, []any{"x", "y"}, []any{"y", "y"}))(t)
	with := must(records.NewSchema(records.Target("y", 0, 9), records.Flag("a", "x", "y"),
		records.Flag("b", "x", "y")))(t)
	target := must(records.FromValues(with, []any{1, "x", "y"}, []any{7, "y", "y"}))(t)
	for _, d := range []records.Data{data, target} {
		refusedOrFitted(t, d)
	}
}

func refusedOrFitted(t *testing.T, data records.Data) {
	t.Helper()
	refused, fitted := 0, 0
	for _, epsilon := range []float64{1e-12, 1e-7, 2e-6, 3e-6, 1e-5, 1, 1e12, 1e15} {
		b := accountant.Budget{Epsilon: epsilon, Delta: 1e-12}
		for rounds, part := range map[int]float64{1: 0, 2: 0.8, 60: 0} {
			c := tables.AIM{Common: tables.Common{Schema: data.Schema(), Budget: b, ColumnPart: part},
				Rounds: rounds}
			p, err := c.Plan()
			if err != nil {
				var bad *param.Error
				if !errors.As(err, &bad) || bad.Path != "tables.AIM.Budget" {
					t.Errorf("ε = %v, %d rounds: got error %v, want a *param.Error for Budget", epsilon, rounds,
						err)
				}
				refused++
				continue
			}
			kept := filepath.Join(t.TempDir(), "kept")
			opts := [][]synth.Option{nil, {synth.Checkpoint(kept)}}
			if epsilon < 1 {
				opts = opts[1:] // with more noise
			} else if epsilon > 1 {
				opts = opts[:1]
			}
			for _, opts := range opts {
				_, err := p.FitOn(context.Background(), ledger.New(b), data, opts...)
				if err != nil {
					t.Errorf("ε = %v, %d rounds: the plan is accepted, but its fit fails: %v", epsilon, rounds,
						err)
				}
			}
			fitted++
		}
	}
	if refused < 4 || fitted < 4 {
		t.Errorf("%d plans were refused and %d fitted, want at least 4 of each", refused, fitted)
	}
}
