package sgd

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
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
	// Bands correlates the noise of each step with the noise of the Bands−1 steps before, so that much
	// of it cancels over the steps. Every record is assigned at random to one of Bands groups, which
	// take turns: a step samples from one group, with Bands times the SamplingProbability. 0 and 1
	// mean independent noise. The noise costs memory for Bands−1 gradients. More bands need less noise
	// in the sum of all steps, but a larger part of each group is sampled, which makes a step dearer.
	// So bands help most where ε is large and batches are small. With −1, Calibrate chooses the
	// number for which the noise in the parameters is least, as a mean square over the steps.
	//
	// Clip must be nil, a Normalize, or Groups with a List. A loop that is resumed begins with a new
	// band: the rest of the Bands steps in which it was interrupted is lost.
	Bands int
	// RandomAllocation draws batches by epochs of t = 1/SamplingProbability steps, a whole number.
	// Every record joins exactly one step of each epoch, chosen uniformly and independently of other
	// records. At equal noise this costs a little less than Poisson sampling, the default, and every
	// record is used equally often. Steps must be whole epochs. It has no price under replace-one, and
	// systems that train several networks do not accept it.
	RandomAllocation bool
	// Shuffled is like RandomAllocation, with batches of equal size cut from the shuffled records. It
	// has a price under replace-one only: that of one release with all records in every epoch, since
	// nothing less is proven. So it costs far more than Poisson sampling.
	Shuffled bool
	// Steps is the number of steps that are reserved and taken. The ledger counts Bands steps, or an
	// epoch, as one use, and reserves the last use whole.
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
	c.checkBands(k)
	k.ok(!c.Shuffled || !c.RandomAllocation, "Shuffled", c.Shuffled, "false with RandomAllocation")
	if c.epochs() {
		t := c.perUse()
		whole := math.Abs(c.SamplingProbability*float64(t)-1) < 1e-9 && t <= mostEpochSteps
		k.ok(whole, "SamplingProbability", c.SamplingProbability,
			"1 divided by the whole number of steps of an epoch, at most 2^20")
		k.ok(!whole || c.Steps%t == 0, "Steps", c.Steps, fmt.Sprintf("whole epochs of %d steps", t))
	}
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

// mostEpochSteps is the largest number of steps of an accountant.RandomAllocation.
const mostEpochSteps = 1 << 20

// epochs reports whether batches are drawn by epochs.
func (c Config) epochs() bool { return c.RandomAllocation || c.Shuffled }

// perUse returns the number of steps that one use of the event covers.
func (c Config) perUse() int {
	if !(c.epochs() && c.SamplingProbability > 0 && c.SamplingProbability <= 1) {
		return max(c.Bands, 1)
	}
	return int(min(math.Round(1/c.SamplingProbability), mostEpochSteps+1))
}

// uses returns how often the event is reserved.
func (c Config) uses() int { return (c.Steps + c.perUse() - 1) / c.perUse() }

// Event returns the event of one use: of one step, of Bands steps, or of one epoch if
// RandomAllocation or Shuffled is set. All releases from one batch are one event.
//
// Under AddOrRemoveOne, with multipliers σ₁, σ₂, … on the same batch, the event is the sampled
// Gaussian with multiplier (Σ σᵢ⁻²)^(−1/2). Given the values released so far, each release is a
// Gaussian of a function with sensitivity 1 after rescaling. So the joint release is one Gaussian
// of the stacked vector. It would be wrong to account for separately sampled releases: given the
// first output, a record's probability of being in the batch is no longer q.
//
// Under ReplaceOne every release is a sum of bounded rows of the sampled records, to which an
// absent record adds nothing: clipped gradients, one count in a histogram of norms, or one weight.
// So the event is SampledSum, where release i has rows of norm at most rᵢ standard deviations, and
// the multiplier is (Σ rᵢ²)^(−1/2). This holds although later rows depend on earlier releases.
//
// Proof: let A and B be the likelihood ratios of the releases with the rows of the two records to
// the releases without them. Then δ = E φ(A, B) for φ(A, B) = (1−q+qA − e^ε(1−q+qB))₊, which is
// convex in A and in B and has φ_AB ≤ 0. The last release multiplies A and B by exp(X−½Var X) and
// exp(Y−½Var Y) for normal X and Y. By Gaussian interpolation (Slepian 1962), E φ grows with the
// variances, because φ_AA, φ_BB ≥ 0, and falls with the covariance, because φ_AB ≤ 0. So for all A
// and B the worst rows are opposite and of full norm, Y = −X, and the expectation over this
// release has the two properties of φ again. By induction the worst rows of all releases are
// opposite: the pair of SampledSum.
//
// The rows of two records in a histogram are never opposite, and those of Quantile rarely of equal
// norm. So for large q, PoissonSampled with the multipliers above may cost less: its curve uses the
// replace-one sensitivity only, which the presence of a record does not exceed. The cheaper event
// counts.
func (c Config) Event(r accountant.Relation) accountant.Event {
	if c.Bands > 1 {
		return c.banded(r)
	}
	own := c.clip().multipliers(false)
	if c.epochs() {
		return accountant.RandomAllocation{Steps: c.perUse(),
			NoiseMultiplier: joint(own, c.NoiseMultiplier), Shuffled: c.Shuffled}
	}
	general := accountant.PoissonSampled{Probability: c.SamplingProbability,
		Event: accountant.Gaussian{NoiseMultiplier: joint(own, c.NoiseMultiplier)}}
	if r != accountant.ReplaceOne || c.SamplingProbability == 1 { // at 1, no event costs less
		return general
	}
	sum := accountant.SampledSum{Probability: c.SamplingProbability,
		NoiseMultiplier: joint(c.clip().multipliers(true), 2*c.NoiseMultiplier)}
	if len(own) > 0 && c.cost(general) < c.cost(sum) {
		return general
	}
	return sum
}

// joint returns the multiplier of the gradient together with a policy's own releases.
func joint(own []float64, gradient float64) float64 {
	if len(own) == 0 {
		return gradient
	}
	return accountant.EffectiveMultiplier(append(own, gradient)...)
}

// cost returns ε of the run under replace-one at a usual δ, to compare events.
func (c Config) cost(e accountant.Event) float64 {
	b, err := accountant.Epsilon(accountant.Repeated{Event: e, Count: max(c.Steps, 1)}, 1e-5,
		accountant.ReplaceOne)
	if err != nil {
		return math.Inf(1)
	}
	return b.Upper
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
	if c.Bands == anyBands {
		return c.calibrateBands(b)
	}
	k := c.check()
	k.ok(c.NoiseMultiplier == 0, "NoiseMultiplier", c.NoiseMultiplier, "zero, since Calibrate sets it")
	if err := errors.Join(k.Err(), b.Validate()); err != nil {
		return Config{}, err
	}
	out := c
	sigma, _, err := accountant.CalibrateNoise(b, func(sigma float64) accountant.Event {
		trial := c
		trial.NoiseMultiplier = sigma
		return accountant.Repeated{Event: trial.Event(b.Relation), Count: c.uses()}
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
