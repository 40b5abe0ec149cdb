package privacytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Claim states that Run is (Epsilon, Delta)-differentially private on a pair of
// neighbours, and is tested by running it.
//
//	privacytest.Claim[[]float64]{Run: noisyCount, D0: rows, D1: rows[1:],
//		Epsilon: 0.5, FalseAlarm: 1e-6}.Check(t)
//
// The first third of the draws chooses the event that contradicts the claim most, and
// the data set on which it should be likelier. The other draws test it: each draw is
// from a data set chosen by a coin, so that, given how often the event happened in all,
// how often it happened on the likelier data set is binomial with a probability that
// the claim bounds. A sound Run is refuted with probability at most FalseAlarm, for any
// outputs; one for which the claim is exact in the chosen event, with probability
// exactly FalseAlarm.
//
// A claim that passes is not proven: a leak that shows in none of the events tried, or
// only on other data, is not found. [Replay] finds what statistics cannot.
//
// Source: the conditional test of two Poisson means (Przyborowski and Wilenski 1940),
// its ties broken by a coin as in Lehmann and Romano, "Testing Statistical
// Hypotheses", section 4.5.
type Claim[D any] struct {
	// Run returns what an observer sees, as numbers; their count may vary. It
	// must use fresh randomness at each call (no Seeded context).
	Run            func(data D) []float64
	D0, D1         D
	Epsilon, Delta float64
	FalseAlarm     float64 // in (0, 1)
	Samples        int     // draws from each data set, on average; 40000 if zero
}

// Evidence is what the draws show about a pair of data sets.
type Evidence struct {
	Epsilon float64 // the true ε is larger, but for the false alarm's probability
	// the claim, if true, is seen contradicted so strongly with at most this probability
	P     float64
	Event string  // the event that shows it
	Rate0 float64 // how often it happened on the data set on which it is likelier
	Rate1 float64 // and on the other
}

// String describes how the two data sets were distinguished.
func (e Evidence) String() string {
	s := fmt.Sprintf("ε ≥ %.4g: %s happened at rate %.4g against %.4g", e.Epsilon, e.Event,
		e.Rate0, e.Rate1)
	if strings.HasPrefix(e.Event, lowestBits) {
		s += ". " + lowestBitsMean
	}
	return s
}

// lowestBits begins the names of scores that look at the digits which noise does not reach.
const lowestBits = "the lowest bit of"

// Source: Mironov, "On Significance of the Least Significant Bits for Differential Privacy", 2012.
const lowestBitsMean = "A floating-point sum of a value and its noise is rounded to digits that " +
	"depend on the value, " +
	"so its last digits tell the value whatever the noise is (Mironov 2012): release multiples of " +
	"one public power of " +
	"two instead, as mechanism.Grant's Release, ReleaseGradient and Laplace do"

// Check fails the test if the claim is refuted.
func (c Claim[D]) Check(tb testing.TB) {
	tb.Helper()
	if e := c.contradiction(tb); e.P <= c.FalseAlarm {
		tb.Errorf("claimed (ε=%g, δ=%g), under which this has probability %.2g: %v", c.Epsilon,
			c.Delta, e.P, e)
	}
}

// Refuted reports whether the draws contradict the claim. It is for proving that
// a test has power: a deliberately broken mechanism must be refuted.
func (c Claim[D]) Refuted(tb testing.TB) bool {
	tb.Helper()
	return c.contradiction(tb).P <= c.FalseAlarm
}

// LowerBound returns a lower bound on ε at Delta that is wrong with probability
// at most FalseAlarm. It looks for the event that shows the largest ε, where
// Check looks for the one that contradicts the claimed ε most clearly.
func (c Claim[D]) LowerBound(tb testing.TB) Evidence {
	tb.Helper()
	c.validate(tb)
	return c.evidence(shows(c.Delta, c.FalseAlarm), func(hoped float64) float64 {
		return min(max(hoped, 0), mostEpsilon)
	})
}

// contradiction returns the evidence against the claim.
func (c Claim[D]) contradiction(tb testing.TB) Evidence {
	tb.Helper()
	c.validate(tb)
	return c.evidence(contradicts(c.Epsilon, c.Delta, c.FalseAlarm), func(float64) float64 {
		return c.Epsilon
	})
}

func (c Claim[D]) validate(tb testing.TB) {
	tb.Helper()
	if c.Run == nil || !(c.Epsilon >= 0) || !(c.Delta >= 0 && c.Delta < 1) ||
		!(c.FalseAlarm > 0 && c.FalseAlarm < 1) {
		tb.Fatalf("privacytest: a claim wants Run, Epsilon ≥ 0, 0 ≤ Delta < 1 and 0 < FalseAlarm < 1")
	}
}

// testedPerChosen is how many draws test the event for each one that chooses it:
// a rough choice does, while the test needs every draw.
const testedPerChosen = 2

// evidence tests the event that ranks highest. Draws are shared out between the
// data sets as is best for telling its ε from the one that aim returns, given the rank.
func (c Claim[D]) evidence(rank ranking, aim func(rank float64) float64) Evidence {
	n := c.Samples
	if n == 0 {
		n = 40000
	}
	first := max(n/(1+testedPerChosen), 1)
	best, value := choose(c.draw(c.D0, first), c.draw(c.D1, first), rank)
	likely, other := c.D0, c.D1
	if best.swap {
		likely, other = other, likely
	}
	d := design{trials: 2 * max(n-first, 1), odds: math.Exp(-aim(value) / 2), delta: c.Delta}
	t := d.run(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		func() bool { return best.holds(c.Run(likely)) }, func() bool { return best.holds(c.Run(other)) })
	return Evidence{
		Epsilon: t.lowerBound(c.FalseAlarm),
		P:       t.pValue(c.Epsilon, t.coin),
		Event:   best.String(),
		Rate0:   float64(t.happened[0]) / float64(max(t.runs[0], 1)),
		Rate1:   float64(t.happened[1]) / float64(max(t.runs[1], 1)),
	}
}

func (c Claim[D]) draw(d D, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = c.Run(d)
	}
	return out
}
