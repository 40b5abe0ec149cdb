package accountant

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// mostGroup is the largest group that has a price.
const mostGroup = 1000

// GroupEpsilon is like [Epsilon], for data sets that differ in a group of size records: all of them
// are removed or added, or all of them replaced.
//
// Gaussian releases and their Poisson samples, under AddOrRemoveOne, have the exact price: members
// of the group are sampled independently, and a sum moves by one effect for each (Ganesh 2024,
// Tight Group-Level DP Guarantees for DP-SGD with Sampling via Mixture of Gaussians Mechanisms).
// Other events have a bound: if every record has (ε, δ), the group has (kε, δ·Σ_{j<k} e^{jε}).
//
// Errors: the errors of [Epsilon]; *param.Error for a size that is not between 1 and 1000.
func GroupEpsilon(e Event, size int, delta float64, r Relation) (Bound, error) {
	if !(size >= 1 && size <= mostGroup) {
		return Bound{}, param.New("accountant.GroupEpsilon.size", size, "a number from 1 to 1000")
	}
	one, err := Epsilon(e, delta, r)
	if err != nil || size == 1 {
		return one, err
	}
	lists, err := reduce(e, r)
	if err != nil {
		return Bound{}, err
	}
	group := Bound{Lower: one.Lower} // of one member
	if terms, ok := groupTerms(lists[0], size); ok && len(lists) == 1 {
		p, err := priceAll(context.Background(), [][]term{terms}, delta, r, true)
		return p.Bound, err
	}
	group.Upper, err = groupLemma(lists, size, delta, r)
	return group.sound(math.Inf(1)), err
}

// groupTerms returns the terms of a group, if they are exact.
func groupTerms(terms []term, size int) ([]term, bool) {
	var out []term
	for _, t := range terms {
		switch a := t.atom.(type) {
		case gaussianAtom:
			t.atom = gaussianAtom{a.mu * float64(size)}
		case sampledGaussian:
			t.atom = mixtureAtom{groupMixture(a, size)}
		default:
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func groupMixture(a sampledGaussian, size int) GaussianMixture {
	m := GaussianMixture{NoiseMultiplier: 1 / a.mu * (1 - 4*ulp)}
	rest := 1.0
	for k := range size + 1 {
		p := binomialTerm(k, size, a.q)
		m.Sensitivities, m.Probabilities = append(m.Sensitivities, float64(k)), append(m.Probabilities, p)
		rest -= p
	}
	m.Probabilities[size] = max(0, m.Probabilities[size]+rest) // rounding, at the dearest place
	return m
}

// groupLemma returns the least kε, of those tried, for which (ε, δ) of one record gives delta. The
// members of a group may be in different parts, which have a list each.
func groupLemma(lists [][]term, size int, delta float64, r Relation) (float64, error) {
	k, pure := float64(size), 0.0
	for _, terms := range lists {
		eps, lost := basicComposition(terms)
		if pure = max(pure, eps); !(lost <= 0) {
			pure = math.Inf(1)
		}
	}
	best := k * pure * (1 + 4*ulp)
	if delta == 0 {
		return best, nil
	}
	if mu, ok := public(lists[0]); ok && len(lists) == 1 {
		best = min(best, gaussianBound(k*mu*(1+4*ulp), delta).Upper)
	}
	var failed error
	above := func(eps float64) bool {
		b, err := worstDelta(lists, eps, r)
		if failed == nil {
			failed = err
		}
		// Σ_{j<k} e^{jε} ≤ k·e^{(k−1)ε}, and (e^{kε}−1)/(e^ε−1)
		sum := min(math.Log(k)+(k-1)*eps, k*eps+math.Log(-math.Expm1(-k*eps)/math.Expm1(eps)))
		return !(math.Log(b.Upper)+sum+1e-12*(1+sum) <= math.Log(delta))
	}
	lo, hi := 0.0, 0.01
	for ; above(hi) && failed == nil; lo, hi = hi, 2*hi {
		if k*hi > best || hi > 500 {
			return best, nil
		}
	}
	for range 30 {
		if mid := lo + (hi-lo)/2; above(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return min(best, k*hi*(1+4*ulp)), failed
}
