package mechanism

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

func trialsOf(t *testing.T, e accountant.Event) *Grant {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-6})
	return must(Begin(context.Background(), l).Spend("search", e))(t)
}

// TestTrialsAreDrawnOnce: the grant of a selection covers one draw, from the event's own
// distribution.
func TestTrialsAreDrawnOnce(t *testing.T) {
	e := accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: 12, Shape: 0}
	g := trialsOf(t, e)
	list, err := g.Trials(3, 40)
	if err != nil || len(list) < 1 || len(list) > 40 {
		t.Fatalf("got %v, %v, want 1 to 40 choices", list, err)
	}
	for _, c := range list {
		if c < 0 || c > 2 {
			t.Errorf("got choice %d, want 0 to 2", c)
		}
	}
	if _, err := g.Trials(3, 40); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a second draw: got %v, want ErrNotCovered", err)
	}
	other := trialsOf(t, accountant.Pure{Epsilon: 1})
	if _, err := other.Trials(3, 0); !errors.Is(err, ErrNotCovered) {
		t.Errorf("another event: got %v, want ErrNotCovered", err)
	}
	for what, e := range map[string]accountant.RepeatAndSelect{
		"shape 2":              {Event: e.Event, Mean: 5, Shape: 2},
		"a shape off the grid": {Event: e.Event, Mean: 5, Shape: -0.1},
		"a tiny γ":             {Event: e.Event, Mean: 50, Shape: -0.96875},
		"half a Poisson run":   {Event: e.Event, Mean: 5.5, Poisson: true},
	} {
		if _, err := trialsOf(t, e).Trials(3, 0); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", what, err)
		}
	}
	limited := accountant.RepeatAndSelect{Event: e.Event, Mean: 5, Poisson: true}
	if _, err := trialsOf(t, limited).Trials(3, 9); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a limited Poisson number: got %v, want ErrNotCovered", err)
	}
}

// TestTrialsHaveTheirMean: the mean of the draws is the priced mean. Numbers of runs have a
// standard deviation of at most 3.2 means. The limit is six standard deviations of the mean of
// 4,000 draws, so correct draws fail with probability 1e-9. An error of 31 % in the mean is beyond
// the limit.
func TestTrialsHaveTheirMean(t *testing.T) {
	const n = 4000
	for _, e := range []accountant.RepeatAndSelect{
		{Mean: 1}, {Mean: 20}, {Mean: 20, Shape: 1}, {Mean: 6, Shape: -0.5}, {Mean: 20, Poisson: true}} {
		e.Event = accountant.Pure{Epsilon: 1}
		sum := 0.0
		l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-6})
		a := must(Begin(context.Background(), l).Reserve("search", e, n))(t)
		for range n {
			g := must(a.Next())(t)
			list := must(g.Trials(2, 0))(t)
			sum += float64(len(list))
		}
		if got := sum / n; math.Abs(got-e.Mean) > 6*3.2*e.Mean/math.Sqrt(n) {
			t.Errorf("%+v: got %g runs on average, want about Mean", e, got)
		}
	}
}

// words gives one word many times, and then the largest word.
type words struct {
	word uint64
	left int
}

func (w *words) Uint64() uint64 {
	if w.left--; w.left < 0 {
		return math.MaxUint64
	}
	return w.word
}

// TestTrialsEndSoonerThanPriced: γ is rounded up, so that a number of runs is never more likely to
// be large than the price assumes. A word just below 1−γ must end the runs.
func TestTrialsEndSoonerThanPriced(t *testing.T) {
	e := accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: 12, Shape: 1}
	number := must(reserved(t, accountant.Pure{Epsilon: 1}, 1).trialNumber(e, 1000))(t)
	below := uint64((1 - e.Gamma()*(1+0x1p-31)) * 0x1p64)
	if n := number(&words{below, 100}); n != 1 {
		t.Errorf("a word just below 1−γ gives %d runs, want 1", n)
	}
	sure := uint64((1 - e.Gamma()*(1+0x1p-29)) * 0x1p64)
	if n := number(&words{sure, 100}); n == 1 {
		t.Error("a word far below 1−γ gives 1 run, want more")
	}
}

// TestTrialsHaveALimit: a limit above 2^20 runs is no limit, so a number of runs takes no more
// memory than without one. The first number that these words give is above 2^20.
func TestTrialsHaveALimit(t *testing.T) {
	e := accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: 1 << 21, Shape: 1}
	a := trialsOf(t, e).a
	number := func(limit int) int {
		return must(a.trialNumber(e, limit))(t)(rand.NewPCG(1, 4))
	}
	if n := number(math.MaxInt); n > maxTrials || n != number(0) {
		t.Errorf("%d runs, and %d without a limit", n, number(0))
	}
}
