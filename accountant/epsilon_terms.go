package accountant

import "math"

// What priced a composition, in the words of a guarantee.
const (
	engineNone    = "nothing released"
	engineRDP     = "Rényi divergences (RDP)"
	enginePLD     = "privacy loss distribution (PLD)"
	engineGauss   = "analytic Gaussian curve"
	engineOneStep = "exact curve of one release"
	engineFilter  = "Rényi filter of fixed order"
)

type priced struct {
	Bound
	engine string
	edge   bool // the best Rényi order is the smallest or the largest tried
	blunt  bool // the grid was as fine as memory allows, not as fine as wanted
}

// max is the bracket of the larger of two brackets.
func (b Bound) max(c Bound) Bound {
	return Bound{max(b.Lower, c.Lower), max(b.Estimate, c.Estimate), max(b.Upper, c.Upper)}
}

// priceAll is the worst of the alternatives.
func priceAll(alts [][]term, delta float64, r Relation, lower bool) (priced, error) {
	worst := priced{engine: engineNone}
	for _, terms := range alts {
		p, err := priceWith(terms, delta, r, lower)
		if err != nil {
			return p, err
		}
		if p.Upper >= worst.Upper {
			worst.engine, worst.edge = p.engine, p.edge
		}
		worst.Bound = worst.Bound.max(p.Bound)
	}
	return worst, nil
}

// priceWith takes the smallest upper end any engine proves, and the largest lower end. Without lower it skips the work that only the lower end needs.
func priceWith(terms []term, delta float64, r Relation, lower bool) (priced, error) {
	if len(terms) == 0 {
		return priced{engine: engineNone}, nil
	}
	if mu, ok := onlyGaussian(terms); ok {
		return priced{Bound: gaussianEpsilonBound(mu, delta), engine: engineGauss}, nil
	}
	if o := newOneStep(terms); o != nil {
		if b, ok := o.epsilon(delta); ok {
			return priced{Bound: b, engine: engineOneStep}, nil
		}
	}
	best := priced{Bound: Bound{0, math.Inf(1), math.Inf(1)}}
	// Total variation alone may settle it (Bretagnolle and Huber), and spares the grid losses too small for it.
	if d, ok := rdpTerms(terms, 2); ok && slackOf(terms) == 0 && epsilonFromRDP(2, d, delta) == 0 && delta*delta > -math.Expm1(-d) {
		return priced{engine: engineRDP}, nil
	}
	sides := pairsOf(terms)
	if sides != nil {
		lower = lower && !sides.loose
		a := pldBoth(sides, pldQuestion{delta: delta, lower: lower})
		if a.ok {
			best = priced{Bound: Bound{a.lower, 0, a.upper}, engine: enginePLD, blunt: a.limited}
		}
	}
	doubtful := math.IsInf(best.Upper, 1) || best.blunt || (lower && best.Upper-best.Lower > 0.03*best.Upper)
	if doubtful {
		if rep, ok := rdpEpsilon(terms, delta, nil); ok && rep.Epsilon < best.Upper {
			best.Upper, best.engine, best.edge = rep.Epsilon, engineRDP, rep.AtEdge
		} else if !ok && best.engine == "" {
			return best, unsupported("this composition", r)
		}
	}
	best.Lower = min(best.Lower, best.Upper)
	best.Estimate = estimate(best.Lower, best.Upper)
	return best, nil
}

// estimate: connecting the dots adds about half as much variance as merging removes.
func estimate(lower, upper float64) float64 {
	if math.IsInf(upper, 1) {
		return upper
	}
	return min(upper, max(lower, upper-(upper-lower)/3))
}

func gaussianEpsilonBound(mu, delta float64) Bound {
	if math.IsInf(mu, 1) {
		return Bound{0, mu, mu}
	}
	above := func(x float64) float64 { return gaussianDelta(mu, x) + gaussianDeltaError(mu, x) - delta }
	below := func(x float64) float64 { return gaussianDelta(mu, x) - gaussianDeltaError(mu, x) - delta }
	if above(0) <= 0 {
		return Bound{}
	}
	hi := 1.0
	for !(above(hi) <= 0) {
		if hi *= 2; hi > 1e300 {
			return Bound{0, math.Inf(1), math.Inf(1)}
		}
	}
	b := Bound{Upper: bisect(0, hi, above)*(1+1e-12) + 1e-300}
	if below(0) > 0 {
		b.Lower = bisect(0, hi, below) * (1 - 1e-12)
	}
	b.Estimate = b.Lower + (b.Upper-b.Lower)/2
	return b
}

// sides are the pairs of each direction, in the order of the terms.
type sides struct {
	n           []int
	remove, add []pair
	symmetric   bool
	loose       bool // a pair is only an upper bound of the event: no lower end
}

func pairsOf(terms []term) *sides {
	s := &sides{symmetric: true}
	for _, t := range terms {
		p := t.atom.pairs()
		if p == nil {
			return nil
		}
		s.n = append(s.n, t.n)
		s.loose = s.loose || p.loose
		s.remove = append(s.remove, p.remove)
		if p.add != nil {
			s.symmetric = false
			s.add = append(s.add, p.add)
		} else {
			s.add = append(s.add, p.remove)
		}
	}
	return s
}

// pldBoth answers for both directions: ε (or δ) is the larger. The direction that is almost always the smaller is tried on a coarse grid first,
// which settles it when even that upper end stays below the other's.
func pldBoth(s *sides, q pldQuestion) pldAnswer {
	q.n = s.n
	for _, n := range s.n {
		q.total += float64(n)
	}
	if s.loose {
		q.lower = false
	}
	q.pairs = s.remove
	a := q.solve(1)
	if s.symmetric || !a.ok {
		return a
	}
	q.pairs = s.add
	quick := q
	quick.lower = false
	b := quick.solve(3)
	if b.ok && b.upper <= a.upper {
		return a
	}
	b = q.solve(1)
	return pldAnswer{max(a.lower, b.lower), max(a.upper, b.upper), b.ok, a.limited || b.limited}
}

func deltaTerms(terms []term, eps float64, r Relation) (Bound, error) {
	if len(terms) == 0 {
		return Bound{}, nil
	}
	if mu, ok := onlyGaussian(terms); ok {
		d := gaussianDelta(mu, eps)
		if math.IsInf(mu, 1) {
			return Bound{1, 1, 1}, nil
		}
		m := gaussianDeltaError(mu, eps)
		return Bound{max(0, d-m), d, min(1, d+m)}, nil
	}
	if o := newOneStep(terms); o != nil && eps < 600 {
		lower, upper := o.delta(eps)
		return Bound{lower, lower + (upper-lower)/2, upper}, nil
	}
	best := Bound{0, 1, 1}
	known := false
	if s := pairsOf(terms); s != nil {
		known = true
		if a := pldBoth(s, pldQuestion{eps: eps, byEps: true, lower: true}); a.ok {
			best.Lower, best.Upper = a.lower, min(1, a.upper)
		}
	}
	if !(best.Upper-best.Lower <= 0.05*best.Upper) {
		if d, ok := rdpDelta(terms, eps); ok {
			known = true
			best.Upper = min(best.Upper, d)
		}
	}
	if !known {
		return best, unsupported("this composition", r)
	}
	best.Lower = min(best.Lower, best.Upper)
	best.Estimate = estimate(best.Lower, best.Upper)
	return best, nil
}
