package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
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
// infinite loss. Both are rounded up; a sum that float64 holds exactly is exact. Together the uses
// are (Σ ε, 1 − Π(1−δ))-differentially private.
// Source: Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, Theorem 1; Kairouz, Oh and
// Viswanath 2015, Theorem 3.3, for the product.
func basicComposition(terms []term) (eps, lost float64) {
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
func pricePure(terms []term) (priced, error) {
	eps, lost := basicComposition(terms)
	if !(lost <= 0 && eps < math.Inf(1)) {
		return priced{},
			fmt.Errorf("%w at δ = 0 of an event that is not pure: ask for a positive δ, or use pure "+
				"events only",
				ErrUnsupported)
	}
	b := Bound{0, eps, eps}
	if attained(terms) {
		b.Lower = eps * (1 - 1e-12)
		b.Estimate = b.Lower + (b.Upper-b.Lower)/2
	}
	return priced{Bound: b, engine: engineBasic}, nil
}

// attained reports whether the largest losses of all uses can occur together.
func attained(terms []term) bool {
	for _, t := range terms {
		switch t.atom.(type) {
		case laplaceAtom, exponentialAtom, approximateAtom, discreteLaplaceAtom, responseAtom:
		default:
			return false
		}
	}
	return true
}

func (a laplaceAtom) own() (float64, float64)     { return inverseUp(a.scale), 0 }
func (a exponentialAtom) own() (float64, float64) { return a.eps, 0 }
func (a approximateAtom) own() (float64, float64) { return a.eps, a.delta }
func (a discreteLaplaceAtom) own() (float64, float64) {
	return a.a * float64(a.sensitivity) * (1 + ulp), 0
}

// own returns the largest loss. It is the logarithm of a ratio: the probability of the true answer
// over the probability of another answer.
func (a responseAtom) own() (float64, float64) {
	return math.Log1p((1-a.noise)/a.noise*float64(a.categories)) * (1 + 8*ulp), 0
}

// own returns the last loss of the curve and the δ at which the curve ends. Larger losses are
// infinite.
func (a curveAtom) own() (eps, delta float64) {
	eps, delta = a.remove.Largest()
	if a.add != nil {
		e, d := a.add.Largest()
		eps, delta = max(eps, e), max(delta, d)
	}
	return max(0, eps) * (1 + 8*ulp), delta
}

// own returns (log(1 + q(e^ε − 1)), qδ) for a Poisson sample of an (ε, δ)-differentially private
// mechanism. Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
func (a sampledAtom) own() (eps, delta float64) {
	e, d := ownOf(a.within)
	// e^ε may overflow, so log(q(e^ε − 1)) is computed first.
	s := math.Log(a.q) + renyi.LogExpm1(e)
	return renyi.FromMomentMinusOne(s, 2, 8*ulp*(e-math.Log(a.q))), a.q * d * (1 + ulp)
}

func (a oneWayAtom) own() (eps, delta float64) {
	if c, ok := a.within.(curveAtom); ok && c.add != nil {
		side := c.remove
		if a.add {
			side = c.add
		}
		return curveAtom{remove: side}.own()
	}
	return ownOf(a.within)
}

// own returns the largest ε and the largest δ of the lists. Every list satisfies this pair.
func (a worstAtom) own() (eps, delta float64) {
	for _, c := range a.choice {
		e, d := basicComposition(c)
		eps, delta = max(eps, e), max(delta, d)
	}
	return eps, delta
}

// own returns (2+η)ε for the best of a truncated negative binomial number of runs of an
// ε-differentially private mechanism. The best of a Poisson number of runs is not ε-differentially
// private for any ε. Source: Papernot and Steinke 2022, Theorem 2 with both orders infinite.
func (a selectAtom) own() (eps, delta float64) {
	e, lost := basicComposition(a.within)
	if a.poisson || !(e < math.Inf(1) && lost <= 0) { // a curve may end above δ = 0
		return math.Inf(1), 0
	}
	return (2 + a.shape) * e * (1 + 4*ulp), 0
}
