package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// NoisyArgmax adds Gaussian noise to every count and returns the index of the largest noisy count.
// On a tie it returns the smallest index.
//
// Guarantee: the result is a post-processing of a Gaussian release of the counts (noise class:
// exact). std is the noise's standard deviation in counts. effect is the L2 sensitivity of the
// counts ÷ std; see [HistogramSensitivity]. Errors: [ErrNotCovered], also for an empty list;
// nothing is drawn then.
func (g *Grant) NoisyArgmax(counts []int64, std, effect float64) (int, error) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if len(counts) == 0 {
		return 0, g.a.refuse("an empty list of counts: want at least one count")
	}
	grid := math.Min(math.Ldexp(powerBelow(std), -argmaxBits), 1)
	if !(grid >= finestCount) { // std < MinArgmaxMultiplier
		return 0, g.a.refuse("noise of standard deviation %v on counts: must be at least 2^-24", std)
	}
	l, err := g.a.normal(std, grid)
	if err != nil {
		return 0, g.a.refuse("%v", err)
	}
	if err := g.charge(effect); err != nil {
		return 0, err
	}
	unit := int64(1 / grid)
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	best, most := 0, int64(math.MinInt64)
	for i, c := range counts {
		if noisy := clampCount(c, unit)*unit + l.Draw(bits); noisy > most {
			best, most = i, noisy
		}
	}
	return g.tellArgmax(counts, std, effect, best)
}

// argmaxBits determines the grid of a noisy maximum: it is at least 2^argmaxBits times finer than
// the noise.
const argmaxBits = 16

// finestCount is the finest grid, on which counts up to 2^22 still fit into 64 bits.
const finestCount = 0x1p-40

// clampCount keeps count·unit within half the range of int64. Clamping is 1-Lipschitz, so it does
// not increase the sensitivity.
func clampCount(c, unit int64) int64 {
	limit := int64(1<<62) / unit
	return min(max(c, -limit), limit)
}

func (g *Grant) tellArgmax(counts []int64, std, effect float64, best int) (int, error) {
	tap := g.a.run.tap
	if tap == nil {
		return best, nil
	}
	in := make([]float64, len(counts))
	for i, c := range counts {
		in[i] = float64(c)
	}
	out := []float64{float64(best)}
	err := tap.Release(&entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: "noisy argmax",
		Effect: effect, Std: []float64{std}, Grid: []float64{1}, Inputs: [][]float64{in},
		Outputs: [][]float64{out}})
	return int(out[0]), err
}
