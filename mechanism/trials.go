package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// maxTrials bounds the number of runs if there is no limit; a larger number is redrawn.
const maxTrials = 1 << 20

// leastGamma is the smallest γ that Trials supports, because drawing a number of runs takes about
// 1/γ steps.
const leastGamma = 1e-8

// Trials draws the number of runs of a selection. For each run it also draws a choice from the
// given number of choices, all equally likely. If limit is positive, the number is redrawn until it
// is at most limit.
//
// Guarantee: the cost of the selection is the cost of the grant's accountant.RepeatAndSelect under
// three conditions. The runs must be independent given the records, each run must cost no more than
// the inner event, and only the best run may be released. The number of runs and the choices are
// secret. They are drawn exactly, from the stream of the run's noise (noise class: exact). The
// event's documentation says how a limit affects its price. Errors: [ErrNotCovered] under any other
// event or at a second call. [ErrNotCovered] also for three kinds of unsupported events: a shape
// above 1, a γ below leastGamma, and a Poisson number with a limit or with a mean that is not
// whole. Nothing is then drawn. Source: Papernot and Steinke 2022.
func (g *Grant) Trials(choices, limit int) ([]int, error) {
	e, ok := g.a.terms.other.(accountant.RepeatAndSelect)
	if !ok {
		return nil, g.a.refuse("the event is not an accountant.RepeatAndSelect")
	}
	if choices < 1 || limit < 0 {
		return nil, g.a.refuse("%d choices and a limit of %d: want at least one choice and no "+
			"negative limit", choices, limit)
	}
	number, err := g.a.trialNumber(e, limit)
	if err != nil {
		return nil, err
	}
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if err := g.chargeOnce(); err != nil {
		return nil, err
	}
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	out := make([]int, number(bits))
	for i := range out {
		out[i] = int(sampler.UniformBelow(uint64(choices), bits))
	}
	return out, nil
}

// trialNumber returns a function that draws the event's number of runs.
func (a *Allowance) trialNumber(e accountant.RepeatAndSelect,
	limit int) (func(entropy.Bits) int, error) {
	if e.Poisson {
		if limit > 0 || e.Mean != math.Trunc(e.Mean) || e.Mean > maxTrials/4 {
			return nil, a.refuse("a Poisson number of mean %v with a limit of %d: want a whole mean "+
				"of at most 2^18, no limit", e.Mean, limit)
		}
		return func(bits entropy.Bits) int { return sampler.Poisson(int(e.Mean), bits) }, nil
	}
	if e.Shape > 1 || (1+e.Shape)-1 != e.Shape {
		return nil, a.refuse("a shape of %v: want a number in (-1, 1] whose sum with 1 is exact in "+
			"floating point", e.Shape)
	}
	if e.Gamma() < leastGamma {
		return nil, a.refuse("a mean of %v at shape %v: γ = %.3g, want at least %g", e.Mean, e.Shape,
			e.Gamma(), leastGamma)
	}
	if limit == 0 || limit > maxTrials {
		limit = maxTrials
	}
	// Drawing with a larger γ than the priced one only lowers the cost. The margin covers the rounding
	// errors of the accountant's γ.
	again := 1 - min(1, e.Gamma()*(1+0x1p-30))
	return func(bits entropy.Bits) int {
		return sampler.NegativeBinomial(e.Shape, again, limit, bits)
	}, nil
}
