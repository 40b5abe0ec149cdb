package mechanism_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// TestExponentialMechanismChooses by its law: each frequency lies within 6.2 deviations, which each
// fails by chance with probability 6e-10.
func TestExponentialMechanismChooses(t *testing.T) {
	const n, epsilon = 40000, 0.8
	utilities := []int64{3, -math.MaxInt64, 5, 4}
	event := accountant.ExponentialMechanism{Epsilon: epsilon}
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	allowance, err := mechanism.Begin(context.Background(), ledger).Reserve("choice", event, n)
	if err != nil {
		t.Fatal(err)
	}
	var counts [4]float64
	for range n {
		grant, err := allowance.Next()
		if err != nil {
			t.Fatal(err)
		}
		i, err := grant.Exponential(utilities)
		if err != nil {
			t.Fatal(err)
		}
		counts[i]++
	}
	deviation := func(scale float64) float64 {
		var p [4]float64
		total, worst := 0.0, 0.0
		for i, u := range utilities {
			p[i] = math.Exp(epsilon * scale * float64(u-5) / 2)
			total += p[i]
		}
		for i := range p {
			mean := n * p[i] / total
			worst = max(worst, math.Abs(counts[i]-mean)/math.Sqrt(mean*(1-p[i]/total)+1))
		}
		return worst
	}
	if d := deviation(1); d > 6.2 {
		t.Errorf("frequencies %v are %.1f deviations off", counts, d)
	}
	for _, wrong := range []float64{0.7, 1.3} {
		if d := deviation(wrong); d < 8 {
			t.Errorf("ε times %v would pass at %.1f deviations", wrong, d)
		}
	}
}

func TestExponentialMechanismRefuses(t *testing.T) {
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
	run := mechanism.Begin(context.Background(), ledger)
	gaussian, _ := run.Spend("other", accountant.Gaussian{NoiseMultiplier: 1})
	if _, err := gaussian.Exponential([]int64{1}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("under a Gaussian: %v", err)
	}
	grant, _ := run.Spend("choice", accountant.ExponentialMechanism{Epsilon: 1})
	if _, err := grant.Exponential(nil); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); err != nil {
		t.Error(err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("twice: %v", err)
	}
}

// TestFarthest chooses as Exponential does among the distances, with the same randomness, on any
// grid; and refuses what it cannot read.
func TestFarthest(t *testing.T) {
	event := accountant.ExponentialMechanism{Epsilon: 0.3}
	answers := []int64{3, 4, -2, 12, 0}
	distances := []int64{3, 1, 2, 3, 1 << 40}
	choose := func(seed uint64, f func(*mechanism.Grant) (int, error)) int {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant, err := mechanism.Begin(privacytest.Seeded(t, context.Background(), seed), ledger).Spend(
			"choice", event)
		if err != nil {
			t.Fatal(err)
		}
		i, err := f(grant)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	seen := map[int]bool{}
	for _, grid := range []float64{1, 0x1p-3, 0x1p-20} {
		list, some := mechanism.NewFixedSum(5, grid), mechanism.NewFixedSum(4, grid)
		for i, v := range []int64{6, 3, 0, 9} {
			list.AddInt(i, v)
			some.AddInt(i, v)
		}
		for range 1 << 20 {
			list.AddInt(4, 1<<20)
		}
		for seed := range uint64(60) {
			want := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Exponential(distances[:4])
			})
			got := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Farthest(some, answers[:4])
			})
			if got != want {
				t.Fatalf("grid %v, seed %d: %d, want %d", grid, seed, got, want)
			}
			seen[got] = true
			if far := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Farthest(list, answers)
			}); far != 4 {
				t.Errorf("grid %v: a count of 2^40 loses to %d", grid, far)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v are chosen: the test has no power", seen)
	}
	for name, sum := range map[string]*mechanism.FixedSum{"none": nil, "zero": new(mechanism.FixedSum),
		"too few": mechanism.NewFixedSum(2, 1), "a coarse grid": mechanism.NewFixedSum(4, 2),
		"no grid": mechanism.NewFixedSum(4, 0.3)} {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant, err := mechanism.Begin(context.Background(), ledger).Spend("choice", event)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := grant.Farthest(sum, answers[:4]); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWorstMovesByOne: whatever single record comes, goes or is replaced, no guess's utility moves
// by more than 1, also where counts are parts of records, weights are no powers of two, and answers
// are not whole, far away or not numbers.
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
		moves[0][rng.IntN(cells)]++ // a record comes
		moves[1][rng.IntN(cells)]++ // and another goes
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
			t.Fatalf("a record that comes moves the utility of %+v by %d", guess, d)
		}
		for i := range after {
			after[i] -= moves[1][i]
		}
		if d := utility(after, 2) - utility(before, 2); d > 1 || d < -1 {
			t.Fatalf("a record that is replaced moves the utility of %+v by %d", guess, d)
		}
	}
}

// TestWorst chooses as Exponential does among the utilities, with the same randomness, and refuses
// what it is not for before anything is drawn.
func TestWorst(t *testing.T) {
	event := accountant.ExponentialMechanism{Epsilon: 0.3}
	begin := func(seed uint64) *mechanism.Grant {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant, err := mechanism.Begin(privacytest.Seeded(t, context.Background(), seed), ledger).Spend(
			"choice", event)
		if err != nil {
			t.Fatal(err)
		}
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
			want, err := begin(seed).Exponential(utilities)
			if err != nil {
				t.Fatal(err)
			}
			got, err := begin(seed).Worst(list, change)
			if err != nil || got != want {
				t.Fatalf("change %d, seed %d: %d, %v, want %d", change, seed, got, err, want)
			}
			seen[got] = true
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v are ever chosen", seen)
	}
	grant := begin(1)
	for why, one := range map[string]mechanism.Guess{
		"no counts":        {Answers: []float64{1}, Weight: 1},
		"no weight":        {Counts: table(1), Answers: []float64{1}},
		"too much weight":  {Counts: table(1), Answers: []float64{1}, Weight: 1.1},
		"a missing answer": {Counts: table(1, 2), Answers: []float64{1}, Weight: 1},
		"a coarse grid":    {Counts: mechanism.NewFixedSum(1, 2), Answers: []float64{1}, Weight: 1},
		"no handicap":      {Counts: table(1), Answers: []float64{1}, Weight: 1, Handicap: math.NaN()},
	} {
		if _, err := grant.Worst([]mechanism.Guess{one}, 1); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: %v", why, err)
		}
	}
	for _, change := range []int{0, 3, -1} {
		if _, err := grant.Worst(list, change); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("a change of %d: %v", change, err)
		}
	}
	if _, err := grant.Worst(list, 1); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}
