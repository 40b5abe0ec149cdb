package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Part is one sum of a joint release.
type Part struct {
	Sum *FixedSum // the sum without noise; not changed
	Std float64   // standard deviation of its noise, in the sum's units
	Out []float64 // receives the noisy sum, on the grid
}

// Release adds Gaussian noise to every coordinate of every part and writes the noisy sums.
//
// Guarantee: the outputs are exactly a post-processing of the sums plus ideal continuous Gaussian
// noise. The noise is drawn as the exact rounding of the ideal normal to the part's grid, and added
// in integers (noise class: exact).
//
// effect is the worst case, over neighbours under the run's relation, of the L2 norm of
// (difference ÷ Std) over all parts together. The caller must prove it; see [SumSensitivity] and
// [HistogramSensitivity]. Under a Poisson sample and replace-one, effect must cover the presence of
// a record and its replacement. The event's curve assumes that the presence of a record changes the
// sum by no more than its replacement does. With values in [10, 11] this is false: replacement
// changes the sum by up to 1, and presence by up to 11. Under the event SampledSum and replace-one,
// see [Grant.SumEffect].
//
// Errors: [ErrNotCovered] if the effects of all releases under this grant would exceed its event's
// Gaussian. [ErrNotCovered] also for a part without a sum, of a wrong shape or of an invalid grid.
// Nothing has then been drawn.
func (g *Grant) Release(effect float64, parts ...Part) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	normals := make([]*sampler.Normal, len(parts))
	for i, p := range parts {
		l, err := g.a.normalFor(p)
		if err != nil {
			return err
		}
		normals[i] = l
	}
	if err := g.charge(effect); err != nil {
		return err
	}
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	for i, p := range parts {
		l := normals[i]
		for j, v := range p.Sum.sum {
			p.Out[j] = float64(v+l.Draw(bits)) * p.Sum.grid
		}
	}
	return g.tellRelease("Gaussian", effect, parts)
}

// NoteReal records on the ledger that the released values come from inexact arithmetic: the result
// of a record may depend on other records. The noise class is then "real" for every mechanism.
func (g *Grant) NoteReal() {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	g.a.note(ledger.RealNoise)
}

// normalFor checks a part's shape and prepares its sampler.
func (a *Allowance) normalFor(p Part) (*sampler.Normal, error) {
	if err := a.checkPart(p); err != nil {
		return nil, err
	}
	l, err := a.normal(p.Std, p.Sum.grid)
	if err != nil {
		return nil, a.refuse("%v", err)
	}
	return l, nil
}

func (a *Allowance) checkPart(p Part) error {
	switch {
	case !p.Sum.made():
		return a.refuse("a part has no sum: want one made by NewFixedSum")
	case len(p.Out) != len(p.Sum.sum):
		return a.refuse("a part's Out has %d coordinates, its sum has %d: want the same number",
			len(p.Out), len(p.Sum.sum))
	case !isPowerOfTwo(p.Sum.grid):
		return a.refuse("grid %v: must be a power of two", p.Sum.grid)
	}
	return nil
}

func isPowerOfTwo(x float64) bool {
	m, e := math.Frexp(x)
	return m == 0.5 && e > -1000 && e < 1000
}

// tellRelease passes a release to the tap, if there is one.
func (g *Grant) tellRelease(mechanism string, effect float64, parts []Part) error {
	if g.a.run.tap == nil {
		return nil
	}
	rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: mechanism, Effect: effect}
	for _, p := range parts {
		in := make([]float64, len(p.Sum.sum))
		for j, v := range p.Sum.sum {
			in[j] = float64(v) * p.Sum.grid
		}
		rel.Std = append(rel.Std, p.Std)
		rel.Grid = append(rel.Grid, p.Sum.grid)
		rel.Inputs = append(rel.Inputs, in)
		rel.Outputs = append(rel.Outputs, p.Out)
	}
	return g.a.run.tap.Release(rel)
}
