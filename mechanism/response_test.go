package mechanism

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

func TestRandomizedResponseRates(t *testing.T) {
	e := accountant.RandomizedResponse{Noise: 0.4, Categories: 5}
	source := must(entropy.New())(t)
	src := source.Stream(entropy.Noise, 1, 0)
	const n = 50000
	truth := 0
	for range n {
		a := &Allowance{&allowanceState{run: &Run{&runState{}}, terms: termsOf(e), noise: src,
			noted: []ledger.NoiseClass{ledger.ExactNoise}}}
		v := must(a.grant().RandomizedResponse(2))(t)
		if v < 0 || v > 4 {
			t.Fatalf("got category %d, want 0 to 4", v)
		}
		if v == 2 {
			truth++
		}
	}
	sixSigma(t, "truth", truth, n, 1-0.4+0.4/5)
}

// TestResponsesAreCategories: a value outside the categories is told as the nearest one. No answer
// is outside, since it would tell its record for certain.
func TestResponsesAreCategories(t *testing.T) {
	e := accountant.RandomizedResponse{Noise: 0x1p-60, Categories: 5}
	for value, want := range map[int]int{-7: 0, -1: 0, 0: 0, 4: 4, 5: 4, 6: 4, math.MaxInt: 4} {
		budget := testBudget()
		budget.Epsilon, budget.Relation = 100, accountant.ReplaceOne
		g := must(Begin(t.Context(), ledger.New(budget)).Spend("test", e))(t)
		// Another category is told with probability 2^-60.
		if got, err := g.RandomizedResponse(value); err != nil || got != want {
			t.Errorf("%d is told as %d, %v, want %d", value, got, err, want)
		}
	}
}
