package mechanism

import (
	"errors"
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
func stepsOf(t *testing.T, g *Grant, n, steps int) []int {
	t.Helper()
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	for s := range steps {
		rows, keys := g.AllocatedSample(n, nil, nil)
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
	a, err := Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs", allocated(steps), 2)
	if err != nil {
		t.Fatal(err)
	}
	var epochs [2][]int
	for i := range epochs {
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		epochs[i] = stepsOf(t, g, n, steps)
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

// TestAllocationDependsOnRowOnly: whether other rows exist does not move a row.
func TestAllocationDependsOnRowOnly(t *testing.T) {
	source, err := entropy.New()
	if err != nil {
		t.Fatal(err)
	}
	few, many := allocate(50, 6, source.Indexed(entropy.Slot, 3)),
		allocate(60, 6, source.Indexed(entropy.Slot, 3))
	from := 0
	for s, end := range many.end {
		rows := slices.DeleteFunc(slices.Clone(many.rows[from:end]),
			func(row int32) bool { return row >= 50 })
		first := 0
		if s > 0 {
			first = few.end[s-1]
		}
		if got := few.rows[first:few.end[s]]; !slices.Equal(got, rows) {
			t.Errorf("step %d holds rows %d, with more rows %d", s, got, rows)
		}
		from = end
	}
}

// TestAllocationIsCovered: a grant of an allocation draws no Poisson sample and no step too many,
// releases as much in each step as the event states, and no other event draws a step.
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
	g := grantOf(t, allocated(2))
	refused("before the sample", g.Release(1, part()))
	for range 2 {
		g.AllocatedSample(9, nil, nil)
		if err := g.Release(1, part()); err != nil {
			t.Error(err)
		}
		refused("twice in a step", g.Release(1e-3, part()))
	}
	if rows, _ := g.AllocatedSample(9, nil, nil); len(rows) > 0 {
		t.Error("a step too many is drawn")
	}
	refused("after a step too many", g.Release(1e-3, part()))

	for _, e := range []accountant.Event{sampled(0.5), gaussian(1),
		accountant.PoissonSampled{Probability: 0.5, Event: allocated(2)}} {
		g := grantOf(t, e)
		if rows, _ := g.AllocatedSample(900, nil, nil); len(rows) > 0 {
			t.Errorf("%+v draws a step", e)
		}
		refused("a step of another event", g.Release(1e-3, part()))
	}
	g = grantOf(t, allocated(2))
	if rows, _ := g.PoissonSample(900, nil, nil); len(rows) > 0 {
		t.Error("a Poisson sample is drawn")
	}
	refused("a Poisson sample", g.Release(1e-3, part()))
	a, err := Begin(t.Context(), ledger.New(testBudget())).Reserve("epochs", allocated(2), 2)
	if err != nil {
		t.Fatal(err)
	}
	_, err = PlanInclusions(9, a)
	refused("inclusions", err)
}
