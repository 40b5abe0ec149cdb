package kmeans

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
)

// Config describes what is released and with how much noise.
//
// Guarantee: [Config.Event] under the ledger's relation, for all records; every field
// is public.
type Config struct {
	K int `json:"k"` // clusters
	// Centers is the number of centres that the iterations move, K or more; 0 means K. More of them
	// are put into K groups in the end, each a cluster, by what was released: see [Model].Groups.
	Centers    int `json:"centers,omitempty"`
	Iterations int `json:"iterations"` // each is one release
	// fraction of a plan's ε for this stage; plans read it, Fit does not
	Share float64 `json:"share,omitempty"`

	// NoiseMultiplier is that of one iteration's joint release of counts and
	// sums; 1/NoiseMultiplier is its worst-case effect.
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// CountShare is the part of an iteration's squared effect spent on counts,
	// in (0, 1); 0 takes 1/(1+2√d), which makes the noise of centres smallest where
	// they lie at half the clip norm. Under ReplaceOne half is free
	// and is always used.
	CountShare float64 `json:"count_share,omitempty"`

	// ClipNorm is the norm to which features are clipped; 0 takes their own
	// bound. Norm, if set, estimates it from the records instead.
	ClipNorm float64 `json:"clip_norm,omitempty"`
	Norm     *DPNorm `json:"norm,omitempty"`

	Init Init `json:"init"`

	// Small handles a cluster whose noisy count is below Floor records. 0 means three
	// standard deviations of the count's noise, below which a centre is mostly noise.
	Floor float64 `json:"floor,omitempty"`
	Small Small   `json:"small,omitempty"`
	// Shrink reduces the noise of centres by moving them towards their mean.
	Shrink Shrink `json:"shrink,omitempty"`
	// Memory is the weight of earlier releases in a centre, in [0, 1): sums and
	// counts are added to Memory times the total before. It trades speed of
	// convergence for noise: at 0.5 the noise variance is a third.
	Memory float64 `json:"memory,omitempty"`
	// AverageCounts computes the weights from the mean noisy counts of this many last
	// iterations; 0 and 1 mean the last only.
	AverageCounts int `json:"average_counts,omitempty"`
}

// Small determines what happens to a cluster whose noisy count is below the floor.
type Small int

const (
	// KeepCenter keeps its centre.
	KeepCenter Small = iota
	// SplitLargest moves its centre a small random step from that of the largest cluster,
	// which takes the opposite step.
	SplitLargest
)

// defaultCountShare is the split between counts and sums that makes the noise of
// centres smallest where they lie at half the clip norm C.
//
// A centre of norm ρC in d dimensions, from a cluster of n records, has squared
// error (d·s² + ρ²C²·s_c²)/n² for standard deviations s of sums and s_c of
// counts; with 1/s_c² = β/z² and C²/s² = (1−β)/z² this is smallest at
// β = ρ/(ρ+√d). Counts need no more: directions, not lengths, separate clusters.
func defaultCountShare(dim int) float64 { return 1 / (1 + 2*math.Sqrt(float64(dim))) }

// Validate reports every mistake in the configuration.
//
// Errors: *param.Error, joined.
func (c Config) Validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, &param.Error{Path: "kmeans.Config." + field, Value: value, Want: want})
	}
	if c.K < 1 || c.K > maxClusters {
		bad("K", c.K, fmt.Sprintf("an integer in [1, %d]", maxClusters))
	}
	if c.Centers != 0 && (c.Centers < c.K || c.Centers > max(maxMerged, c.K)) {
		bad("Centers", c.Centers,
			fmt.Sprintf("0 for K, or an integer from K to %d, whose pairs are compared", maxMerged))
	}
	if c.Iterations < 1 || c.Iterations > maxIterations {
		bad("Iterations", c.Iterations, fmt.Sprintf("an integer in [1, %d]", maxIterations))
	}
	if !positive(c.NoiseMultiplier) {
		bad("NoiseMultiplier", c.NoiseMultiplier, "a positive finite number")
	}
	if !(c.Share >= 0 && c.Share <= 1) {
		bad("Share", c.Share, "a fraction of the budget in [0, 1]")
	}
	if !(c.CountShare >= 0 && c.CountShare < 1) {
		bad("CountShare", c.CountShare, "a number in [0, 1), 0 for the default")
	}
	if c.ClipNorm != 0 && !isClipNorm(c.ClipNorm) {
		bad("ClipNorm", c.ClipNorm, "a finite number of 2^-60 or more, or 0 for the features' bound")
	}
	if c.ClipNorm != 0 && c.Norm != nil {
		bad("Norm", "set", "either ClipNorm or Norm, not both")
	}
	if !(c.Floor >= 0) || math.IsInf(c.Floor, 0) {
		bad("Floor", c.Floor, "a finite number of records, 0 for the default")
	}
	if c.Small != KeepCenter && c.Small != SplitLargest {
		bad("Small", int(c.Small), "KeepCenter or SplitLargest")
	}
	if c.Shrink != NoShrink && c.Shrink != ShrinkToMean {
		bad("Shrink", int(c.Shrink), "NoShrink or ShrinkToMean")
	}
	if !(c.Memory >= 0 && c.Memory < 1) {
		bad("Memory", c.Memory, "a number in [0, 1)")
	}
	if c.AverageCounts < 0 || c.AverageCounts > max(c.Iterations, 1) {
		bad("AverageCounts", c.AverageCounts, "a number of iterations up to Iterations")
	}
	return errors.Join(append(errs, c.Norm.validate(), c.Init.validate(c.centers()))...)
}

const (
	maxClusters   = 1 << 20
	maxIterations = 1 << 20
	maxMerged     = 1 << 10

	// maxCoordinates bounds the memory for sums of every cluster: 2 GiB per worker.
	maxCoordinates = 1 << 28
)

// centers is how many centres the iterations move.
func (c Config) centers() int { return max(c.Centers, c.K) }

// isClipNorm keeps clipped float32 rows away from subnormal numbers, to which
// they would round up by a large part of themselves and beyond the norm.
func isClipNorm(x float64) bool { return x >= 0x1p-60 && !math.IsInf(x, 1) }

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Event returns the whole fit as one event, which [Fit] reserves and spends. Counts
// and sums are noised according to the relation, so that the multiplier, and
// with it the event, is the same under each.
func (c Config) Event(r accountant.Relation) accountant.Event {
	_ = r // the noise follows the relation, the event does not
	iterations := accountant.Repeated{Event: c.iteration(), Count: c.Iterations}
	if c.Norm == nil {
		return iterations
	}
	return accountant.Composed{Events: []accountant.Event{c.Norm.event(), iterations}}
}

func (c Config) iteration() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: c.NoiseMultiplier}
}

// WithNoise returns the configuration at another noise multiplier. A [DPNorm] whose own
// is zero gets the same.
func (c Config) WithNoise(multiplier float64) Config {
	c.NoiseMultiplier = multiplier
	if c.Norm != nil && c.Norm.NoiseMultiplier == 0 {
		n := *c.Norm
		n.NoiseMultiplier = multiplier
		c.Norm = &n
	}
	return c
}

// Calibrate returns the configuration with the smallest noise at which the
// whole fit stays within the budget.
//
// Errors: *param.Error.
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
