package accountant

import (
	"fmt"
	"math"
	"slices"
)

// approximable is an atom that is (ε, δ)-differentially private for one pair (ε, δ), where δ is
// the probability of an infinite loss. If δ is zero, the atom is ε-differentially private. ε and δ
// are rounded up.
type approximable interface {
	own() (eps, delta float64)
}

// ownOf returns the atom's own (ε, δ), or (+Inf, 0) if its losses have no bound.
func ownOf(a atom) (eps, delta float64) {
	if p, ok := a.(approximable); ok {
		return p.own()
	}
	return math.Inf(1), 0
}

// basicComposition returns the sum of the ε's of all uses, and the probability that any use has an
// infinite loss, each the larger of both directions. Both are rounded up; a sum that float64 holds
// exactly is exact. Together the uses are (Σ ε, 1 − Π(1−δ))-differentially private.
// Source: Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, Theorem 1; Kairouz, Oh and
// Viswanath 2015, Theorem 3.3, for the product.
func basicComposition(terms []term) (eps, lost float64) {
	for _, add := range []bool{false, true} { // a mechanism may reveal one direction only
		e, d := composedOwn(oneWayTerms(terms, add))
		eps, lost = max(eps, e), max(lost, d)
	}
	return eps, lost
}

// composedOwn is basicComposition of terms whose directions are not told apart.
func composedOwn(terms []term) (eps, lost float64) {
	keep := 0.0 // log Π(1−δ)
	for _, t := range terms {
		e, d := ownOf(t.atom)
		eps = addUp(eps, timesUp(t.n, e))
		keep += float64(t.n) * math.Log1p(-d)
		lost = d
	}
	if len(terms) != 1 || terms[0].n != 1 {
		lost = -math.Expm1(keep) * (1 + float64(len(terms)+4)*2*ulp)
	}
	return eps, lost
}

// pricePure returns the price at δ = 0.
func pricePure(terms []term) (Price, error) {
	eps, lost := basicComposition(terms)
	if !(lost <= 0 && eps < math.Inf(1)) {
		return Price{},
			fmt.Errorf("%w at δ = 0 of an event that is not pure: ask for a positive δ, or use pure "+
				"events only", ErrUnsupported)
	}
	b := Bound{0, eps, eps}
	// The largest losses of all uses can occur together, unless one is only a bound.
	bounded := func(t term) bool { a, ok := t.atom.(attaining); return !(ok && a.attained()) }
	if !slices.ContainsFunc(terms, bounded) {
		b.Lower = eps * (1 - 1e-12)
		b.Estimate = b.Lower + (b.Upper-b.Lower)/2
	}
	return Price{Bound: b, Engine: engineBasic}, nil
}

// attaining is an atom that may have a loss of its own ε, if its δ is zero.
type attaining interface{ attained() bool }
