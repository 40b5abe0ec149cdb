package mechanism

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// watching is a tap that calls a function at every draw.
type watching struct {
	seededTap
	drawn func()
}

func (w watching) Release(*entropy.Release) error { w.drawn(); return nil }
func (w watching) Sample(entropy.Sample)          { w.drawn() }

// TestDrawsHoldTheLock: grants of one allowance share its streams. Two that drew at once could get
// the same noise, so each holds the allowance's lock from its charge to the end of its draw.
func TestDrawsHoldTheLock(t *testing.T) {
	sum := NewFixedSum(1, GridFor(1))
	part := Part{Sum: sum, Std: 1, Out: make([]float64, 1)}
	one := []int64{1}
	for what, c := range map[string]struct {
		event accountant.Event
		draw  func(*Grant) error
	}{
		"Release": {gaussian(1), func(g *Grant) error { return g.Release(1, part) }},
		"ReleaseGradient": {gaussian(1), func(g *Grant) error {
			return g.ReleaseGradient(Gradient{Sum: make([]float32, 1), Sensitivity: 1,
				NoiseMultiplier: 1, Workers: 1}, func(int, []float64) {})
		}},
		"NoisyArgmax": {gaussian(1), func(g *Grant) error {
			_, err := g.NoisyArgmax(one, 1, 1)
			return err
		}},
		"Laplace": {accountant.Laplace{Scale: 1}, func(g *Grant) error { return g.Laplace(1, part) }},
		"Exponential": {accountant.ExponentialMechanism{Epsilon: 1}, func(g *Grant) error {
			_, err := g.Exponential(one)
			return err
		}},
		"RandomizedResponse": {accountant.RandomizedResponse{Categories: 2, Noise: 0.5},
			func(g *Grant) error { _, err := g.RandomizedResponse(1); return err }},
		"DiscreteGaussian": {accountant.DiscreteGaussian{Sigma: 1, Sensitivity: 1},
			func(g *Grant) error { return g.DiscreteGaussian(one, make([]int64, 1)) }},
		"DiscreteLaplace": {accountant.DiscreteLaplace{A: 1, Sensitivity: 1},
			func(g *Grant) error { return g.DiscreteLaplace(one, make([]int64, 1)) }},
		"SparseHistogram": {accountant.SparseHistogram{Sigma: 1, Threshold: 9, Cells: 1},
			func(g *Grant) error {
				_, err := g.SparseHistogram([]map[string]int64{{"a": 1}})
				return err
			}},
		"Trials": {accountant.RepeatAndSelect{Event: gaussian(1), Mean: 4, Poisson: true},
			func(g *Grant) error { _, err := g.Trials(2, 0); return err }},
		"PoissonSample": {sampled(0.5), func(g *Grant) error {
			g.PoissonSample(9, nil, nil)
			return g.refused
		}},
		"PoissonSample of an allocation": {allocated(2), func(g *Grant) error {
			g.PoissonSample(9, nil, nil)
			return g.refused
		}},
		"SampleWithoutReplacement": {accountant.SampledWithoutReplacement{Population: 9, Sample: 2,
			Event: gaussian(1)}, func(g *Grant) error {
			g.SampleWithoutReplacement(nil, nil)
			return g.refused
		}},
	} {
		var a *Allowance
		looked := 0
		look := func() {
			looked++
			if a.mu.TryLock() {
				a.mu.Unlock()
				t.Errorf("%s draws without the lock", what)
			}
		}
		ctx := entropy.WithTap(t.Context(), watching{drawn: look})
		budget := testBudget()
		if what != "PoissonSample of an allocation" {
			budget.Relation = accountant.ReplaceOne // which covers all other events
		}
		var err error
		if a, err = Begin(ctx, ledger.New(budget)).Reserve("test", c.event, 1); err != nil {
			t.Fatal(what, err)
		}
		a.RefuseWhen(func() error { look(); return nil })
		g, err := a.Next()
		if err == nil {
			err = c.draw(g)
		}
		if err != nil || looked == 0 {
			t.Errorf("%s: got %v and %d looks, want a draw", what, err, looked)
		}
	}
}
