package accountant

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// These names of the engines appear in guarantees.
const (
	engineNone     = "nothing released"
	engineRDP      = "Rényi divergences (RDP)"
	enginePLD      = "privacy loss distribution (PLD)"
	engineGauss    = "analytic Gaussian curve"
	engineOneStep  = "exact curve of one release"
	engineBasic    = "sum of the events' own ε"
	engineInfinite = "none: no finite bound, or the events' own δ is above the target"
)

// max returns the bracket of the larger of two bracketed values.
func (b Bound) max(c Bound) Bound {
	return Bound{max(b.Lower, c.Lower), max(b.Estimate, c.Estimate), max(b.Upper, c.Upper)}
}

// sound returns the bracket with ends that prove nothing, 0 and most, in place of ends that are no
// numbers or out of range. Every ε and every δ passes through it.
func (b Bound) sound(most float64) Bound {
	if !(b.Upper >= 0 && b.Upper <= most) {
		b.Upper = most
	}
	if !(b.Lower >= 0) {
		b.Lower = 0
	}
	b.Lower = min(b.Lower, b.Upper)
	if !(b.Estimate >= b.Lower && b.Estimate <= b.Upper) {
		b.Estimate = estimate(b.Lower, b.Upper)
	}
	return b
}

// priceAll returns the price of the worst alternative, or the error of a context that ends first.
func priceAll(ctx context.Context, alts [][]term, delta float64, r Relation, lower bool) (Price,
	error) {
	worst := Price{Engine: engineNone}
	for _, terms := range alts {
		if len(alts) > 1 && worst.Upper > 0 { // a cheap bound may show that this is not the worst
			if cheap, ok := rdpEpsilon(terms, delta); ok && cheap.epsilon <= worst.Upper {
				continue
			}
		}
		p, err := priceWith(ctx, terms, delta, r, lower)
		if err != nil {
			return p, err
		}
		if p.Upper >= worst.Upper {
			worst.Engine, worst.AtEdge = p.Engine, p.AtEdge
		}
		worst.Bound = worst.Bound.max(p.Bound)
	}
	return worst, nil
}

// priceWith returns the smallest upper end and the largest lower end that the engines prove. If
// lower is false, it skips the work that only the lower end needs. An infinite ε is found before
// any grid is made.
func priceWith(ctx context.Context, terms []term, delta float64, r Relation, lower bool) (Price,
	error) {
	if err := ctx.Err(); err != nil {
		return Price{}, err
	}
	if len(terms) == 0 {
		return Price{Engine: engineNone}, nil
	}
	if delta == 0 {
		return pricePure(terms)
	}
	if mu, ok := onlyGaussian(terms); ok {
		return Price{Bound: gaussianBound(mu, delta).sound(math.Inf(1)), Engine: engineGauss}, nil
	}
	key, short := priceKey(terms, delta, r, lower)
	if p, ok := prices.find(key); short && ok {
		return p, nil
	}
	p, err := priceByEngines(ctx, terms, delta, r, lower)
	if err == nil {
		err = ctx.Err() // the engines then stopped early
	}
	p.Bound = p.sound(math.Inf(1))
	if short && err == nil {
		prices.keep(key, p)
	}
	return p, err
}

func priceByEngines(ctx context.Context, terms []term, delta float64, r Relation,
	lower bool) (Price, error) {
	best := Price{Bound: Bound{0, math.Inf(1), math.Inf(1)}, Engine: engineBasic}
	lists := listsOf(terms, r)
	if lists != nil && len(terms) == 1 { // nothing else is released, so nothing decides the list
		return priceAll(ctx, lists, delta, r, lower)
	}
	basic, lost := basicComposition(terms)
	if lost <= delta {
		best.Upper = basic
		if e, d := composedOwn(terms); d <= delta { // may have a smaller ε, at a larger δ
			best.Upper = min(basic, e)
		}
	} else if lost > delta*(1+1e-9) {
		best.Engine = engineInfinite
		return best, nil
	}
	if math.IsInf(best.Upper, 1) {
		best.Engine = engineInfinite
	}
	quick := lower && len(lists)*placesOfAll(terms) <= mostPlaces/2 // three prices of each list
	if lists != nil && (quick || compositionOf(terms) == nil) {
		if err := best.byLists(ctx, lists, delta, r, lower); err != nil {
			return best, err
		}
	}
	exact, err := best.byDistribution(ctx, terms, delta, r, lower)
	if err != nil || exact {
		return best, err
	}
	if a, ok := onlySelection(terms); ok {
		best.bySelection(ctx, a, delta, r)
	}
	best.Estimate = estimate(min(best.Lower, best.Upper), best.Upper)
	return best, nil
}

// improve keeps the smaller upper end and the larger lower end.
func (p *Price) improve(b Bound, engine string) {
	p.Lower = max(p.Lower, b.Lower)
	if b.Upper < p.Upper {
		p.Upper, p.Engine, p.AtEdge = b.Upper, engine, false
	}
}

// byDistribution improves p with the loss distributions and the Rényi divergences of terms. exact
// means that no smaller value is possible.
func (p *Price) byDistribution(ctx context.Context, terms []term, delta float64, r Relation,
	lower bool) (exact bool, err error) {
	if o := single(terms, lower); o != nil {
		if a := o.Epsilon(delta); a.OK {
			b := Bound{a.Lower, a.Lower + (a.Upper-a.Lower)/2, a.Upper}
			if o.Exact() || a.Upper == 0 {
				*p = Price{Bound: b, Engine: engineOneStep}
				return true, nil
			}
			p.improve(b, engineOneStep)
		}
	}
	if d, ok := rdpTerms(terms, 2); ok && slackOf(terms) == 0 && EpsilonFromRDP(2, d, delta) == 0 {
		// Total variation alone gives ε = 0. A grid could be too coarse for such small losses.
		*p = Price{Engine: engineRDP}
		return true, nil
	}
	c := compositionOf(terms)
	if c != nil {
		c.Stopped = func() bool { return ctx.Err() != nil }
		a := c.Epsilon(delta, lower)
		if a.OK {
			p.improve(Bound{a.Lower, 0, a.Upper}, enginePLD)
		}
		if lower && p.Lower < 0.97*p.Upper {
			p.Lower = max(p.Lower, removedOnly(terms, delta))
		}
		if l, ok := loudOf(terms); ok && lower && p.Lower < 0.97*p.Upper {
			p.Lower = max(p.Lower, l.lower(delta))
		}
		if a.OK && !a.Blunt && !a.Limited && !c.Loose() {
			return false, nil
		}
	}
	rdp, known := rdpEpsilon(terms, delta)
	if c == nil && !known && math.IsInf(p.Upper, 1) {
		return false, unsupported("this composition", r)
	}
	if known && rdp.epsilon < p.Upper {
		p.improve(Bound{Upper: rdp.epsilon}, engineRDP)
		p.AtEdge = rdp.atEdge
	}
	if mu, ok := public(terms); ok && p.Upper > 0 {
		p.improve(Bound{Upper: gaussianBound(mu, delta).Upper}, engineGauss)
	}
	if l, ok := loudOf(terms); ok {
		p.byLoud(l, delta)
	}
	return false, nil
}

// removedOnly returns a lower end of terms with samples under replace-one: a record that is
// replaced by one that adds nothing costs as much as one that is removed, which finer grids can
// price.
func removedOnly(terms []term, delta float64) float64 {
	less, found := slices.Clone(terms), false
	for i, t := range less {
		if a, ok := t.atom.(gluedAtom); ok {
			less[i].atom, found = sampledGaussian{a.q, a.mu}, true
		}
	}
	if c := compositionOf(less); found && c != nil {
		return c.Epsilon(delta, true).Lower
	}
	return 0
}

// estimate returns the point one third of the way from upper to lower. The true value is about
// there, because merging removes about twice the variance that connecting the dots adds.
func estimate(lower, upper float64) float64 {
	if math.IsInf(upper, 1) {
		return upper
	}
	return min(upper, max(lower, upper-(upper-lower)/3))
}

// single returns the exact curve of one use of one atom; nil for anything else.
func single(terms []term, lower bool) *pld.Single {
	if len(terms) != 1 || terms[0].n != 1 {
		return nil
	}
	p := terms[0].atom.pairs()
	if p == nil {
		return nil
	}
	return pld.NewSingle(p, lower)
}

// compositionOf returns the composition of terms, or nil if an atom has no dominating pair.
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

// deltaTerms brackets δ(eps) of terms.
func deltaTerms(terms []term, eps float64, r Relation) (Bound, error) {
	b, err := deltaByEngines(terms, eps, r)
	return b.sound(1), err
}

func deltaByEngines(terms []term, eps float64, r Relation) (Bound, error) {
	if len(terms) == 0 {
		return Bound{}, nil
	}
	if mu, ok := onlyGaussian(terms); ok {
		d, m := pld.GaussianDelta(mu, eps), pld.GaussianDeltaError(mu, eps)
		return Bound{d - m, d, d + m}, nil
	}
	lists := listsOf(terms, r)
	if lists != nil && len(terms) == 1 {
		return worstDelta(lists, eps, r)
	}
	if o := single(terms, true); o != nil && eps < 600 {
		lower, upper := o.Delta(eps)
		return Bound{lower, lower + (upper-lower)/2, upper}, nil
	}
	best := Bound{0, 1, 1}
	basic, lost := basicComposition(terms)
	if e, d := composedOwn(terms); eps >= basic {
		best.Upper = lost
	} else if eps >= e { // both directions in one: a smaller ε, at a larger δ
		best.Upper = d
	}
	known := !math.IsInf(basic, 1)
	if lists != nil {
		b, err := deltaByLists(lists, eps, r)
		if err != nil {
			return b, err
		}
		known = true
		best.Lower, best.Upper = b.Lower, min(best.Upper, b.Upper)
	}
	if c := compositionOf(terms); c != nil {
		known = true
		if a := c.Delta(eps); a.OK {
			best.Lower, best.Upper = max(best.Lower, a.Lower), min(best.Upper, a.Upper)
		}
	}
	if d, ok := rdpDelta(terms, eps); ok {
		known = true
		best.Upper = min(best.Upper, d)
	}
	if l, ok := loudOf(terms); ok && l.mu >= leastLoud {
		best.Upper = min(best.Upper, l.upper(eps))
	}
	if mu, ok := public(terms); ok {
		d := pld.GaussianDelta(mu, eps) + pld.GaussianDeltaError(mu, eps)
		best.Upper = renyi.AtMost(best.Upper, d)
	}
	if a, ok := onlySelection(terms); ok {
		best.Upper = min(best.Upper, deltaSelected(a, eps))
	}
	if !known {
		return best, unsupported("this composition", r)
	}
	best.Lower = min(best.Lower, best.Upper)
	best.Estimate = estimate(best.Lower, best.Upper)
	return best, nil
}
