package mechanism

import (
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Gradient is one noised sum of clipped per-example gradients.
type Gradient struct {
	Sum   []float32 // the sum without noise, in floating point
	Units []int32   // or the sum in fixed point, as multiples of Unit
	Carry []float64 // with Units: the excess over 31 bits, as multiples of Unit, or nil
	Unit  float64   // with Units or Device: a power of two
	// Device holds the sum in fixed point instead of Units, and makes the noise where it is. Dim is
	// then its length. The noisy sum stays there, and sink is not called.
	Device          chunked.Device
	Dim             int
	Sensitivity     float64 // L2 sensitivity of Sum under the run's relation: see ReleaseGradient
	NoiseMultiplier float64 // noise standard deviation of this release ÷ Sensitivity
	// Workers is the number of pieces into which the work is divided, at least one. It does not
	// affect the noise or the guarantee.
	Workers int
	// Share runs the pieces, concurrently if it can, and returns when all are done; nil means one
	// goroutine per piece. If a piece starts late, the other pieces do its work.
	Share func(pieces int, do func(piece int))
}

// gradientBits determines the grid: it is 2^-24 to 2^-25 of the sensitivity, or of the noise if
// that is smaller.
const gradientBits = 24

// ReleaseGradient adds Gaussian noise to every coordinate of the sum and passes the noisy sum to
// sink in pieces, from several goroutines at a time. Pieces have a fixed size and do not overlap.
// noisy holds the sum's coordinates from offset on and is valid during the call only. sink must not
// retain noisy, draw from the same allowance, or release anything private except noisy. It may
// overwrite the coordinates of the sum that noisy covers: they are not read again.
//
// Guarantee: if the given sum has the stated sensitivity, the outputs are exactly a post-processing
// of the sum plus ideal continuous Gaussian noise. The noise has a standard deviation of
// NoiseMultiplier times the sensitivity. A fixed-point sum can have exactly this sensitivity, and
// the noise class is "exact". A float32 sum has it only up to rounding errors, and the noise class
// is "real". The sum is rounded to a public grid of step g, which can increase the distance of
// neighbours by g·√d for d coordinates; the noise is increased accordingly. NaN coordinates count
// as zero.
//
// The sensitivity is that of [SumSensitivity]. A smaller one must hold for the sum and, under a
// Poisson sample and replace-one, for the presence of a record (see [Grant.Release]). Under
// SampledSum and BandedSum and replace-one it must be twice the largest norm of a row.
//
// For the event accountant.BandedSum the noise is correlated with that of earlier steps, and
// NoiseMultiplier is as the event states it. The sensitivity, the multiplier and the length are
// then the same in all steps, and an allowance ends after noise above 16 standard deviations.
//
// The noise of a chunk does not depend on the schedule or on the number of workers. After the first
// release of an allowance nothing is allocated.
//
// Errors: [ErrNotCovered] if the squared effects 1/NoiseMultiplier² of the grant's releases would
// exceed its event's Gaussian. Nothing is drawn then, and sink is not called.
func (g *Grant) ReleaseGradient(spec Gradient, sink func(offset int, noisy []float64)) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !(spec.Sensitivity > 0) || math.IsInf(spec.Sensitivity, 0) || !(spec.NoiseMultiplier > 0) {
		return g.a.refuse("a gradient of sensitivity %v and noise multiplier %v: both must be "+
			"positive and finite", spec.Sensitivity, spec.NoiseMultiplier)
	}
	if err := spec.check(); err != nil {
		return g.a.refuse("%v", err)
	}
	if spec.Device != nil && g.a.band != nil {
		return g.a.refuse("a gradient on a device: correlated noise is made on the host")
	}
	grid, fine, std := g.a.gridOf(spec)
	if !isPowerOfTwo(fine) {
		return g.a.refuse("a sensitivity of %v: too small or too large for a grid", spec.Sensitivity)
	}
	l, err := g.a.normal(std, fine)
	if err != nil {
		return g.a.refuse("%v", err)
	}
	if err := g.deduct(1 / spec.NoiseMultiplier); err != nil {
		return err
	}
	if b := g.a.band; b != nil {
		if err := b.begin(g, spec, grid, std); err != nil {
			return err
		}
	}
	if spec.Sum == nil {
		g.a.note(ledger.ExactNoise)
	} else {
		g.a.note(ledger.RealNoise)
	}
	job := g.a.parallel(spec, l, grid)
	if spec.Device != nil {
		return g.there(job, 1/spec.NoiseMultiplier, std)
	}
	if g.a.run.tap != nil {
		return g.tapped(job, 1/spec.NoiseMultiplier, std, sink)
	}
	job.run(spec.Workers, sink)
	return nil
}

// gridOf returns the grid of a sum, the grid of its fresh noise, and the standard deviation of this
// noise. The two grids differ if noise is correlated: see band.
func (a *Allowance) gridOf(spec Gradient) (grid, fine, std float64) {
	if a.band != nil {
		grid, std = a.band.noise(a.terms, spec)
		return grid, math.Ldexp(grid, -bandBits), std
	}
	grid, std = a.terms.gradientNoise(spec.Sensitivity, spec.NoiseMultiplier, spec.dim())
	return grid, grid, std
}

// dim returns the number of coordinates.
func (s Gradient) dim() int { return max(len(s.Sum), len(s.Units), s.Dim) }

// check reports an invalid combination of Sum, Units and Carry.
func (s Gradient) check() error {
	switch {
	case s.Sum != nil && s.Units != nil || s.Device != nil && (s.Sum != nil || s.Units != nil):
		return errors.New("Gradient: Sum, Units and Device: want one of them")
	case (s.Device == nil) != (s.Dim == 0) || s.Dim < 0:
		return errors.New("Gradient: Dim must be positive with Device, and 0 without")
	case s.Units == nil && (s.Carry != nil || s.Device == nil && s.Unit != 0):
		return errors.New("Gradient: Unit or Carry is set without Units")
	case s.Device != nil && !isPowerOfTwo(s.Unit):
		return errors.New("Gradient: Unit must be a power of two")
	case s.Units != nil && (!isPowerOfTwo(s.Unit) || s.Carry != nil && len(s.Carry) != len(s.Units)):
		return errors.New(
			"Gradient: Unit must be a power of two, and Carry must be nil or of the length of Units")
	}
	return nil
}

// coordinate returns coordinate i of the sum.
func (s Gradient) coordinate(i int) float64 {
	switch {
	case s.Units == nil:
		return float64(s.Sum[i])
	case s.Carry == nil:
		return float64(s.Units[i]) * s.Unit
	}
	return (float64(s.Units[i]) + s.Carry[i]) * s.Unit
}

// gradientNoise chooses the grid and the standard deviation. Rounding the sums of two neighbours to
// the grid can increase their distance by one step in each coordinate. So the noise is scaled to
// a sensitivity that is larger by grid·√dim.
func gradientNoise(sensitivity, noiseMultiplier float64, dim int) (grid, std float64) {
	least := sensitivity * max(min(noiseMultiplier, 1), noiseMultiplier*0x1p-18)
	grid = math.Ldexp(powerBelow(least), -gradientBits)
	return grid, noiseMultiplier * (sensitivity + grid*math.Sqrt(float64(dim)))
}

// gradientNoise is gradientNoise for the event. Rounding can lengthen each of two opposite rows by
// one step in each coordinate, so their distance grows twice as much.
func (t terms) gradientNoise(sensitivity, noiseMultiplier float64, dim int) (grid, std float64) {
	grid, std = gradientNoise(sensitivity, noiseMultiplier, dim)
	if t.opposite {
		std += noiseMultiplier * grid * math.Sqrt(float64(dim))
	}
	return grid, std
}

// told describes a release to a test's tap, with room for its outputs.
func (g *Grant) told(job *parallel, effect, std float64) *entropy.Release {
	dim := job.spec.dim()
	rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: "Gaussian gradient",
		Effect: effect,
		Std:    []float64{std}, Grid: []float64{job.grid}, Inputs: [][]float64{make([]float64, dim)},
		Outputs: [][]float64{make([]float64, dim)}, Inexact: job.spec.Sum != nil}
	in := rel.Inputs[0]
	for i := range in {
		in[i] = sampler.RoundToGrid(job.spec.coordinate(i), job.inverse) * job.grid
	}
	return rel
}

// tapped passes a whole release through a test's tap.
func (g *Grant) tapped(job *parallel, effect, std float64,
	sink func(offset int, noisy []float64)) error {
	rel := g.told(job, effect, std)
	out := rel.Outputs[0]
	job.run(1, func(offset int, noisy []float64) { copy(out[offset:], noisy) })
	if err := g.a.run.tap.Release(rel); err != nil {
		return err
	}
	for lo := 0; lo < len(out); lo += chunk {
		sink(lo, out[lo:min(lo+chunk, len(out))])
	}
	return nil
}
