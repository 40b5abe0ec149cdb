package dpgm

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// sizeBins holds the smallest size of each bin. The size of a record is its number of ones. Each
// small size has its own bin; bins of larger sizes are wider.
type sizeBins []int

func newSizeBins(s records.Schema) sizeBins {
	most := s.Dim()
	if s.Sparse() {
		most = min(most, s.MaxItems())
	}
	var bins sizeBins
	for size := 0; size <= most; size = max(size+1, size*5/4) {
		bins = append(bins, size)
	}
	return bins
}

// of returns the bin of a size. Sizes larger than the schema allows are in the last bin.
func (b sizeBins) of(size int) int {
	at, found := slices.BinarySearch(b, size)
	if found {
		return at
	}
	return at - 1
}

// middle returns the middle of a bin.
func (b sizeBins) middle(bin int) float64 {
	if bin == len(b)-1 {
		return float64(b[bin])
	}
	return float64(b[bin]+b[bin+1]-1) / 2
}

// A tilt is the distribution of the shift that is added to all logits of a record. It is a list of
// equally likely values in ascending order.
type tilt []float64

const (
	tiltPoints = 65  // points of the grid of shifts
	tiltReach  = 4.0 // largest shift; it multiplies odds by 55
	tiltDraws  = 32  // draws from the network from which sizes are computed
	tiltRounds = 3   // rounds, each of which fits shifts and then biases
	tiltLevels = 64  // equally likely values of a tilt
)

// settle fits a trained network to the released marginals, which is post-processing. It alternately
// fits the distribution of shifts to the sizes and the biases to the frequencies, because each
// affects the other. Draws from the network are then steered towards the target.
func (f marginal) settle(be device.Backend, net models.Density, dim int) (tilt, *target) {
	net.(models.MarginalSetter).SetMarginals(f.frequencies, nil)
	var t tilt
	for range tiltRounds {
		t = f.fit(sizesOf(be, net, dim, f.bins, 1, gridShifts()))
		net.(models.MarginalSetter).SetMarginals(f.frequencies, t)
	}
	return t, f.target(sizesOf(be, net, dim, f.bins, keepBlocks, t))
}

// pick returns a random shift.
func (t tilt) pick(rng *rand.Rand) float64 {
	if len(t) == 0 {
		return 0
	}
	return t[rng.IntN(len(t))]
}

// sizesOf returns, for each shift, the distribution over the bins of sizes of the network's
// records. It is computed from blocks of tiltDraws draws.
func sizesOf(be device.Backend, net models.Density, dim int, bins sizeBins, blocks int,
	shifts []float64) [][]float64 {
	mean := be.New(tiltDraws, dim)
	flat := make([]float32, tiltDraws*dim)
	out := make([][]float64, len(shifts))
	for g := range out {
		out[g] = make([]float64, len(bins))
	}
	rng := rand.New(rand.NewPCG(0x74696c74, 1))
	for range blocks {
		net.Sample(rng, mean)
		be.Download(flat, mean)
		for g, shift := range shifts {
			if g > 0 && shift == shifts[g-1] {
				continue
			}
			for i := range tiltDraws {
				m, v := moments(flat[i*dim:(i+1)*dim], shift)
				bins.spread(out[g], m, v, 1/float64(tiltDraws*blocks))
			}
		}
	}
	for g := 1; g < len(out); g++ {
		if shifts[g] == shifts[g-1] {
			copy(out[g], out[g-1])
		}
	}
	return out
}

func gridShifts() []float64 {
	out := make([]float64, tiltPoints)
	for g := range out {
		out[g] = gridShift(g)
	}
	return out
}

func gridShift(g int) float64 { return tiltReach * (2*float64(g)/(tiltPoints-1) - 1) }

// moments returns the mean and the variance of a shifted record's number of ones.
func moments(p []float32, shift float64) (mean, variance float64) {
	odds := math.Exp(shift)
	for _, v := range p {
		q := shifted(float64(v), odds)
		mean += q
		variance += q * (1 - q)
	}
	return mean, variance
}

// shifted multiplies the odds of the probability p by odds and returns the resulting probability.
func shifted(p, odds float64) float64 { return p * odds / (1 + p*(odds-1)) }

// spread adds to dst, with the given weight, an approximate distribution of a sum of independent
// bits. It is the binomial distribution of the same mean and variance, which is close to Poisson if
// every bit is unlikely. Sums beyond the last bin count in the last bin, because records are
// truncated to that size.
func (b sizeBins) spread(dst []float64, mean, variance, weight float64) {
	if !(mean > 0) {
		dst[0] += weight
		return
	}
	p := min(max(1-variance/mean, 1e-9), 1-1e-9) // of a binomial distribution with n trials
	n := mean / p
	last := b[len(b)-1]
	rest, lp, lq := weight, math.Log(p), math.Log1p(-p)
	choose := 0.0 // logarithm of the binomial coefficient
	for size := 0; size < last && float64(size) <= n && rest > 0; size++ {
		if size > 0 {
			choose += math.Log((n - float64(size) + 1) / float64(size))
		}
		mass := weight * math.Exp(choose+float64(size)*lp+(n-float64(size))*lq)
		dst[b.of(size)] += mass
		rest -= mass
	}
	if float64(last) <= n && rest > 0 {
		dst[len(dst)-1] += rest
	}
}

// fit returns the distribution of shifts for which the sizes of records have the released
// distribution. It uses expectation maximisation on the grid of shifts.
func (f marginal) fit(sizes [][]float64) tilt {
	weights := make([]float64, tiltPoints)
	for g := range weights {
		weights[g] = math.Exp(-gridShift(g) * gridShift(g) / 2)
	}
	defaults.NormaliseCounts(weights)
	next := make([]float64, tiltPoints)
	for range 200 {
		clear(next)
		for bin, share := range f.sizes {
			total := 0.0
			for g, w := range weights {
				total += w * sizes[g][bin]
			}
			if total > 1e-12 {
				scale := share / total
				for g, w := range weights {
					next[g] += scale * w * sizes[g][bin]
				}
			}
		}
		defaults.NormaliseCounts(next)
		weights, next = next, weights
	}
	return quantiles(weights)
}

// quantiles approximates a distribution over the grid of shifts by equally likely values.
func quantiles(weights []float64) tilt {
	t := make(tilt, tiltLevels)
	g, upTo := 0, weights[0]
	for i := range t {
		for at := (float64(i) + 0.5) / tiltLevels; upTo < at && g < len(weights)-1; {
			g++
			upTo += weights[g]
		}
		t[i] = gridShift(g)
	}
	return t
}

// apply adds a random shift to the logits of one record, which is given by its probabilities.
func (t tilt) apply(rng *rand.Rand, p []float32) {
	if len(t) == 0 {
		return
	}
	odds := float32(math.Exp(t.pick(rng)))
	for j, v := range p {
		p[j] = v * odds / (1 + v*(odds-1))
	}
}
