package mechanism_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// TestCopiesDrawNothingAgain: copies of a run, an allowance and a grant by value, also if they are
// put back, have the budget, the uses and the noise of the first. Two Gaussian draws of 40
// coordinates are equal with a probability below 2^-1000.
func TestCopiesDrawNothingAgain(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-6})
	run := mechanism.Begin(t.Context(), l)
	event := accountant.Gaussian{NoiseMultiplier: 1}
	draw := func(g *mechanism.Grant) ([]float64, error) {
		out := make([]float64, 40)
		sum := mechanism.NewFixedSum(40, 0x1p-30)
		return out, g.Release(1, mechanism.Part{Sum: sum, Std: 1, Out: out})
	}
	var drawn [][]float64
	other := func(a *mechanism.Allowance) {
		t.Helper()
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		before := *g
		noise, err := draw(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range drawn {
			if slices.Equal(d, noise) {
				t.Error("the same noise twice")
			}
		}
		drawn = append(drawn, noise)
		again := before
		*g = before
		for _, g := range []*mechanism.Grant{&before, &again, g} {
			if _, err := draw(g); !errors.Is(err, mechanism.ErrNotCovered) {
				t.Errorf("a copy of a grant: got %v, want ErrNotCovered", err)
			}
		}
	}
	reserved := func(r *mechanism.Run) *mechanism.Allowance {
		t.Helper()
		a, err := r.Reserve("p", event, 3)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	before := *run
	a := reserved(run)
	kept := *a
	other(a)
	other(&kept)
	*a = kept
	other(a)
	if _, err := kept.Next(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a copy of an allowance: got %v after its last use", err)
	}
	other(reserved(&before))
	*run = before
	other(reserved(run))
}

// TestCopiesSampleOnce: a copy of a grant has the sample of the first, which is drawn once.
func TestCopiesSampleOnce(t *testing.T) {
	run := mechanism.Begin(t.Context(), ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-6}))
	g, err := run.Spend("p", accountant.PoissonSampled{Probability: 0.5,
		Event: accountant.Gaussian{NoiseMultiplier: 1}})
	if err != nil {
		t.Fatal(err)
	}
	again := *g
	if rows, _ := g.PoissonSample(100, nil, nil); len(rows) == 0 {
		t.Error("no row of 100 is sampled") // with probability 2^-100
	}
	if rows, _ := again.PoissonSample(100, nil, nil); len(rows) > 0 {
		t.Error("a copy samples again")
	}
}
