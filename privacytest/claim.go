package privacytest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// Claim states that Run is (Epsilon, Delta)-differentially private on a pair of neighbours. Check
// tests the claim by calling Run many times.
//
//	privacytest.Claim[[]float64]{Run: noisyCount, D0: rows, D1: rows[1:],
//		Epsilon: 0.5, FalseAlarm: 1e-6}.Check(t)
//
// The first third of the draws chooses the event that contradicts the claim most. It also chooses
// the data set on which this event should be more likely. The remaining draws test the event. Each
// of them is from a data set chosen by a coin. Given the total number of events, the number of
// events on the more likely data set is binomial. The claim bounds its success probability. A sound
// Run is refuted with probability at most FalseAlarm, for any kind of output. The probability is
// exactly FalseAlarm if the claim holds with equality for the chosen event.
//
// To audit a whole training, let D0 and D1 say whether a canary, a worst-case record, is among tiny
// data, and let Run train and return a score that tells. A good score is the distance that the
// parameters moved along the canary's gradient, or the similarity of synthetic records to it. An
// audit with a weak score shows little. Source: Jagielski, Ullman and Oprea, "Auditing
// Differentially Private Machine Learning", 2020; Nasr, Song, Thakurta, Papernot and Carlini,
// "Adversary Instantiation", 2021.
//
// A claim that passes is not proven. The test misses a leak that shows in none of the tried events,
// or only on other data. [Replay] finds faults that statistics cannot find.
//
// The tried events are half-lines and frequent values of each output and of the number of outputs.
// For the first 24 outputs they are also those of sizes, of differences, of the lowest bits and of
// the signs of zeros, and for the first 100 those of combinations that have little noise. The
// number of draws limits their power. With the default Samples and a FalseAlarm of 1e-8, nine of
// ten tests find these faults in noise added to a count:
//
//   - Laplace noise that is too small by 18 % at ε = 0.5, by 12 % at ε = 1, by 10 % at ε = 2 and by
//     12 % at ε = 4.4. An error of 3 % at ε = 4.4 needs 500,000 Samples.
//   - Gaussian noise that is too small by 64 % at ε = 0.5 and by 54 % at ε = 4.4, for δ = 1e-5. The
//     events that would show less are too rare. A claim with ε = 0 and the δ that the Gaussian has
//     there (see [accountant.Delta]) shows 44 % and 14 %.
//   - Gaussian noise clamped at three standard deviations for ε up to 2 and δ = 1e-5. At ε = 4.4
//     this needs 600,000 Samples.
//
// Source: the conditional test of two Poisson means (Przyborowski and Wilenski 1940), with ties
// broken by a coin as in Lehmann and Romano, "Testing Statistical Hypotheses", section 4.5.
type Claim[D any] struct {
	// Run returns everything that an observer sees, as numbers; the number of outputs may vary. It
	// must use fresh randomness at each call (no Seeded context).
	Run            func(data D) []float64
	D0, D1         D
	Epsilon, Delta float64
	FalseAlarm     float64 // in (0, 1)
	Samples        int     // draws from each data set, on average; 40000 if zero
}

// Evidence states how well the draws distinguish a pair of data sets.
type Evidence struct {
	// Epsilon is a lower bound on the true ε, which is wrong with probability at most FalseAlarm.
	Epsilon float64
	// P bounds the probability of draws that contradict the claim this strongly, if the claim is true.
	P     float64
	Event string  // the event that was tested
	Rate0 float64 // rate of the event on the data set on which it is more likely
	Rate1 float64 // rate of the event on the other data set
}

// String describes how the two data sets were distinguished.
func (e Evidence) String() string {
	s := fmt.Sprintf("ε ≥ %s: %s happened at rate %.4g against %.4g",
		accountant.FormatLower(e.Epsilon, 4), e.Event, e.Rate0, e.Rate1)
	if strings.HasPrefix(e.Event, lowestBits) {
		s += ". " + lowestBitsMean
	}
	return s
}

// lowestBits is the prefix of the names of scores that look at digits below the noise.
const lowestBits = "the lowest bit of"

// Source: Mironov, "On Significance of the Least Significant Bits for Differential Privacy", 2012.
const lowestBitsMean = "A floating-point sum of a value and its noise is rounded to digits that " +
	"depend on the value, " +
	"so its last digits reveal the value for any noise (Mironov 2012): release multiples of " +
	"one public power of " +
	"two instead, as mechanism.Grant's Release, ReleaseGradient and Laplace do"

// Check fails the test if the claim is refuted.
func (c Claim[D]) Check(tb testing.TB) {
	tb.Helper()
	if e := c.contradiction(tb); e.P <= c.FalseAlarm {
		tb.Errorf(refuted, c.Epsilon, c.Delta, e.P, e)
	}
}

const refuted = "claimed (ε=%g, δ=%g), but if the claim is true, this result has probability %.2g: %v"

// Refuted reports whether the draws contradict the claim. Use it to prove that a test can detect a
// false claim: a deliberately broken mechanism must be refuted.
func (c Claim[D]) Refuted(tb testing.TB) bool {
	tb.Helper()
	return c.contradiction(tb).P <= c.FalseAlarm
}

// LowerBound returns a lower bound on ε at Delta that is wrong with probability at most FalseAlarm.
// It looks for the event that shows the largest ε. Check instead looks for the event that
// contradicts the claimed ε most clearly.
func (c Claim[D]) LowerBound(tb testing.TB) Evidence {
	tb.Helper()
	c.validate(tb)
	return c.evidence(tb, shows(c.Delta, c.FalseAlarm), func(hoped float64) float64 {
		return min(max(hoped, 0), mostEpsilon)
	})
}

// contradiction returns the evidence against the claim.
func (c Claim[D]) contradiction(tb testing.TB) Evidence {
	tb.Helper()
	c.validate(tb)
	return c.evidence(tb, contradicts(c.Epsilon, c.Delta, c.FalseAlarm), func(float64) float64 {
		return c.Epsilon
	})
}

func (c Claim[D]) validate(tb testing.TB) {
	tb.Helper()
	switch {
	case c.Run == nil:
		tb.Fatalf("privacytest.Claim.Run: nil: want a function")
	case !(c.Epsilon >= 0):
		tb.Fatalf("privacytest.Claim.Epsilon: %v: must be zero or positive", c.Epsilon)
	case !(c.Delta >= 0 && c.Delta < 1):
		tb.Fatalf("privacytest.Claim.Delta: %v: must be in [0, 1)", c.Delta)
	case !(c.FalseAlarm > 0 && c.FalseAlarm < 1):
		tb.Fatalf("privacytest.Claim.FalseAlarm: %v: must be in (0, 1)", c.FalseAlarm)
	}
}

// testedPerChosen is the number of testing draws for each draw that chooses the event. Few draws
// are enough for a rough choice, and the test benefits from every draw.
const testedPerChosen = 2

// evidence tests the event that ranks highest. aim returns an ε for the event's rank. The draws are
// divided between the data sets in the proportion that best distinguishes the event's ε from aim's
// ε.
func (c Claim[D]) evidence(tb testing.TB, rank ranking, aim func(rank float64) float64) Evidence {
	tb.Helper()
	n := cmp.Or(c.Samples, 40000)
	first := max(n/(1+testedPerChosen), 1)
	a, b := c.draw(c.D0, first), c.draw(c.D1, first)
	if !slices.ContainsFunc(slices.Concat(a, b), func(out []float64) bool { return len(out) > 0 }) {
		tb.Fatalf("privacytest.Claim.Run returned no output in %d draws: want what an observer sees", 2*first)
	}
	best, value := choose(a, b, rank)
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
