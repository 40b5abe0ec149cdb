package privacytest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// design is how an event chosen beforehand is put to the test. Each trial is on
// one of the two data sets, by a coin of its own, or on neither: such a
// phantom counts as if the event had happened on the less likely one.
//
// Of the trials in which the event happened, the share on the likelier data
// set is then binomial, with odds odds·P₀/(P₁ + δ·e^−ε), where P₀ and P₁ are
// the event's probabilities. A claim P₀ ≤ e^ε·P₁ + δ says no more and no less than that
// these odds are at most odds·e^ε: the phantoms take δ into account without
// anything being estimated, which is what makes the test exact.
type design struct {
	trials int
	odds   float64 // of the likelier data set against the other: e^(−ε/2) has the most power
	delta  float64
}

// tally is what a design saw. Index 0 is the likelier data set.
type tally struct {
	design
	runs, happened [2]int
	// marks of phantoms, uniform on (0, 1) and ascending. Those below e^−ε are the phantoms of
	// ε, so that one tally can be tested at every ε.
	marks []float64
	coin  float64 // breaks ties
}

func (d design) run(rng *rand.Rand, likely, other func() bool) tally {
	t := tally{design: d}
	share := d.odds / (1 + d.odds)
	phantom := (1 - share) * d.delta
	for range d.trials {
		at := rng.Float64() * (1 + phantom)
		switch {
		case at < share:
			t.runs[0]++
			t.happened[0] += number(likely())
		case at < 1:
			t.runs[1]++
			t.happened[1] += number(other())
		default:
			t.marks = append(t.marks, rng.Float64())
		}
	}
	slices.Sort(t.marks)
	t.coin = rng.Float64()
	return t
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pValue returns the probability, were the claim just true at this ε, of as many events on the
// likelier data set: ties count by the share coin. With a uniform coin it is uniform itself; with
// 1 it is the classical, conservative one. Without an event there is no evidence.
func (t tally) pValue(epsilon, coin float64) float64 {
	phantoms, _ := slices.BinarySearch(t.marks, math.Exp(-epsilon))
	return t.tail(epsilon, coin, phantoms)
}

func (t tally) tail(epsilon, coin float64, phantoms int) float64 {
	k, n := t.happened[0], t.happened[0]+t.happened[1]+phantoms
	if n == 0 {
		return 1
	}
	p := 1 / (1 + math.Exp(-epsilon)/t.odds)
	more, equal := binomialAtLeast(k+1, n, p), binomialAtLeast(k, n, p)
	return more + coin*(equal-more)
}

// lowerBound returns the least ε that the test does not refute: the true one is smaller only if
// the test at the true one went wrong.
func (t tally) lowerBound(alpha float64) float64 {
	lo := 0.0
	for phantoms := len(t.marks); ; phantoms-- {
		// Down to ε = −log of the highest remaining mark their number is constant and the p-value rises.
		hi := mostEpsilon
		if phantoms > 0 {
			hi = -math.Log(t.marks[phantoms-1])
		}
		if t.tail(hi, 1, phantoms) > alpha {
			return max(bisect(lo, hi, func(e float64) bool { return t.tail(e, 1, phantoms) > alpha }), 0)
		}
		if phantoms == 0 {
			return mostEpsilon
		}
		lo = hi
	}
}

// mostEpsilon is more than any number of draws can show.
const mostEpsilon = 40.0

// bisect returns where a predicate turns true in [lo, hi], from below.
func bisect(lo, hi float64, is func(float64) bool) float64 {
	if is(lo) {
		return lo
	}
	for range 60 {
		if mid := (lo + hi) / 2; is(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}
