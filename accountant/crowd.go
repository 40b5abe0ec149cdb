package accountant

import (
	"context"
	"math"
)

// A ledger may hold a thousand different Poisson samples of Gaussian releases, one for each run,
// whose loss distributions would take long to compose. Their sampling probabilities and effects are
// then rounded upward to powers of 2^(1/k), and equal ones are composed together. k is the largest
// power of two, from finest to coarsest, that leaves at most mostCostly different events.
//
// A sample with a larger probability dominates one with a smaller one: for q' ≤ q the distribution
// (1−q')P + q'Q is a mixture of P and (1−q)P + qQ, and the hockey-stick divergence is jointly
// convex. A larger effect dominates a smaller one, which results from it by scaling and further
// noise. Compositions keep both orders (Zhu, Dong and Wang 2022, Theorem 10).
const (
	finest, coarsest = 64, 1. / 64
	mostRounded      = .999 // a probability is rounded upward to less than 1
)

// rounded returns the event with samples rounded upward, with at most the given number of different
// events; ok is false for an event that needs no rounding, or has more of them after it.
func (e Reduced) rounded(most int) (r Reduced, ok bool) {
	if costly, _ := e.work(); costly <= most {
		return e, false
	}
	for k := float64(finest); k >= coarsest; k /= 2 {
		r = Reduced{relation: e.relation}
		for _, terms := range e.lists {
			r.lists = append(r.lists, roundedTerms(terms, k))
		}
		if costly, _ := r.work(); costly <= most {
			return r, true
		}
	}
	return e, false
}

// roundedTerms rounds the samples of a list, and adds up the uses of equal ones.
func roundedTerms(terms []term, k float64) (out []term) {
	at := map[sampledGaussian]int{}
	for _, t := range terms {
		a, sample := t.atom.(sampledGaussian)
		if !sample {
			out = append(out, t)
			continue
		}
		a.q, a.mu = max(a.q, min(toPower(a.q, k), mostRounded)), toPower(a.mu, k)
		i, known := at[a]
		if !known || out[i].n > maxCount-t.n {
			i = len(out)
			at[a], out = i, append(out, term{a, 0})
		}
		out[i].n += t.n
	}
	return out
}

// toPower returns the smallest power of 2^(1/k) that is not below x.
func toPower(x, k float64) float64 {
	i := math.Floor(math.Log2(x) * k)
	for math.Exp2(i/k) < x { // Log2 and Exp2 round, too
		i++
	}
	return math.Exp2(i / k)
}

// priceRounded returns the smaller of the price of rounded samples and the price by the Rényi
// divergences of samples that are rounded less.
func (e Reduced) priceRounded(ctx context.Context, rounded Reduced, delta float64) (Price, error) {
	p, err := priceAll(ctx, rounded.lists, delta, e.relation, false)
	worst := 0.0
	e, _ = e.rounded(2 * mostCostly)
	for _, terms := range e.lists {
		r, _ := rdpEpsilon(terms, delta) // infinite if a divergence is not known
		worst = max(worst, r.epsilon)
	}
	p.improve(Bound{Upper: worst}, engineRDP)
	p.Bound = Bound{0, p.Upper, p.Upper}.sound(math.Inf(1))
	return p, err
}
