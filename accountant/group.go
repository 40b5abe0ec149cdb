package accountant

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// mostGroup is the largest group that has a price. A bound for events in at most mostSearched
// places is searched to the last digit, which prices them some 40 times; for 32 events this took a
// minute.
const mostGroup, mostSearched = 1000, 14

// GroupEpsilon is like [Epsilon], for data sets that differ in a group of size records: all of them
// are removed or added, or all of them replaced.
//
// Gaussian releases and their Poisson samples, under AddOrRemoveOne, have the exact price: members
// of the group are sampled independently, and a sum moves by one effect for each (Ganesh 2024,
// Tight Group-Level DP Guarantees for DP-SGD with Sampling via Mixture of Gaussians Mechanisms).
// This is not so for [BandedSum], whose steps with different members overlap between rounds. Other
// events have a bound: if every record has (ε, δ), the group has (kε, δ·Σ_{j<k} e^{jε}). For events
// in more than 14 places it may exceed the smallest such bound by a 32nd, or by .0004 for each
// record of the group.
//
// The price of [TruncatedPoisson] holds without one record, not without a group of several.
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
	if r == AddOrRemoveOne && slices.Contains(Samplers(e), samplerTruncated) {
		return Bound{}, unsupported("a group of records in a sample that is cut to a maximum", r)
	}
	lists, err := reduce(e, r)
	if err != nil {
		return Bound{}, err
	}
	group := Bound{Lower: one.Lower} // of one member
	banded := slices.Contains(Samplers(e), samplerCyclic)
	if terms, sharp, ok := groupTerms(lists[0], size); ok && len(lists) == 1 && !banded {
		p, err := priceAll(context.Background(), [][]term{terms}, delta, r, sharp)
		if p.Lower *= 1 - 5e-10; !sharp { // the chances are rounded up
			p.Lower = min(one.Lower, p.Upper)
		}
		return p.sound(math.Inf(1)), err
	}
	group.Upper, err = groupLemma(lists, size, delta, r, one.Lower)
	return group.sound(math.Inf(1)), err
}

// groupTerms returns the terms of a group, if they are exact. Their lower end is known if they are
// sharp: if what is rounded up hardly matters.
func groupTerms(terms []term, size int) (out []term, sharp, ok bool) {
	sharp = true
	for _, t := range terms {
		switch a := t.atom.(type) {
		case gaussianAtom:
			t.atom = gaussianAtom{a.mu * float64(size)}
		case sampledGaussian:
			t.atom = mixtureAtom{groupMixture(a, size)}
			sharp = sharp && a.mu > leastAllocated && binomialTerm(0, size, a.q) > 0.01
		default:
			return nil, false, false
		}
		out = append(out, t)
	}
	return out, sharp, true
}

// groupMixture returns the release of a sample with each number of members. The chance of every
// number but 0 is rounded up: the sum of chances that are far smaller than its error stays exact.
func groupMixture(a sampledGaussian, size int) GaussianMixture {
	m := GaussianMixture{NoiseMultiplier: 1 / a.mu * (1 - 4*ulp)}
	for k := 1; k <= size; k++ {
		m.Sensitivities = append(m.Sensitivities, float64(k))
		m.Probabilities = append(m.Probabilities, binomialTerm(k, size, a.q)*(1+1e-12))
	}
	return m
}

// groupLemma returns the least kε, of those tried, for which (ε, δ) of one record gives delta. The
// members of a group may be in different parts, which have a list each. One record has at least lo.
func groupLemma(lists [][]term, size int, delta float64, r Relation, lo float64) (float64, error) {
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
	hi, steps := max(0.01, 2*lo), 5
	if _, places := (Reduced{lists: lists}).work(); places <= mostSearched {
		lo, hi, steps = 0, 0.01, 30
	}
	for ; above(hi) && failed == nil; lo, hi = hi, 2*hi {
		if k*hi > best || hi > 500 {
			return best, nil
		}
	}
	for range steps {
		if mid := lo + (hi-lo)/2; above(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return min(best, k*hi*(1+4*ulp)), failed
}
