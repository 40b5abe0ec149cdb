package mechanism_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

var transactionBudget = accountant.Budget{Epsilon: 1, Delta: 1e-5}

func transaction(z float64) ledger.Transaction {
	e := accountant.Gaussian{NoiseMultiplier: z}
	return ledger.Transaction{Lines: []ledger.Line{{Purpose: "a", Event: e, Count: 1},
		{Purpose: "b", Event: e, Count: 2}, {Purpose: "b", Event: e, Count: 1}}}
}

func TestReserveAllGivesNothingOrEverything(t *testing.T) {
	l := ledger.New(transactionBudget)
	if _, err := mechanism.ReserveAll(t.Context(), l, transaction(5)); !errors.Is(err,
		accountant.ErrBudgetExceeded) || len(l.Entries()) != 0 {
		t.Fatalf("got %v and entries %v, want ErrBudgetExceeded and none", err, l.Entries())
	}
	if _, err := mechanism.ReserveAll(t.Context(), nil, transaction(5)); err == nil {
		t.Error("ReserveAll accepts a nil ledger")
	}
	all := must(mechanism.ReserveAll(t.Context(), l, transaction(50)))(t)
	for i, want := range []int{1, 2, 1} {
		if got := all[i].Remaining(); got != want {
			t.Errorf("line %d: got %d uses, want %d", i, got, want)
		}
	}
}

// TestGuardComesBeforeTheUse: a use that the guard refuses is not taken.
func TestGuardComesBeforeTheUse(t *testing.T) {
	l := ledger.New(transactionBudget)
	all := must(mechanism.ReserveAll(t.Context(), l, transaction(50)))(t)
	full := errors.New("disk full")
	asked, refuse := 0, error(nil)
	all[1].Guard(func(spend func() error) error {
		if asked++; refuse != nil {
			return refuse
		}
		return spend()
	})
	if _, err := all[1].Next(); err != nil || asked != 1 {
		t.Fatal(asked, err)
	}
	refuse = full
	if _, err := all[1].Next(); !errors.Is(err, full) || all[1].Remaining() != 1 {
		t.Errorf("got %v and %d uses left, want the guard's error and 1", err, all[1].Remaining())
	}
	if e := l.Entries()[1]; e.Spent != 1 {
		t.Errorf("the ledger counts %d uses, want 1", e.Spent)
	}
}

// TestGuardThatTakesNothing: Next returns no grant if the guard does not call spend.
func TestGuardThatTakesNothing(t *testing.T) {
	all := must(mechanism.ReserveAll(t.Context(), ledger.New(transactionBudget),
		transaction(50)))(t)
	all[0].Guard(func(func() error) error { return nil })
	if g, err := all[0].Next(); g != nil || !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("got %v, %v, want no grant and ErrNotCovered", g, err)
	}
}

// TestRefuseWhenStopsEveryMechanism: the function passed to RefuseWhen can stop a release of any
// mechanism after the data were read. Nothing is then drawn.
func TestRefuseWhenStopsEveryMechanism(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5,
		Relation: accountant.ReplaceOne})
	sum := mechanism.NewFixedSum(1, mechanism.GridFor(1))
	out := make([]float64, 1)
	part := mechanism.Part{Sum: sum, Std: 1, Out: out}
	gaussian := accountant.Gaussian{NoiseMultiplier: 1}
	for what, c := range map[string]struct {
		event accountant.Event
		draw  func(*mechanism.Grant) error
	}{
		"Release": {gaussian, func(g *mechanism.Grant) error { return g.Release(1, part) }},
		"ReleaseGradient": {gaussian, func(g *mechanism.Grant) error {
			return g.ReleaseGradient(mechanism.Gradient{Sum: make([]float32, 1), Sensitivity: 1,
				NoiseMultiplier: 1, Workers: 1}, func(int, []float64) { out[0] = 1 })
		}},
		"NoisyArgmax": {gaussian, func(g *mechanism.Grant) error {
			_, err := g.NoisyArgmax([]int64{1, 2}, 1, 1)
			return err
		}},
		"Laplace": {accountant.Laplace{Scale: 1}, func(g *mechanism.Grant) error {
			return g.Laplace(1, part)
		}},
		"Exponential": {accountant.ExponentialMechanism{Epsilon: 1}, func(g *mechanism.Grant) error {
			_, err := g.Exponential([]int64{1, 2})
			return err
		}},
		"RandomizedResponse": {accountant.RandomizedResponse{Categories: 2, Noise: 0.5},
			func(g *mechanism.Grant) error { _, err := g.RandomizedResponse(1); return err }},
		"SparseHistogram": {accountant.SparseHistogram{Sigma: 1, Threshold: 9, Cells: 1},
			func(g *mechanism.Grant) error {
				_, err := g.SparseHistogram([]map[string]int64{{"a": 1}})
				return err
			}},
		"DiscreteGaussian": {accountant.DiscreteGaussian{Sigma: 1, Sensitivity: 1},
			func(g *mechanism.Grant) error { return g.DiscreteGaussian([]int64{1}, []int64{1}) }},
		"DiscreteLaplace": {accountant.DiscreteLaplace{A: 1, Sensitivity: 1},
			func(g *mechanism.Grant) error { return g.DiscreteLaplace([]int64{1}, []int64{1}) }},
	} {
		all, err := mechanism.ReserveAll(t.Context(), l, ledger.Transaction{
			Lines: []ledger.Line{{Purpose: what, Event: c.event, Count: 2}}})
		if err != nil {
			t.Fatal(what, err)
		}
		stop, now := errors.New("stop"), false
		all[0].RefuseWhen(func() error {
			if now {
				return stop
			}
			return nil
		})
		g, err := all[0].Next()
		if err != nil {
			t.Fatal(what, err)
		}
		now, out[0] = true, 0
		if err := c.draw(g); !errors.Is(err, stop) || out[0] != 0 || len(all[0].Classes()) > 0 {
			t.Errorf("%s: got %v, drawn %v, noted %v, want no draw", what, err, out[0], all[0].Classes())
		}
		now = false
		if err := c.draw(g); !errors.Is(err, stop) {
			t.Errorf("%s: a second use of a refused grant: got %v, want the same error", what, err)
		}
		if g, err = all[0].Next(); err != nil || c.draw(g) != nil || len(all[0].Classes()) != 1 {
			t.Errorf("%s: %v, noted %v", what, err, all[0].Classes())
		}
	}
}

// TestRefuseWhenIsAskedBeforeEveryRelease: data that fail after a first release of a grant stop its
// second one.
func TestRefuseWhenIsAskedBeforeEveryRelease(t *testing.T) {
	all := must(mechanism.ReserveAll(t.Context(), ledger.New(transactionBudget), ledger.Transaction{
		Lines: []ledger.Line{{Purpose: "two", Count: 1,
			Event: accountant.SameBatch{NoiseMultipliers: []float64{50, 50}}}}}))(t)
	failed, now := errors.New("failed"), error(nil)
	all[0].RefuseWhen(func() error { return now })
	g := must(all[0].Next())(t)
	out := make([]float64, 1)
	part := mechanism.Part{Sum: mechanism.NewFixedSum(1, mechanism.GridFor(1)), Std: 1, Out: out}
	if err := g.Release(1./50, part); err != nil || out[0] == 0 {
		t.Fatalf("the first release: got %v, %v", out[0], err)
	}
	now, out[0] = failed, 0
	if err := g.Release(1./50, part); !errors.Is(err, failed) || out[0] != 0 {
		t.Errorf("got %v, %v after the data failed, want no draw", out[0], err)
	}
}
