package mechanism

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/accountant"
)

// A band correlates the noise of an allowance's gradients, for the event accountant.BandedSum.
//
// The noise of step t is N_t = ⌊Z_t − Σ_j c_j·N_{t−j}⌉, rounded to the grid g of the sums. Z_t is
// on the finer grid g/2^bandBits, on which the products of noise and coefficients lie as well. So
// for sums G_t on g, the outputs are X_t = G_t + N_t = ⌊Y_t − Σ_j c_j·X_{t−j}⌉, where the sum
// starts at j = 1, Y_t = Σ_j c_j·G_{t−j} + Z_t starts at j = 0, and all numbers are exact. The
// outputs are thus exactly a post-processing of the Y_t, which are Gaussian releases rounded to
// g/2^bandBits.
//
// The noise of earlier steps together with their outputs reveals private sums, so it stays in
// memory. A run that is resumed has a new band, and begins with a new round.
type band struct {
	coefficients []float64 // c₁, c₂, …, each times 2^bandBits
	norm         float64   // √(Σ c_j²), rounded up

	// The caller holds the allowance's mu.
	past [][]int32 // noise of step s is past[s % len(past)], in steps of the grid
	last int       // the step that was released last; 0 for none
	spec Gradient  // of the first release, without its sum
	dim  int
	far  atomic.Bool  // whether noise was too large to be kept
	kept atomic.Int64 // coordinates whose noise of the last step is in past
}

// bandBits is the number of bits of coefficients. It equals that of accountant.BandedSum.
const bandBits = 12

// newBand returns nil for other events.
func newBand(e accountant.Event) *band {
	sum, ok := e.(accountant.BandedSum)
	if !ok {
		return nil
	}
	b, total := new(band), 0.0
	for i, c := range sum.Band {
		total += c * c // exact
		if i > 0 {
			b.coefficients = append(b.coefficients, math.Ldexp(c, bandBits))
		}
	}
	b.norm = up(math.Sqrt(total))
	return b
}

// begin checks that the release is one that the proof covers, and moves on to its step. The band
// starts again after a step without a release, and after one that a panic of its sink ended: past
// then has older noise in the place of some of the last.
func (b *band) begin(g *Grant, spec Gradient, grid, std float64) error {
	dim := spec.dim()
	spec.Sum, spec.Units, spec.Carry, spec.Share, spec.Workers, spec.Unit = nil, nil, nil, nil, 0, 0
	switch same := spec.Sensitivity == b.spec.Sensitivity &&
		spec.NoiseMultiplier == b.spec.NoiseMultiplier && dim == b.dim; {
	case b.far.Load():
		return errFar
	case b.last == 0:
		std *= b.growth(min(g.a.Remaining()+1, growthSteps))
		if steps := std / grid; !(steps <= mostSteps) {
			return g.a.refuse("correlated noise grows to %v steps of the grid: want at most 2^27", steps)
		}
		b.spec, b.dim, b.past = spec, dim, make([][]int32, len(b.coefficients))
		for i := range b.past {
			b.past[i] = make([]int32, dim)
		}
	case !same:
		return g.a.refuse("a sum of another sensitivity, noise multiplier or length than before")
	case g.turn <= b.last:
		return g.a.refuse("a release for a step that has one, or that is over")
	case g.turn > b.last+1 || b.kept.Load() != int64(dim):
		for _, noise := range b.past {
			clear(noise)
		}
	}
	b.last = g.turn
	b.kept.Store(0)
	return nil
}

// The grid is such that the fresh noise has a standard deviation of 2^(bandSteps−1) steps or more.
// Noise is kept in 31 bits, and its standard deviation is at most mostSteps in the first
// growthSteps steps. So no noise of less than 16 standard deviations is too large. After larger
// noise, whose probability does not depend on the records, a band ends.
const bandSteps, mostSteps, growthSteps = 22, 1 << 27, 1 << 14

var errFar = errors.New("mechanism: correlated noise above 16 standard deviations")

// growth returns the standard deviation of the noise after a number of steps, divided by that of
// its fresh part.
func (b *band) growth(steps int) float64 {
	d, total := make([]float64, steps), 0.0
	for t := range d {
		if t == 0 {
			d[t] = 1
		}
		for j, c := range b.coefficients[:min(t, len(b.coefficients))] {
			d[t] -= math.Ldexp(c, -bandBits) * d[t-1-j]
		}
		total += d[t] * d[t]
	}
	return math.Sqrt(total)
}

// noise returns the grid of the sums and the standard deviation of the fresh noise.
func (b *band) noise(t terms, spec Gradient) (grid, std float64) {
	root := math.Sqrt(float64(spec.dim()))
	if t.opposite {
		root *= 2 // see terms.gradientNoise
	}
	std = spec.NoiseMultiplier * spec.Sensitivity * b.norm
	grid = math.Ldexp(powerBelow(std), 1-bandSteps)
	return grid, std + spec.NoiseMultiplier*b.norm*grid*root
}

// correlate turns fresh noise of the coordinates from lo on, in steps of the finer grid, into the
// noise of the last step that has begun, in steps of the grid.
func (b *band) correlate(noisy []float64, lo int) {
	hi, n := lo+len(noisy), len(b.past)
	for j, c := range b.coefficients[:min(b.last-1, n)] {
		for i, past := range b.past[(b.last-1-j+n)%n][lo:hi] {
			noisy[i] -= c * float64(past)
		}
	}
	for i, v := range noisy {
		noisy[i] = math.Floor(v*(1.0/(1<<bandBits)) + 0.5) // exact
	}
	if n == 0 {
		return
	}
	past := b.past[b.last%n][lo:hi]
	for i, v := range noisy {
		if !(math.Abs(v) <= math.MaxInt32) {
			b.far.Store(true)
		}
		past[i] = int32(v)
	}
	b.kept.Add(int64(len(noisy)))
}
