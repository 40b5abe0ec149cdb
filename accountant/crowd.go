package accountant

import (
	"context"
	"math"
)

// A ledger may hold a thousand different Poisson samples of Gaussian releases, one for each run. It
// would take seconds to compose their loss distributions. So their sampling probabilities and their
// effects are rounded upward to powers of 2^(1/k), and samples that are then equal are composed
// together. k is the largest power of two, from finest to coarsest, that leaves at most mostCostly
// different events.
//
// Rounding upward never lowers a price. Let P and Q be the distributions without and with the
// record. For q' ≤ q, (1−q')P + q'Q is a mixture of P and (1−q)P + qQ; by the joint convexity of
// the hockey-stick divergence, the sample with q dominates the one with q'. A sample with a smaller
// effect results from one with a larger effect by scaling and further noise. A composition of
// dominating pairs dominates the composition (Zhu, Dong and Wang 2022). These samples are under
// AddOrRemoveOne; samples under ReplaceOne are not rounded.
const (
	finest, coarsest = 64, 1. / 64
	mostRounded      = .999    // a probability is rounded upward to less than 1
	mostRounds       = 1 << 17 // places of an event; it would take seconds to round a million
)

// rounded returns the event with samples rounded upward until at most the given number of events
// are different. It returns the event itself and false if no rounding is needed, or if none is
// enough, or if the event has too many places.
func (e Reduced) rounded(most int) (r Reduced, ok bool) {
	if costly, places := e.work(); costly <= most || places > mostRounds {
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

// roundedTerms rounds the samples of a list and adds up the uses of equal ones.
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

// priceRounded returns the smaller of two prices: that of the rounded event, and one by the Rényi
// divergences of an event that is rounded less, since divergences take less time.
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
