package accountant

import "math"

// RDPEpsilonOf returns the ε that Rényi divergences alone prove: the smallest over the given
// orders, or the one that the search finds if none are given.
func RDPEpsilonOf(e Event, delta float64, r Relation, orders ...float64) (float64, error) {
	alts, err := reduce(e, r)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, terms := range alts {
		one, known := rdpEpsilon(terms, delta)
		if len(orders) > 0 {
			one.epsilon = math.Inf(1)
		}
		for _, order := range orders {
			v, ok := rdpTerms(terms, order)
			known = known && ok
			one.epsilon = min(one.epsilon, EpsilonFromRDP(order, v, delta-slackOf(terms)))
		}
		if !known {
			return 0, unsupported("the Rényi divergence of "+e.kind(), r)
		}
		worst = max(worst, one.epsilon)
	}
	return worst, nil
}
