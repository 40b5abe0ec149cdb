package privacytest

import (
	"fmt"
	"math"
)

// event is the event that a score is in an interval or, if lo is NaN, that it is NaN.
type event struct {
	score  score
	lo, hi float64
	swap   bool // the event is more likely on the second data set
}

func (e event) String() string {
	relation := fmt.Sprintf("= %.6g", e.lo)
	switch {
	case math.IsNaN(e.lo):
		relation = "is not a number"
	case e.lo < e.hi && e.hi == math.Inf(1):
		relation = fmt.Sprintf("≥ %.6g", e.lo)
	case e.lo < e.hi:
		relation = fmt.Sprintf("≤ %.6g", e.hi)
	}
	return e.score.name + " " + relation
}

func (e event) holds(out []float64) bool {
	s := e.score.of(out)
	return e.lo <= s && s <= e.hi || s != s && e.lo != e.lo
}

// ranking returns how promising an event is. The event happened k0 times in n draws from the data
// set on which it should be more likely. It happened k1 times in n draws from the other data set.
// The ranking only chooses the event; the test that follows is exact for any choice.
type ranking func(k0, k1, n int) float64

// contradicts ranks events by how clearly they would refute a claim. It uses the signed root of the
// binomial deviance. For an event in which the claim is exact, this root is about standard normal.
// Events that are too rare to refute the claim come last.
func contradicts(epsilon, delta, alpha float64) ranking {
	p := 1 / (1 + math.Exp(-epsilon))
	enough := math.Log(alpha) / math.Log(p) / testedPerChosen
	return func(k0, k1, n int) float64 {
		k := float64(k0)
		all := k + float64(k1) + float64(n)*delta*math.Exp(-epsilon)
		if all < enough {
			return math.Inf(-1)
		}
		d := xlog(k, all*p) + xlog(all-k, all*(1-p))
		return math.Copysign(math.Sqrt(2*max(d, 0)), k-all*p)
	}
}

// xlog returns k·log(k/mean), and 0 at k = 0.
func xlog(k, mean float64) float64 {
	if k <= 0 {
		return 0
	}
	return k * math.Log(k/mean)
}

// shows ranks events by the lower bound on ε that the test would give. It uses Wilson's interval
// for the fraction of the event's occurrences on the more likely data set.
func shows(delta, alpha float64) ranking {
	z := math.Sqrt2 * math.Erfcinv(2*alpha)
	return func(k0, k1, n int) float64 {
		k := testedPerChosen * (float64(k0) - float64(n)*delta)
		all := k + testedPerChosen*float64(k1)
		if k <= 0 {
			return math.Inf(-1)
		}
		share := k / all
		low := share + z*z/(2*all) - z*math.Sqrt(share*(1-share)/all+z*z/(4*all*all))
		low /= 1 + z*z/all
		return math.Log(low / (1 - low))
	}
}

// choose returns the event that ranks highest, and its rank.
func choose(a, b [][]float64, rank ranking) (event, float64) {
	best, most := event{score: outputs(), hi: math.Inf(1)}, math.Inf(-1)
	for _, s := range scores(a, b) {
		x, y := values(s, a), values(s, b)
		for _, e := range candidates(s, x.sorted, y.sorted) {
			k0, k1 := x.count(e), y.count(e)
			for _, e.swap = range []bool{false, true} {
				if v := rank(k0, k1, len(a)); v > most {
					best, most = e, v
				}
				k0, k1 = k1, k0
			}
		}
	}
	return best, most
}
