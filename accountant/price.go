package accountant

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

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
		return priced{Bound: gaussianBound(mu, delta), engine: engineGauss}, nil
	}
	if o := single(terms); o != nil {
		if a := o.Epsilon(delta); a.OK {
			b := Bound{a.Lower, a.Lower + (a.Upper-a.Lower)/2, a.Upper}
			return priced{Bound: b, engine: engineOneStep}, nil
		}
	}
	best := priced{Bound: Bound{0, math.Inf(1), math.Inf(1)}}
	// Total variation alone may settle it (Bretagnolle and Huber), and spares the grid losses too small for it.
	if d, ok := rdpTerms(terms, 2); ok && slackOf(terms) == 0 && renyi.Epsilon(2, d, delta) == 0 && delta*delta > -math.Expm1(-d) {
		return priced{engine: engineRDP}, nil
	}
	if c := compositionOf(terms); c != nil {
		lower = lower && !c.Loose()
		if a := c.Epsilon(delta, lower); a.OK {
			best = priced{Bound: Bound{a.Lower, 0, a.Upper}, engine: enginePLD, blunt: a.Limited}
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

// single is the exact curve of one use of one atom; nil for anything else.
func single(terms []term) *pld.Single {
	if len(terms) != 1 || terms[0].n != 1 {
		return nil
	}
	p := terms[0].atom.pairs()
	if p == nil {
		return nil
	}
	return pld.NewSingle(p)
}

// compositionOf is nil where an atom has no dominating pair.
func compositionOf(terms []term) *pld.Composition {
	c := pld.NewComposition()
	for _, t := range terms {
		p := t.atom.pairs()
		if p == nil {
			return nil
		}
		c.Append(p, t.n)
	}
	return c
}

func gaussianBound(mu, delta float64) Bound {
	lower, estimate, upper := pld.GaussianEpsilon(mu, delta)
	return Bound{lower, estimate, upper}
}

func deltaTerms(terms []term, eps float64, r Relation) (Bound, error) {
	if len(terms) == 0 {
		return Bound{}, nil
	}
	if mu, ok := onlyGaussian(terms); ok {
		d := pld.GaussianDelta(mu, eps)
		if math.IsInf(mu, 1) {
			return Bound{1, 1, 1}, nil
		}
		m := pld.GaussianDeltaError(mu, eps)
		return Bound{max(0, d-m), d, min(1, d+m)}, nil
	}
	if o := single(terms); o != nil && eps < 600 {
		lower, upper := o.Delta(eps)
		return Bound{lower, lower + (upper-lower)/2, upper}, nil
	}
	best := Bound{0, 1, 1}
	known := false
	if c := compositionOf(terms); c != nil {
		known = true
		if a := c.Delta(eps); a.OK {
			best.Lower, best.Upper = a.Lower, min(1, a.Upper)
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
