package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Gradient is one noised sum of clipped per-example gradients.
type Gradient struct {
	Sum             []float32 // what the data says; untouched
	Sensitivity     float64   // L2 sensitivity of Sum under the run's relation: see SumSensitivity
	NoiseMultiplier float64   // of this release alone: noise standard deviation ÷ sensitivity
	Workers         int       // goroutines; they change neither the noise nor the guarantee
}

// chunk is how many coordinates one sub-stream serves: fixed, so that the noise
// does not depend on the number of workers.
const chunk = 8192

// gradientBits is the grid's distance below the noise: 2^-24 to 2^-25 of it.
const gradientBits = 24

// sumLimit bounds a coordinate, in grid steps, so that adding noise stays exact
// in float64.
const sumLimit = 1 << 52

type chunked struct {
	lanes []*entropy.Stream
	noisy []float64
}

// ReleaseGradient adds Gaussian noise to the sum and hands it to sink in chunks.
func (g *Grant) ReleaseGradient(spec Gradient, sink func(offset int, noisy []float64)) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !(spec.Sensitivity > 0) || math.IsInf(spec.Sensitivity, 0) || !(spec.NoiseMultiplier > 0) {
		return g.a.refuse("a gradient needs a positive sensitivity and noise multiplier")
	}
	grid, std := gradientNoise(spec.Sensitivity, spec.NoiseMultiplier, len(spec.Sum))
	l, err := newLattice(std, grid)
	if err != nil {
		return g.a.refuse("%v", err)
	}
	if err := g.charge(1 / spec.NoiseMultiplier); err != nil {
		return err
	}
	in := make([]float64, len(spec.Sum))
	out := make([]float64, len(spec.Sum))
	bits := g.a.stream()
	for i, x := range spec.Sum {
		v := gradientStep(x, 1/grid)
		n := min(max(l.draw(bits), -sumLimit), sumLimit)
		in[i], out[i] = float64(v)*grid, float64(v+n)*grid
	}
	if tap := g.a.run.tap; tap != nil {
		rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: "Gaussian gradient", Effect: 1 / spec.NoiseMultiplier,
			Std: []float64{std}, Inputs: [][]float64{in}, Outputs: [][]float64{out}, Inexact: true}
		if err := tap.Release(rel); err != nil {
			return err
		}
	}
	for lo := 0; lo < len(out); lo += chunk {
		sink(lo, out[lo:min(lo+chunk, len(out))])
	}
	return nil
}

// gradientNoise chooses the grid and the standard deviation. Rounding both
// neighbours' sums to the grid can push them apart by one step in each
// coordinate, so the noise is scaled for that much more sensitivity.
func gradientNoise(sensitivity, noiseMultiplier float64, dim int) (grid, std float64) {
	grid = math.Ldexp(powerBelow(sensitivity*noiseMultiplier), -gradientBits)
	return grid, noiseMultiplier * (sensitivity + grid*math.Sqrt(float64(dim)))
}

// gradientStep rounds to the grid by ⌊x+½⌋ and clamps to the public limit; what
// is not a number counts as zero.
func gradientStep(x float32, inverse float64) int64 {
	v := math.Floor(float64(x)*inverse + 0.5)
	switch {
	case v >= sumLimit:
		return sumLimit
	case v <= -sumLimit:
		return -sumLimit
	case v != v:
		return 0
	}
	return int64(v)
}
