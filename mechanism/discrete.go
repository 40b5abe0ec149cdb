package mechanism

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// DiscreteGaussian adds integer noise to every value. The probability of noise x is proportional to
// exp(−x²/(2σ²)), where σ is the event's Sigma. out may be the same slice as values.
//
// Guarantee: the cost of the release is the cost of the grant's accountant.DiscreteGaussian.
// Neighbours must differ in at most one value, by at most the event's sensitivity. The noise is
// sampled exactly (noise class: exact). Units: whole numbers; sums wrap around at 2^63. Errors:
// [ErrNotCovered] under any other event or at a second call. Source: Canonne, Kamath and Steinke
// 2020, Algorithm 3.
func (g *Grant) DiscreteGaussian(values, out []int64) error {
	e, ok := g.a.terms.other.(accountant.DiscreteGaussian)
	if !ok {
		return g.a.refuse("the event is not an accountant.DiscreteGaussian")
	}
	if e.Sigma > maxDiscrete {
		return g.a.refuse("a discrete Gaussian of σ = %v: must be at most 2^40", e.Sigma)
	}
	return g.discrete("discrete Gaussian", values, out, e.Sigma, float64(e.Sensitivity)/e.Sigma,
		func(bits entropy.Bits) int64 {
			return sampler.DiscreteGaussian(e.Sigma, bits)
		})
}

// DiscreteLaplace adds integer noise to every value. The probability of noise x is proportional to
// exp(−A·|x|), where A is the event's A. out may be the same slice as values.
//
// Guarantee: the cost of the release is the cost of the grant's accountant.DiscreteLaplace.
// Neighbours must differ in at most one value, by at most the event's sensitivity. The noise is
// sampled exactly (noise class: exact). Units: whole numbers; sums wrap around at 2^63. Errors:
// [ErrNotCovered] under any other event or at a second call.
func (g *Grant) DiscreteLaplace(values, out []int64) error {
	e, ok := g.a.terms.other.(accountant.DiscreteLaplace)
	if !ok {
		return g.a.refuse("the event is not an accountant.DiscreteLaplace")
	}
	if e.A < 1.0/maxDiscrete {
		return g.a.refuse("a discrete Laplace of A = %v: must be at least 2^-40", e.A)
	}
	return g.discrete("discrete Laplace", values, out, 1/e.A, e.A*float64(e.Sensitivity),
		func(bits entropy.Bits) int64 {
			return sampler.DiscreteLaplace(e.A, bits)
		})
}

const maxDiscrete = 1 << 40

// discrete adds one draw to every value. If there is a tap, it receives the values as floats.
func (g *Grant) discrete(name string, values, out []int64, scale, effect float64,
	draw func(entropy.Bits) int64) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if len(values) != len(out) {
		return g.a.refuse("out has %d elements for %d values: want one for each", len(out), len(values))
	}
	if err := g.chargeOnce(); err != nil {
		return err
	}
	in := floatsOf(g, values)
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	for i, v := range values {
		out[i] = v + draw(bits)
	}
	return g.tellIntegers(name, effect, scale, in, out)
}

// floatsOf returns a copy of values for the tap, or nil if there is no tap.
func floatsOf(g *Grant, values []int64) []float64 {
	if g.a.run.tap == nil {
		return nil
	}
	f := make([]float64, len(values))
	for i, v := range values {
		f[i] = float64(v)
	}
	return f
}

func (g *Grant) tellIntegers(name string, effect, scale float64, in []float64, out []int64) error {
	if g.a.run.tap == nil {
		return nil
	}
	rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: name, Effect: effect,
		Std: []float64{scale}, Grid: []float64{1}, Inputs: [][]float64{in},
		Outputs: [][]float64{floatsOf(g, out)}}
	err := g.a.run.tap.Release(rel)
	for i, v := range rel.Outputs[0] {
		out[i] = int64(v)
	}
	return err
}
