package sgd

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
)

// Config holds everything that the guarantee of a private training run depends on, and
// the optimiser. Sampler, clipping, noise and event all come from this one value.
type Config struct {
	// ClipNorm is C, the norm to which each example's gradient is clipped. It must be zero
	// if Clip is set.
	ClipNorm float64
	// Clip is a clipping policy, used instead of a fixed norm: DPNorm, Quantile, Normalize or Groups.
	// Nil means the fixed ClipNorm.
	Clip Clip
	// SamplingProbability is q, the probability with which each record joins a step's batch,
	// independently of all other records.
	SamplingProbability float64
	// Steps is the number of steps that are reserved and taken.
	Steps int
	// NoiseMultiplier is the noise's standard deviation divided by the L2 sensitivity of the clipped
	// sum under the ledger's relation: ClipNorm under add-or-remove-one, twice that under replace-one.
	// This multiplier is for the gradient. A clipping policy that also releases something has a
	// multiplier of its own.
	//
	// Sums are computed in fixed point, in units of about 2^-17 of the sensitivity. Gradients are
	// clipped to a slightly smaller norm, so that a row rounded to units keeps the norm. The
	// reduction is 0.4 % for 300,000 parameters and grows with the square root of the number of
	// parameters. For the pairs of a Wasserstein critic it is three to four times larger.
	NoiseMultiplier float64
	// Optimizer moves the parameters.
	Optimizer Optimizer
	// NominalBatch divides the noised sum of gradients. It is public, typically q
	// times a public nominal number of records, and never the size of a batch.
	// Adam does not depend on the scale of gradients and needs none; other optimisers
	// require it unless the network states Segments.
	NominalBatch float64
	// MicroBatch is the number of examples held in memory at a time; 0 means 2048, so that Poisson
	// batches around a thousand are rarely split. It does not affect the guarantee. It does not affect
	// the result either, except for rounding on a device without fixed-point sums. With fixed-point
	// sums, at most 4096 examples are held.
	MicroBatch int
}

// The largest micro-batch is limited because its buffers are allocated before the first batch is
// drawn.
const defaultMicroBatch, largestMicroBatch = 2048, 1 << 24

// largestExact is the number of records whose sum always fits into the 31 bits of a fixed-point
// element: a chain of leastChain records needs at most 22 bits.
const largestExact = leastChain << 9

// Validate reports every mistake in the configuration, joined; nil if there is
// none.
//
// Errors: *param.Error values.
func (c Config) Validate() error {
	k := c.check()
	k.multiplier("NoiseMultiplier", c.NoiseMultiplier)
	return k.Err()
}

// check validates everything except the noise multiplier, which Calibrate sets.
func (c Config) check() *checker {
	k := &checker{}
	c.checkClip(k)
	k.ok(c.SamplingProbability > 0 &&
		c.SamplingProbability <= 1, "SamplingProbability", c.SamplingProbability,
		"a probability in (0, 1]")
	k.ok(c.Steps > 0, "Steps", c.Steps, "a positive integer")
	c.Optimizer.check(k)
	k.ok(c.NominalBatch >= 0 &&
		!math.IsInf(c.NominalBatch, 0), "NominalBatch", c.NominalBatch,
		"a positive finite number, or zero for none")
	k.ok(c.MicroBatch >= 0 &&
		c.MicroBatch <= largestMicroBatch, "MicroBatch", c.MicroBatch,
		"a positive integer up to 2^24, or zero for the default")
	return k
}

func (c Config) checkClip(k *checker) {
	if c.Clip == nil {
		k.norm("ClipNorm", c.ClipNorm)
		return
	}
	k.ok(c.ClipNorm == 0, "ClipNorm", c.ClipNorm, "zero, since Clip chooses the norm")
	switch c.Clip.(type) {
	case DPNorm, Quantile, Normalize, Groups:
		c.Clip.check(k, c)
	default: // a pointer, which may be nil or change after validation
		k.ok(false, "Clip", fmt.Sprintf("%T", c.Clip),
			"a DPNorm, Quantile, Normalize or Groups value, not a pointer")
	}
}

// Event returns the event of one step, which is the same under both relations. All releases from
// one Poisson batch are one event. With multipliers σ₁, σ₂, … on the same batch, the event is the
// sampled Gaussian with multiplier (Σ σᵢ⁻²)^(−1/2). Given the values released so far, each release
// is a Gaussian of a function with sensitivity 1 after rescaling. So the joint release is one
// Gaussian of the stacked vector. It would be wrong to account for separately sampled releases:
// given the first output, a record's probability of being in the batch is no longer q.
func (c Config) Event(accountant.Relation) accountant.Event {
	sigma := c.NoiseMultiplier
	if own := c.clip().multipliers(); len(own) > 0 {
		sigma = accountant.EffectiveMultiplier(append(own, sigma)...)
	}
	return accountant.PoissonSampled{Probability: c.SamplingProbability,
		Event: accountant.Gaussian{NoiseMultiplier: sigma}}
}

// clip returns the policy in use.
func (c Config) clip() Clip {
	if c.Clip == nil {
		return fixed(c.ClipNorm)
	}
	return c.Clip
}

// Calibrate returns the configuration with the smallest noise multiplier found for
// which all Steps together cost at most the budget.
//
// Errors: *param.Error for mistakes in the configuration or budget and for a nonzero noise
// multiplier; an error for a budget that no noise can meet. For example, a clipping policy's own
// releases may use up the budget.
func (c Config) Calibrate(b accountant.Budget) (Config, error) {
	k := c.check()
	k.ok(c.NoiseMultiplier == 0, "NoiseMultiplier", c.NoiseMultiplier,
		"zero, since Calibrate sets it")
	if err := errors.Join(k.Err(), b.Validate()); err != nil {
		return Config{}, err
	}
	out := c
	sigma, _, err := accountant.CalibrateNoise(b, func(sigma float64) accountant.Event {
		trial := c
		trial.NoiseMultiplier = sigma
		return accountant.Repeated{Event: trial.Event(b.Relation), Count: c.Steps}
	})
	if err != nil {
		return Config{}, fmt.Errorf("sgd: calibrating the noise multiplier: %w", err)
	}
	out.NoiseMultiplier = sigma
	return out, nil
}

// checker collects mistakes, so that all of them are reported together.
type checker struct{ param.Checker }

func (k *checker) ok(good bool, field string, value any, want string) {
	k.OK(good, "sgd.Config."+field, value, want)
}

func (k *checker) positive(field string, x float64) {
	k.ok(x > 0 && !math.IsInf(x, 0), field, x, "a positive finite number")
}

func (k *checker) multiplier(field string, x float64) {
	k.ok(mechanism.IsNoiseMultiplier(x), field, x, "a positive number, at most 2^24")
}

// least checks the noise multiplier of counts, which have noise of at least one step of their grid.
func (k *checker) least(field string, x, least float64, name string) {
	k.ok(mechanism.IsNoiseMultiplier(x) && x >= least, field, x, "a number in ["+name+", 2^24]")
}

// A clip norm stays in the range where float32 gradients are accurate. Clipped rows near the
// largest float32 add up to infinity. Clipped rows near the smallest float32 are rounded up by a
// large part of their size. In both cases one record moves the sum by more than the norm.
const smallestNorm, largestNorm = 0x1p-60, 0x1p60

func (k *checker) norm(field string, x float64) {
	k.ok(x >= smallestNorm && x <= largestNorm, field, x, "a positive number in [2^-60, 2^60]")
}
