package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Gradient is one noised sum of clipped per-example gradients.
type Gradient struct {
	Sum             []float32 // what the data says; untouched
	Sensitivity     float64   // L2 sensitivity of Sum under the run's relation: see SumSensitivity
	NoiseMultiplier float64   // of this release alone: noise standard deviation ÷ sensitivity
	Workers         int       // goroutines, at least one; they change neither the noise nor the guarantee
}

// gradientBits is the grid's distance below the sensitivity, or below the noise
// where that is the smaller: 2^-24 to 2^-25 of it.
const gradientBits = 24

// ReleaseGradient adds Gaussian noise to every coordinate of the sum and hands
// the noisy sum to sink, once for each chunk of fixed size, from several
// goroutines at a time; chunks do not overlap. noisy holds the sum's coordinates
// from offset on and is valid during the call only. sink must neither retain it,
// nor draw from the same allowance, nor let anything private but noisy out.
//
// Guarantee: the outputs are exactly a post-processing of the sum plus ideal
// continuous Gaussian noise of NoiseMultiplier times the sensitivity, wherever
// the sum in hand keeps the stated sensitivity. A float32 sum does so up to its
// own rounding only, which is why the noise class is "real". The sum is rounded
// to a public grid; the g·√d by which that can push neighbours apart is charged
// here, by as much more noise. Coordinates that are not numbers count as zero.
//
// The noise of a chunk depends on neither the schedule nor the number of
// workers. Nothing is allocated in steady state.
//
// Errors: [ErrNotCovered] if the squared effects 1/NoiseMultiplier² of the
// grant's releases would exceed its event's Gaussian. Nothing has then been
// drawn and sink has not been called.
func (g *Grant) ReleaseGradient(spec Gradient, sink func(offset int, noisy []float64)) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !(spec.Sensitivity > 0) || math.IsInf(spec.Sensitivity, 0) || !(spec.NoiseMultiplier > 0) {
		return g.a.refuse("a gradient needs a positive sensitivity and noise multiplier")
	}
	grid, std := gradientNoise(spec.Sensitivity, spec.NoiseMultiplier, len(spec.Sum))
	if !isPowerOfTwo(grid) {
		return g.a.refuse("a sensitivity of %v: out of range", spec.Sensitivity)
	}
	l, err := g.a.normal(std, grid)
	if err != nil {
		return g.a.refuse("%v", err)
	}
	if err := g.charge(1 / spec.NoiseMultiplier); err != nil {
		return err
	}
	g.a.note(accountant.RealNoise)
	job := g.a.parallel(spec.Sum, l, grid)
	if g.a.run.tap != nil {
		return g.tapped(job, 1/spec.NoiseMultiplier, std, sink)
	}
	job.run(spec.Workers, sink)
	return nil
}

// gradientNoise chooses the grid and the standard deviation. Rounding both
// neighbours' sums to the grid can push them apart by one step in each
// coordinate, so the noise is scaled for that much more sensitivity: by 2^-24·√d
// of itself or less.
func gradientNoise(sensitivity, noiseMultiplier float64, dim int) (grid, std float64) {
	least := sensitivity * max(min(noiseMultiplier, 1), noiseMultiplier*0x1p-18)
	grid = math.Ldexp(powerBelow(least), -gradientBits)
	return grid, noiseMultiplier * (sensitivity + grid*math.Sqrt(float64(dim)))
}

// tapped shows a whole release to a test's tap and passes on what comes back.
func (g *Grant) tapped(job *parallel, effect, std float64, sink func(offset int, noisy []float64)) error {
	rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: "Gaussian gradient", Effect: effect,
		Std: []float64{std}, Grid: []float64{job.grid}, Inputs: [][]float64{make([]float64, len(job.sum))}, Outputs: [][]float64{make([]float64, len(job.sum))}, Inexact: true}
	in, out := rel.Inputs[0], rel.Outputs[0]
	for i, x := range job.sum {
		in[i] = sampler.RoundToGrid(x, job.inverse) * job.grid
	}
	job.run(1, func(offset int, noisy []float64) { copy(out[offset:], noisy) })
	if err := g.a.run.tap.Release(rel); err != nil {
		return err
	}
	for lo := 0; lo < len(out); lo += chunk {
		sink(lo, out[lo:min(lo+chunk, len(out))])
	}
	return nil
}
