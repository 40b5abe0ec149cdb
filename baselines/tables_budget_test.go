package baselines_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPlansThatCannotBeDrawnAreRefused checks that a plan is refused if the noise of its first
// release or of a later one does not fit the grid of the counts. Every other plan must fit, with
// and without a checkpoint.
func TestPlansThatCannotBeDrawnAreRefused(t *testing.T) {
	s, err := records.NewSchema(records.Flag("a", "x", "y"), records.Flag("b", "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromValues(s, []any{"x", "y"}, []any{"y", "y"})
	if err != nil {
		t.Fatal(err)
	}
	refused, fitted := 0, 0
	for _, epsilon := range []float64{1e-12, 1e-7, 2e-6, 3e-6, 1e-5, 1, 1e12, 1e15} {
		b := accountant.Budget{Epsilon: epsilon, Delta: 1e-12}
		for _, rounds := range []int{1, 60} {
			c := baselines.AIM{Tables: baselines.Tables{Schema: s, Budget: b}, Rounds: rounds}
			p, err := c.Plan()
			if err != nil {
				var bad *param.Error
				if !errors.As(err, &bad) || bad.Path != "baselines.AIM.Budget" {
					t.Errorf("ε = %v, %d rounds: got error %v, want a *param.Error for Budget", epsilon, rounds,
						err)
				}
				refused++
				continue
			}
			kept := filepath.Join(t.TempDir(), "kept")
			for _, opts := range [][]synth.Option{nil, {synth.Checkpoint(kept)}} {
				_, err := p.FitOn(context.Background(), accountant.NewLedger(b), data, opts...)
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

// TestBayesRefusesTooLittleNoise checks that a plan of NaiveBayes is refused if its noise is so
// small that sums clamp what a row adds. Every other plan learns the mean of a column of numbers
// and the frequency of a level.
func TestBayesRefusesTooLittleNoise(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for i := range 1000 {
		rows = append(rows, []any{0.9, []string{"a", "b"}[i%10/8], []string{"u", "v"}[i%2]})
	}
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	refused, fitted := 0, 0
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne,
		accountant.ReplaceOne} {
		for epsilon := 100.0; epsilon < 1e18; epsilon *= 10 {
			p, err := baselines.NaiveBayes{Schema: s, Budget: accountant.Budget{Epsilon: epsilon,
				Delta: 1e-5, Relation: relation}}.Plan()
			if err != nil {
				var bad *param.Error
				if !errors.As(err, &bad) || bad.Path != "baselines.NaiveBayes.Budget" {
					t.Errorf("ε = %v: got error %v, want a *param.Error for Budget", epsilon, err)
				}
				refused++
				continue
			}
			g, err := p.Fit(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			const n = 20_000
			out, err := g.Sample(t.Context(), n, synth.Seed(1))
			if err != nil {
				t.Fatal(err)
			}
			mean, level := 0.0, 0.0
			f, _ := records.AsFrame(out)
			for i := range n {
				mean += f.Number(i, 0) / n
				level += float64(f.Level(i, 1)) / n
			}
			// Ten standard deviations of a frequency of 20,000 rows are .028; the noise is less.
			if math.Abs(mean-0.9) > 0.03 || math.Abs(level-0.2) > 0.03 {
				t.Errorf("%v, ε = %v: the mean is %.3f and the frequency %.3f, want 0.9 and 0.2", relation,
					epsilon, mean, level)
			}
			fitted++
		}
	}
	if refused < 4 || fitted < 4 {
		t.Errorf("%d plans were refused and %d fitted, want at least 4 of each", refused, fitted)
	}
}
