package mechanism

import (
	"errors"
	"math/bits"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

func allocated(steps int) accountant.Event {
	return accountant.RandomAllocation{Steps: steps, NoiseMultiplier: 1}
}

// stepsOf returns the step of each row in an epoch, and fails unless a row is in exactly one step.
func stepsOf(t *testing.T, a *Allowance, n, steps int) []int {
	t.Helper()
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	for s := range steps {
		g := must(a.Next())(t)
		before := []int32{-1, -2, -3} // rows are appended to what is there
		all, keys := g.PoissonSample(n, before[:s%4:s%4], nil)
		rows := all[s%4:]
		if !slices.Equal(all[:s%4], before[:s%4]) {
			t.Fatalf("step %d: %v are %v after a sample", s, before[:s%4], all[:s%4])
		}
		if len(keys) != len(rows) || !slices.IsSorted(rows) {
			t.Fatalf("step %d: %d rows, in order %t, with %d keys", s, len(rows), slices.IsSorted(rows),
				len(keys))
		}
		for _, row := range rows {
			if out[row] >= 0 {
				t.Fatalf("row %d is in steps %d and %d", row, out[row], s)
			}
			out[row] = s
		}
	}
	if slices.Contains(out, -1) {
		t.Fatal("some row is in no step")
	}
	return out
}

// TestAllocation: every row is in one step, chosen uniformly and independently of its neighbour and
// of other epochs. Each of the ten comparisons fails by chance with probability 6e-10: the limit is
// 6.2 standard deviations. An allocation that depends on neither row nor epoch is hundreds away.
func TestAllocation(t *testing.T) {
	const n, steps = 90000, 7
	a := must(Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs", allocated(steps), 2))(t)
	var epochs [2][]int
	for i := range epochs {
		epochs[i] = stepsOf(t, a, n, steps)
	}
	counts := make([]int, steps)
	same, neighbours, next := 0, 0, 0
	for row, s := range epochs[0] {
		counts[s]++
		if s == epochs[1][row] {
			same++
		}
		if row > 0 && s == epochs[0][row-1] {
			neighbours++
		}
		if (s+1)%steps == epochs[1][row] {
			next++
		}
	}
	for _, c := range counts {
		sixSigma(t, "step", c, n, 1./steps)
	}
	sixSigma(t, "rows in the same step of both epochs", same, n, 1./steps)
	sixSigma(t, "rows in the step of the row before", neighbours, n-1, 1./steps)
	sixSigma(t, "rows one step later in the next epoch", next, n, 1./steps)
}

// TestShuffles: every step of an epoch gets equally many rows, or one more. The step of a row is
// uniform, and independent of the row before and of the other epoch. Each of the eleven comparisons
// fails by chance with probability 6e-10.
func TestShuffles(t *testing.T) {
	const n, steps = 90001, 7
	b := testBudget()
	b.Relation = accountant.ReplaceOne
	a := must(Begin(t.Context(), ledger.New(b)).Reserve("epochs",
		accountant.RandomAllocation{Steps: steps, NoiseMultiplier: 1, Shuffled: true}, 2))(t)
	epochs := [2][]int{stepsOf(t, a, n, steps), stepsOf(t, a, n, steps)}
	counts, early := make([]int, steps), make([]int, steps)
	same, neighbours := 0, 0
	for row, s := range epochs[0] {
		if counts[s]++; row < n/3 {
			early[s]++
		}
		if s == epochs[1][row] {
			same++
		}
		if row > 0 && s == epochs[0][row-1] {
			neighbours++
		}
	}
	for s := range steps {
		if c := counts[s]; c != n/steps && c != n/steps+1 {
			t.Errorf("step %d has %d of %d rows", s, c, n)
		}
		sixSigma(t, "early rows of a step", early[s], n/3, 1./steps)
	}
	sixSigma(t, "rows in the same step of both epochs", same, n, 1./steps)
	sixSigma(t, "rows in the step of the row before", neighbours, n-1, 1./steps)
}

// TestShufflesOfOneNumberOfRows checks that steps of shuffled epochs are refused for another number
// of rows than before. Its shuffle would give some rows a second step of the epoch.
func TestShufflesOfOneNumberOfRows(t *testing.T) {
	b := testBudget()
	b.Relation = accountant.ReplaceOne
	a := must(Begin(t.Context(), ledger.New(b)).Reserve("epochs",
		accountant.RandomAllocation{Steps: 4, NoiseMultiplier: 1, Shuffled: true}, 2))(t)
	sum := Gradient{Sum: []float32{0}, Sensitivity: 1, NoiseMultiplier: 1, Workers: 1}
	for step, n := range []int{100, 90, 100, 101, 90, 100} {
		g := must(a.Next())(t)
		rows, _ := g.PoissonSample(n, nil, nil)
		err := g.ReleaseGradient(sum, func(int, []float64) {})
		if same := n == 100; same != (err == nil) || same != (len(rows) == 25) ||
			!same && !errors.Is(err, ErrNotCovered) {
			t.Errorf("step %d of %d rows: %d sampled, %v", step, n, len(rows), err)
		}
	}
}

// TestAllocationToSeveralSteps: every row is in three of seven steps, and all 35 sets are equally
// frequent. Each of the 36 comparisons fails by chance with probability 6e-10.
func TestAllocationToSeveralSteps(t *testing.T) {
	const n, steps, times = 70000, 7, 3
	a := must(Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs",
		accountant.RandomAllocation{Steps: steps, NoiseMultiplier: 1, Times: times}, 1))(t)
	sets := make([]int, n)
	for s := range steps {
		g := must(a.Next())(t)
		rows, _ := g.PoissonSample(n, nil, nil)
		for _, row := range rows {
			sets[row] |= 1 << s
		}
	}
	counts, alike := map[int]int{}, 0
	for row, s := range sets {
		if bits.OnesCount(uint(s)) != times {
			t.Fatalf("row %d is in the steps %07b", row, s)
		}
		if counts[s]++; row > 0 && s == sets[row-1] {
			alike++
		}
	}
	for _, c := range counts {
		sixSigma(t, "a set of steps", c, n, 1./35)
	}
	sixSigma(t, "rows with the steps of the row before", alike, n-1, 1./35)
	if len(counts) != 35 {
		t.Errorf("%d sets of steps, want 35", len(counts))
	}
}

// TestAllocationDependsOnRowOnly: whether other rows exist does not move a row.
func TestAllocationDependsOnRowOnly(t *testing.T) {
	source := must(entropy.New())(t)
	few, many := deal{6, 1, false}.allocate(50, source.Indexed(entropy.Slot, 3)),
		deal{6, 1, false}.allocate(60, source.Indexed(entropy.Slot, 3))
	for s := range 6 {
		rows := slices.DeleteFunc(slices.Clone(many.step(s)), func(row int32) bool { return row >= 50 })
		if got := few.step(s); !slices.Equal(got, rows) {
			t.Errorf("step %d holds rows %d, with more rows %d", s, got, rows)
		}
	}
}

// TestAllocationIsCovered: a grant of an allocation draws one sample, releases as much as the event
// states, and there are as many grants as steps.
func TestAllocationIsCovered(t *testing.T) {
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want %v", what, err, ErrNotCovered)
		}
	}
	part := func() Part {
		return Part{Sum: NewFixedSum(2, GridFor(1)), Std: 1, Out: make([]float64, 2)}
	}
	a, err := Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs", allocated(2), 1)
	if err != nil {
		t.Fatal(err)
	}
	for left := 2; left > 0; left-- {
		g, err := a.Next()
		if err != nil || a.Remaining() != left-1 {
			t.Fatalf("%d steps left, want %d: %v", a.Remaining(), left-1, err)
		}
		refused("before the sample", g.Release(1, part()))
		g.PoissonSample(9, nil, nil)
		if err := g.Release(1, part()); err != nil {
			t.Error(err)
		}
		refused("twice in a step", g.Release(1e-3, part()))
		if rows, _ := g.PoissonSample(9, nil, nil); len(rows) > 0 {
			t.Error("a second sample is drawn")
		}
	}
	if _, err := a.Next(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a step too many: %v", err)
	}
	for _, e := range []accountant.Event{
		accountant.PoissonSampled{Probability: 0.5, Event: allocated(2)},
		accountant.Repeated{Event: allocated(2), Count: 1}} {
		g := grantOf(t, e)
		if rows, _ := g.PoissonSample(900, nil, nil); len(rows) > 0 && e != nil {
			refused("an allocation inside", g.Release(1e-3, part()))
		}
	}
	if a, err = Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs", allocated(2),
		2); err != nil {
		t.Fatal(err)
	}
	_, err = PlanInclusions(9, a)
	refused("inclusions", err)
}
