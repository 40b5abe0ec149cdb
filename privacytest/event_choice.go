package privacytest

import (
	"fmt"
	"math"
)

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

// ranking says how promising an event is that happened k0 times in n draws from
// the data set where it should be likelier and k1 times in n from the other. It only chooses;
// the test that follows is exact whatever was chosen.
type ranking func(k0, k1, n int) float64

// contradicts ranks by how clearly a claim would be refuted: the signed root
// of the binomial deviance, which is about standard normal for an event that sits
// on the claim. Events too rare to refute anything come last.
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

// xlog is k·log(k/mean), 0 at k = 0.
func xlog(k, mean float64) float64 {
	if k <= 0 {
		return 0
	}
	return k * math.Log(k/mean)
}

// shows ranks by the lower bound on ε that as many draws would give: Wilson's
// interval on the share of events that happened on the likelier data set.
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

// choose finds the event that ranks highest.
func choose(a, b [][]float64, rank ranking) (event, float64) {
	best, most := event{score: outputs(), relation: "≥"}, math.Inf(-1)
	for _, s := range scores(a, b) {
		x, y := values(s, a), values(s, b)
		for _, e := range candidates(s, x.sorted, y.sorted) {
			for _, e.swap = range []bool{false, true} {
				p, q := x, y
				if e.swap {
					p, q = y, x
				}
				if v := rank(p.count(e), q.count(e), len(a)); v > most {
					best, most = e, v
				}
			}
		}
	}
	return best, most
}
