package mechanism_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// TestWorstMovesByOne: adding, removing or replacing a single record changes no guess's utility by
// more than 1. The test includes counts that are fractions, weights that are not powers of two, and
// answers that are not whole, far away or NaN.
func TestWorstMovesByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 20_000 {
		grid := math.Ldexp(1, -rng.IntN(21))
		cells := 1 + rng.IntN(6)
		guess := mechanism.Guess{Answers: make([]float64, cells), Weight: 1 - rng.Float64(),
			Handicap: 10 * rng.NormFloat64()}
		if rng.IntN(3) == 0 {
			guess.Weight = 1
		}
		for i := range guess.Answers {
			guess.Answers[i] = []float64{3 * rng.NormFloat64(), 0.5, 1e300, math.NaN(),
				math.Inf(-1)}[min(rng.IntN(20), 4)]
			if rng.IntN(2) == 0 {
				guess.Answers[i] = 4 * rng.Float64()
			}
		}
		before := make([]float64, cells)
		for i := range before {
			before[i] = math.Floor(5*rng.Float64()/grid) * grid
		}
		moves := [][]float64{make([]float64, cells), make([]float64, cells)}
		moves[0][rng.IntN(cells)]++ // a record is added
		moves[1][rng.IntN(cells)]++ // and another is removed
		utility := func(counts []float64, change int) int64 {
			guess.Counts = mechanism.NewFixedSum(cells, grid)
			guess.Counts.AddRow64(counts, 1)
			return mechanism.UtilityOf(guess, change)
		}
		after := make([]float64, cells)
		for i := range after {
			after[i] = before[i] + moves[0][i]
		}
		if d := utility(after, 1) - utility(before, 1); d > 1 || d < -1 {
			t.Fatalf("an added record moves the utility of %+v by %d", guess, d)
		}
		for i := range after {
			after[i] -= moves[1][i]
		}
		if d := utility(after, 2) - utility(before, 2); d > 1 || d < -1 {
			t.Fatalf("a replaced record moves the utility of %+v by %d", guess, d)
		}
	}
}

// TestWorst: with the same randomness, Worst makes the same choice as Exponential for the
// utilities. It refuses invalid guesses before anything is drawn.
func TestWorst(t *testing.T) {
	event := accountant.ExponentialMechanism{Epsilon: 0.3}
	begin := func(seed uint64) *mechanism.Grant {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant := must(mechanism.Begin(privacytest.Seeded(t, context.Background(), seed), l).Spend(
			"choice", event))(t)
		return grant
	}
	table := func(counts ...float64) *mechanism.FixedSum {
		sum := mechanism.NewFixedSum(len(counts), 0x1p-10)
		sum.AddRow64(counts, 1)
		return sum
	}
	list := []mechanism.Guess{{Counts: table(4, 1), Answers: []float64{1, 3}, Weight: 1}, // 5
		{Counts: table(9), Answers: []float64{2}, Weight: 0.5},                    // 3.5
		{Counts: table(20, 0), Answers: []float64{0, 0}, Weight: 1, Handicap: 18}, // 2
		{Counts: table(1, 1, 1), Answers: []float64{1, 1, 1}, Weight: 1}}
	seen := map[int]bool{}
	for seed := range uint64(200) {
		for change, utilities := range map[int][]int64{1: {5, 3, 2, 0}, 2: {2, 1, -8, 0}} {
			want := must(begin(seed).Exponential(utilities))(t)
			got, err := begin(seed).Worst(list, change)
			if err != nil || got != want {
				t.Fatalf("change %d, seed %d: got %d, %v, want %d", change, seed, got, err, want)
			}
			seen[got] = true
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v are chosen, want all four guesses", seen)
	}
	grant := begin(1)
	for why, one := range map[string]mechanism.Guess{
		"no counts":        {Answers: []float64{1}, Weight: 1},
		"no weight":        {Counts: table(1), Answers: []float64{1}},
		"too much weight":  {Counts: table(1), Answers: []float64{1}, Weight: 1.1},
		"a missing answer": {Counts: table(1, 2), Answers: []float64{1}, Weight: 1},
		"a grid on which counts wrap around": {Counts: mechanism.NewFixedSum(1, 0x1p-30),
			Answers: []float64{1}, Weight: 1},
		"a coarse grid": {Counts: mechanism.NewFixedSum(1, 2), Answers: []float64{1}, Weight: 1},
		"no handicap":   {Counts: table(1), Answers: []float64{1}, Weight: 1, Handicap: math.NaN()},
	} {
		if _, err := grant.Worst([]mechanism.Guess{one}, 1); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", why, err)
		}
	}
	for _, change := range []int{0, 3, -1} {
		if _, err := grant.Worst(list, change); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("a change of %d: got %v, want ErrNotCovered", change, err)
		}
	}
	if _, err := grant.Worst(list, 1); err != nil {
		t.Errorf("a valid choice after refusals: %v", err)
	}
}
