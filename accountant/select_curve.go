package accountant

import (
	"context"
	"math"
	"slices"
)

// This file bounds the hockey-stick curve of a selection among a truncated negative binomial number
// of runs. The bound uses the curve δ(ε) of one run. It is tighter than the bound by the Rényi
// divergences of one run.
//
// Let Q and Q′ be the distributions of one run under two neighbours. Each result comes with a
// uniform random number that breaks ties. Let F and F′ be the probabilities, under Q and Q′, that a
// run ranks no higher than a given result. Let f be the generating function of the number of runs,
// which has mean m. The best of all runs has the densities f′(F)dQ and f′(F′)dQ′, with
// f′(x) = m·(γ/(γ+(1−γ)(1−x)))^(1+η).
//
// (1) Take s with (1−γ)·δ(s) ≤ γ·(e^s−1). Since 1−F and 1−F′ are the probabilities of one event,
//
//	γ+(1−γ)(1−F′) ≤ γ+(1−γ)(e^s·(1−F)+δ(s)) ≤ e^s·(γ+(1−γ)(1−F)),
//
// so that f′(F) ≤ e^((1+η)s)·f′(F′).
//
// (2) Therefore ∫(f′(F)dQ − e^ε·f′(F′)dQ′)₊ ≤ ∫f′(F)·(dQ − e^(ε−(1+η)s)dQ′)₊ ≤ m·δ(ε−(1+η)s),
// since f′ is at most f′(1) = m.
//
// A limited number of runs has a smaller m and smaller quotients f′(F)/f′(F′); see RepeatAndSelect.
// For a Poisson number of runs, (1) does not bound the quotients. Compare Koskela, Redberg and Wang
// 2024, "Privacy profiles for private selection".

const engineSelect = "hockey-stick curve of the best of many runs"

// onlySelection returns the selection if the terms are a single use of a selection with such a
// curve. The curve of a selection among selections is not computed. Every point of it needs many
// points of each curve inside, so the time would grow exponentially with the nesting.
func onlySelection(terms []term) (a selectAtom, ok bool) {
	if len(terms) != 1 || terms[0].n != 1 {
		return a, false
	}
	a, ok = terms[0].atom.(selectAtom)
	return a, ok && !a.poisson && !selects(a.within)
}

// selects reports whether a selection is among the terms.
func selects(terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool {
		switch a := t.atom.(type) {
		case selectAtom:
			return true
		case oneWayAtom:
			return selects([]term{{a.within, 1}})
		case sampledAtom:
			return selects([]term{{a.within, 1}})
		case worstAtom:
			return slices.ContainsFunc(a.choice, selects)
		}
		return false
	})
}

// alternatives returns the possible events of one run.
func (a selectAtom) alternatives() [][]term {
	if len(a.within) == 1 && a.within[0].n == 1 {
		if w, ok := a.within[0].atom.(worstAtom); ok {
			return w.choice
		}
	}
	return [][]term{a.within}
}

// run returns an upper bound of δ(eps) for one run.
func (a selectAtom) run(eps float64) float64 {
	worst := 0.0
	for _, terms := range a.alternatives() {
		b, err := deltaTerms(terms, eps, a.relation)
		if err != nil {
			return 1
		}
		worst = max(worst, b.Upper)
	}
	return worst
}

// mostShift is the largest s that the search for (1) tries.
const mostShift = 300

// shift returns (1+η)s for an s that satisfies (1) and is at most two per cent, or 1e-4, above
// the smallest such s. It returns +Inf if there is none.
func (a selectAtom) shift() float64 {
	// far(s) is at most 0 if s satisfies (1). Both sides of (1) are rounded outward.
	far := func(s float64) float64 {
		d := a.run(s) * (1 - a.gamma*(1-1e-12)) * (1 + 1e-12)
		return math.Log(d) - math.Log(a.gamma*math.Expm1(s)*(1-1e-12))
	}
	lo, hi := 0.0, 0.5
	at, below := far(hi), math.Inf(1)
	for ; !(at <= 0); at = far(hi) {
		if lo, below = hi, at; hi > mostShift {
			return math.Inf(1)
		}
		hi *= 2
	}
	for hi-lo > 0.02*hi && hi > 1e-4 {
		mid := lo + (hi-lo)/2
		if w := below / (below - at); w > 0.05 && w < 0.95 { // the line through both ends is 0 at w
			mid = lo + (hi-lo)*min(w+0.02, 0.95)
		}
		if v := far(mid); v <= 0 {
			hi, at = mid, v
		} else {
			lo, below = mid, v
		}
	}
	return (1 + a.shape) * hi * (1 + 8*ulp)
}

// bySelection improves p with the hockey-stick curve of the selection.
func (p *Price) bySelection(ctx context.Context, a selectAtom, delta float64, r Relation) {
	shift := a.shift()
	if math.IsInf(shift, 1) {
		return
	}
	worst := 0.0
	for _, terms := range a.alternatives() {
		one, err := priceWith(ctx, terms, delta/a.mean*(1-1e-12), r, false)
		if err != nil {
			return
		}
		worst = max(worst, one.Upper)
	}
	p.improve(Bound{Upper: (shift + worst) * (1 + 8*ulp)}, engineSelect)
}

// deltaSelected returns an upper bound of δ(eps) of one selection.
func deltaSelected(a selectAtom, eps float64) float64 {
	if shift := a.shift(); eps > shift {
		return min(1, a.mean*a.run((eps-shift)*(1-8*ulp))*(1+8*ulp))
	}
	return 1
}
