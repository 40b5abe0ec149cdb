package kmeans

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Config describes a fit: its releases and their noise. Every field is public.
//
// Guarantee: [Config.Event] under the ledger's relation.
type Config struct {
	K int `json:"k"` // number of clusters
	// Centers is the number of centres in the iterations, K or more; 0 means K. If there are more than
	// K centres, they are merged into K clusters after the last iteration. Merging uses released
	// numbers only. See [Model].Groups.
	Centers int `json:"centers,omitempty"`
	// Merge is the number of iterations after which the centres are merged into K means. The later
	// iterations move these means, so the result has K centres. Centres that started in the same
	// cluster are usually merged. A Merge of 0 merges after the last iteration.
	Merge      int `json:"merge,omitempty"`
	Iterations int `json:"iterations"` // number of iterations, each of which is one release
	// Share is the fraction of a plan's ε for this stage. Plans use it; Fit does not.
	Share float64 `json:"share,omitempty"`

	// NoiseMultiplier is the noise multiplier of one iteration's joint release of counts and sums. The
	// release has a worst-case effect of 1/NoiseMultiplier.
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// CountShare is the fraction, in (0, 1), of an iteration's squared effect that counts use. 0
	// means 1/(1+2√d). This value minimises the noise of centres whose norm is half the clip norm.
	// Under ReplaceOne, a fraction of one half does not increase the noise on sums, so smaller
	// values are raised to one half.
	CountShare float64 `json:"count_share,omitempty"`

	// ClipNorm is the norm to which features are clipped; 0 means Features.NormBound. If Norm is set,
	// ClipNorm must be 0, and the clip norm is estimated from the records.
	ClipNorm float64 `json:"clip_norm,omitempty"`
	Norm     *DPNorm `json:"norm,omitempty"`

	Init Init `json:"init"`

	// Small determines what happens to a cluster whose noisy count is below three standard deviations
	// of its noise. The centre of such a cluster would be mostly noise.
	Small Small `json:"small,omitempty"`
	// Shrink reduces the noise of centres by moving them towards their mean.
	Shrink Shrink `json:"shrink,omitempty"`
	// Memory is the weight, in [0, 1), of earlier releases in a centre. The sums and counts of each
	// release are added to Memory times the previous totals. A larger Memory reduces noise but slows
	// convergence. At 0.5 the noise variance is a third of the variance without memory.
	Memory float64 `json:"memory,omitempty"`
}

// Small determines what happens to a cluster whose noisy count is below the floor.
type Small int

const (
	// KeepCenter leaves the cluster's centre where it is.
	KeepCenter Small = iota
	// SplitLargest divides the largest cluster. Its centre and the small cluster's centre move to two
	// points on opposite sides of its old centre, a small random step away.
	SplitLargest
)

// defaultCountShare returns the fraction for counts that minimises the noise of centres. It assumes
// that the norm of the centres is half the clip norm C.
//
// Let s and s_c be the standard deviations of the noise on sums and counts. A centre of norm ρC in
// d dimensions, of a cluster of n records, has squared error (d·s² + ρ²C²·s_c²)/n². With 1/s_c² =
// β/z² and C²/s² = (1−β)/z² this is smallest at β = ρ/(ρ+√d). A larger fraction is unnecessary,
// because clusters differ by the directions of their centres and not by their norms.
func defaultCountShare(dim int) float64 { return 1 / (1 + 2*math.Sqrt(float64(dim))) }

// Validate reports every mistake in the configuration.
//
// Errors: *param.Error, joined.
func (c Config) Validate() error {
	const path = "kmeans.Config."
	var k param.Checker
	k.OK(c.K >= 1 && c.K <= maxClusters, path+"K", c.K,
		fmt.Sprintf("an integer in [1, %d]", maxClusters))
	k.OK(c.Centers == 0 || c.Centers >= c.K && c.Centers <= max(maxMerged, c.K), path+"Centers",
		c.Centers, fmt.Sprintf("an integer from K to %d, or 0 for K", maxMerged))
	k.OK(c.Merge == 0 || c.Centers > c.K && c.Merge > 0 && c.Merge < c.Iterations, path+"Merge",
		c.Merge, "an integer below Iterations, with more Centers than K, or 0")
	k.OK(c.Iterations >= 1 && c.Iterations <= maxIterations, path+"Iterations", c.Iterations,
		fmt.Sprintf("an integer in [1, %d]", maxIterations))
	k.OK(mechanism.IsNoiseMultiplier(c.NoiseMultiplier), path+"NoiseMultiplier", c.NoiseMultiplier,
		"a positive number, at most 2^24")
	k.OK(c.Share >= 0 && c.Share <= 1, path+"Share", c.Share, "a fraction of the budget in [0, 1]")
	k.OK(c.CountShare >= 0 && c.CountShare < 1, path+"CountShare", c.CountShare,
		"a number in (0, 1), or 0 for the default")
	k.OK(c.ClipNorm == 0 || mechanism.IsClipNorm(c.ClipNorm), path+"ClipNorm", c.ClipNorm,
		"a number in [2^-60, 2^100], or 0 for the features' bound")
	k.OK(c.ClipNorm == 0 || c.Norm == nil, path+"Norm", "set", "nil, because ClipNorm is set")
	k.OK(smallNames.Known(c.Small), path+"Small", int(c.Small), "KeepCenter or SplitLargest")
	k.OK(shrinkNames.Known(c.Shrink), path+"Shrink", int(c.Shrink), "NoShrink or ShrinkToMean")
	k.OK(c.Memory >= 0 && c.Memory < 1, path+"Memory", c.Memory, "a number in [0, 1)")
	c.Norm.validate(&k)
	c.Init.validate(&k, c.centers())
	return k.Err()
}

const (
	maxClusters   = 1 << 20
	maxIterations = 1 << 20
	maxMerged     = 1 << 10

	// maxCoordinates limits the memory for the sums of all clusters to 2 GiB per worker.
	maxCoordinates = 1 << 28
)

// centers returns the number of centres in the iterations.
func (c Config) centers() int { return max(c.Centers, c.K) }

// largestNorm is the largest norm for which mechanism.IsClipNorm is true.
const largestNorm = 0x1p100

// Event returns the event of a whole fit, which [Fit] reserves and spends. The event is the same
// under both relations, because Fit chooses the noise on counts and sums by the relation.
func (c Config) Event(r accountant.Relation) accountant.Event {
	_ = r // only the noise depends on the relation
	iterations := accountant.Repeated{Event: c.iteration(), Count: c.Iterations}
	if c.Norm == nil {
		return iterations
	}
	return accountant.Composed{Events: []accountant.Event{c.Norm.event(), iterations}}
}

func (c Config) iteration() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: c.NoiseMultiplier}
}

// WithNoise returns the configuration with another noise multiplier. If the [DPNorm] has no noise
// multiplier, it gets the same one.
func (c Config) WithNoise(multiplier float64) Config {
	c.NoiseMultiplier = multiplier
	if c.Norm != nil && c.Norm.NoiseMultiplier == 0 {
		n := *c.Norm
		n.NoiseMultiplier = multiplier
		c.Norm = &n
	}
	return c
}

// Calibrate returns the configuration with the smallest noise multiplier for which the whole fit is
// within the budget.
//
// Errors: *param.Error for an invalid configuration or budget; the errors of
// accountant.CalibrateNoise.
func (c Config) Calibrate(b accountant.Budget) (Config, error) {
	if err := errors.Join(b.Validate(), c.WithNoise(1).Validate()); err != nil {
		return c, err
	}
	sigma, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return c.WithNoise(z).Event(b.Relation)
	})
	if err != nil {
		return c, err
	}
	return c.WithNoise(sigma), nil
}
