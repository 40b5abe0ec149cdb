package privacytest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// design describes how an event chosen beforehand is tested. For each trial a coin chooses one of
// the two data sets, or none. A trial on no data set is called a phantom. It counts as if the event
// had happened on the less likely data set.
//
// Among the trials in which the event happened, the number on the more likely data set is then
// binomial. Its odds are odds·P₀/(P₁ + δ·e^−ε), where P₀ and P₁ are the event's probabilities. The
// claim P₀ ≤ e^ε·P₁ + δ is equivalent to the claim that these odds are at most odds·e^ε. The test
// is exact because the phantoms account for δ without an estimate.
type design struct {
	trials int
	odds   float64 // of the more likely data set to the other; e^(−ε/2) gives the most power
	delta  float64
}

// tally holds the outcome of the trials. Index 0 is the more likely data set.
type tally struct {
	design
	runs, happened [2]int
	// marks holds one uniform number on (0, 1) for each phantom, ascending. The phantoms at ε are
	// the phantoms with a mark below e^−ε. So one tally can be tested at every ε.
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

// pValue assumes that the claim is exact at this ε. It returns the probability of at least the
// observed number of events on the more likely data set. The probability of exactly that number is
// multiplied by coin. With a uniform coin the p-value is uniform too; with coin = 1 it is the
// classical, conservative p-value. The p-value is 1 if the event never happened.
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

// lowerBound returns the least ε that the test does not refute. The true ε is smaller only if the
// test at the true ε gave a false alarm.
func (t tally) lowerBound(alpha float64) float64 {
	lo := 0.0
	for phantoms := len(t.marks); ; phantoms-- {
		// For ε from lo to −log(highest remaining mark), the number of phantoms is constant and the
		// p-value rises.
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

// mostEpsilon is larger than any ε that a practical number of draws can show.
const mostEpsilon = 40.0

// bisect returns a lower bound of the point in [lo, hi] at which a predicate becomes true.
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
