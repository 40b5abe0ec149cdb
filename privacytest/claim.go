package privacytest

import (
	"fmt"
	"math"
	"testing"
)

// Claim states that Run is (Epsilon, Delta)-differentially private on a pair of
// neighbours, and is tested by running it.
//
//	privacytest.Claim[[]float64]{Run: noisyCount, D0: rows, D1: rows[1:], Epsilon: 0.5, FalseAlarm: 1e-6}.Check(t)
//
// The first half of the draws chooses the event that tells the two data sets
// apart best; the second half, which the choice has not seen, bounds the event's two
// probabilities by Clopper and Pearson's exact intervals. If even these bounds
// contradict the claim it is refuted. A sound Run is refuted with probability
// at most FalseAlarm, whatever its outputs are.
//
// A claim that stands is not proven: a leak that shows in no event tried here, or
// only on other data, is not seen. See [Replay] for what statistics cannot reach.
type Claim[D any] struct {
	// Run returns what an onlooker sees, as numbers; their number may vary. It
	// must use fresh randomness at each call (no Seeded context).
	Run            func(data D) []float64
	D0, D1         D
	Epsilon, Delta float64
	FalseAlarm     float64 // in (0, 1)
	Samples        int     // draws from each data set; 40000 if zero
}

// Evidence is what the draws say about a pair of data sets.
type Evidence struct {
	Epsilon float64 // the true ε is larger, but for the false alarm's probability
	Event   string  // the event that shows it
	Rate0   float64 // how often it happened on the data set where it is likelier
	Rate1   float64 // and on the other
}

// String says how the two data sets were told apart.
func (e Evidence) String() string {
	return fmt.Sprintf("ε ≥ %.4g: %s happened at rate %.4g against %.4g", e.Epsilon, e.Event, e.Rate0, e.Rate1)
}

// Check fails the test if the claim is refuted.
func (c Claim[D]) Check(tb testing.TB) {
	tb.Helper()
	if e := c.LowerBound(tb); e.Epsilon > c.Epsilon {
		tb.Errorf("claimed (ε=%g, δ=%g), but %v", c.Epsilon, c.Delta, e)
	}
}

// Refuted reports whether the draws contradict the claim. It is for proving that
// a test has power: a deliberately broken mechanism must be refuted.
func (c Claim[D]) Refuted(tb testing.TB) bool {
	tb.Helper()
	return c.LowerBound(tb).Epsilon > c.Epsilon
}

// LowerBound returns a lower bound on ε at Delta that is wrong with probability
// at most FalseAlarm.
func (c Claim[D]) LowerBound(tb testing.TB) Evidence {
	tb.Helper()
	if c.Run == nil || !(c.Epsilon >= 0) || !(c.Delta >= 0 && c.Delta < 1) || !(c.FalseAlarm > 0 && c.FalseAlarm < 1) {
		tb.Fatalf("privacytest: a claim wants Run, Epsilon ≥ 0, 0 ≤ Delta < 1 and 0 < FalseAlarm < 1")
	}
	n := c.Samples
	if n == 0 {
		n = 40000
	}
	half := max(n/2, 1)
	a, b := c.draw(c.D0, 2*half), c.draw(c.D1, 2*half)
	best := choose(a[:half], b[:half], c.Delta)
	if best.swap {
		a, b = b, a
	}
	k0, k1 := best.count(a[half:]), best.count(b[half:])
	return Evidence{
		Epsilon: epsilonBound(k0, half, k1, half, c.Delta, c.FalseAlarm),
		Event:   best.String(),
		Rate0:   float64(k0) / float64(half),
		Rate1:   float64(k1) / float64(half),
	}
}

func (c Claim[D]) draw(d D, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = c.Run(d)
	}
	return out
}

// event is "score at least (or at most, or exactly) a threshold".
type event struct {
	score     score
	relation  string
	threshold float64
	swap      bool // likelier on the second data set
}

func (e event) String() string {
	return fmt.Sprintf("%s %s %.6g", e.score.name, e.relation, e.threshold)
}

func (e event) holds(out []float64) bool {
	s := e.score.of(out)
	switch e.relation {
	case "≥":
		return s >= e.threshold
	case "≤":
		return s <= e.threshold
	case "is not a number, as":
		return math.IsNaN(s)
	}
	return s == e.threshold
}

func (e event) count(outs [][]float64) int {
	n := 0
	for _, o := range outs {
		if e.holds(o) {
			n++
		}
	}
	return n
}
