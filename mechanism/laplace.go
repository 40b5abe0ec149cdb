package mechanism

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Laplace adds Laplace noise to every coordinate of every part. A part's Std is the scale b of the
// noise; the noise's standard deviation is √2·b.
//
// Guarantee: exactly a post-processing of the sums plus ideal continuous Laplace noise (noise
// class: exact). effect is the worst case over neighbours of the L1 norm of (difference ÷ scale)
// over all parts. Under accountant.Pure, effect may reach the event's ε. Under accountant.Laplace,
// effect may reach 1 ÷ the event's scale, and neighbours must differ in one coordinate only,
// because that event prices one number.
// Errors: [ErrNotCovered] under any other event or at a second call.
func (g *Grant) Laplace(effect float64, parts ...Part) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	for _, p := range parts {
		if err := g.a.checkPart(p); err != nil {
			return err
		}
		if err := laplaceSteps(p.Std / p.Sum.grid); err != nil {
			return g.a.refuse("%v", err)
		}
	}
	if !(effect > 0) || effect > g.a.terms.pure()*allowed {
		return g.a.refuse("effect %v: must be positive and at most the event's "+
			"%v", effect, g.a.terms.pure())
	}
	if err := g.chargeOnce(); err != nil {
		return err
	}
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	for _, p := range parts {
		scale := p.Std / p.Sum.grid * (1 + margin)
		for j, v := range p.Sum.sum {
			p.Out[j] = float64(v+sampler.Laplace(scale, bits)) * p.Sum.grid
		}
	}
	return g.tellRelease("Laplace", effect, parts)
}

func laplaceSteps(steps float64) error {
	if !(steps >= 1) || steps > 0x1p45 {
		return fmt.Errorf("noise of scale %v grid steps: must be 1 to 2^45", steps)
	}
	return nil
}

// pure returns the largest L1 effect that the event covers.
func (t terms) pure() float64 {
	switch e := t.other.(type) {
	case accountant.Laplace:
		return 1 / e.Scale
	case accountant.Pure:
		return e.Epsilon
	}
	return 0
}
