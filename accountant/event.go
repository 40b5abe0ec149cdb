package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/param"
)

// Event describes one use of private records in enough detail to price it. Events are plain values:
// build them as literals, compare them with [EqualEvents], write them with [MarshalEvent].
//
// Every noise multiplier is a noise standard deviation divided by the L2 sensitivity (L1 for
// Laplace and discrete Laplace scales). The sensitivity depends on the relation: a sum of records
// clipped to norm C has sensitivity C under AddOrRemoveOne and 2C under ReplaceOne. The caller
// states the multiplier for the relation in use.
type Event interface {
	// Validate reports every out-of-range parameter as a *param.Error.
	Validate() error
	kind() string
}

// Gaussian is one release with normal noise. Source: Dwork et al. 2006; Balle and Wang 2018 for the
// exact curve.
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ L2 sensitivity
}

// Laplace is one release with Laplace noise.
type Laplace struct {
	Scale float64 `json:"scale"` // b ÷ L1 sensitivity
}

// DiscreteGaussian is one integer release with discrete Gaussian noise. Source: Canonne, Kamath and
// Steinke 2020.
type DiscreteGaussian struct {
	Sigma       float64 `json:"sigma"`       // parameter σ on the integers
	Sensitivity int     `json:"sensitivity"` // largest change of the integer query
}

// DiscreteLaplace is one release of integers with integer noise. The probability of noise x is
// proportional to exp(−A·|x|).
type DiscreteLaplace struct {
	A           float64 `json:"a"`
	Sensitivity int     `json:"sensitivity"` // largest change of the integer query
}

// RandomizedResponse reports one of Categories values. It reports the true value with probability
// 1−Noise+Noise/Categories, and each other value with probability Noise/Categories.
type RandomizedResponse struct {
	Noise      float64 `json:"noise"`
	Categories int     `json:"categories"`
}

// ExponentialMechanism chooses with probability proportional to exp(Epsilon·u/(2Δu)); it is
// Epsilon-differentially private and has bounded range Epsilon. Source: McSherry and Talwar 2007;
// Dong, Durfee and Rogers 2020.
type ExponentialMechanism struct {
	Epsilon float64 `json:"epsilon"`
}

// Pure is any mechanism known to be ε-differentially private. Source of its dominating pair:
// Kairouz, Oh and Viswanath 2015.
type Pure struct {
	Epsilon float64 `json:"epsilon"`
}

// Approximate is any mechanism known to be (ε, δ)-differentially private.
type Approximate struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// ZCDP is any ρ-zero-concentrated differentially private mechanism. Source: Bun and Steinke 2016.
type ZCDP struct {
	Rho float64 `json:"rho"`
}

// PoissonSampled runs Event on a sample that contains each record independently with the given
// probability.
//
// Under ReplaceOne the multipliers of Event must also cover a record that is in the sample of one
// data set only. The presence of a record must move the result by no more than replacing a record
// does. A sum of vectors clipped to norm C meets this condition: replacing a record moves the sum
// by up to 2C, or √2·C if all vectors are non-negative. A sum of values in [10, 11] does not.
type PoissonSampled struct {
	Probability float64 `json:"probability"`
	Event       Event   `json:"event"`
}

// SampledWithoutReplacement runs Event on a fresh uniformly random subset of Sample of the
// Population records (not on shuffled epochs). It is supported only under ReplaceOne, where the
// population's size is public.
type SampledWithoutReplacement struct {
	Population int   `json:"population"`
	Sample     int   `json:"sample"`
	Event      Event `json:"event"`
}

// SampledSum is a Gaussian release of the sum of a Poisson sample. Every record in the sample adds
// a vector of norm at most C, and an absent record adds nothing. NoiseMultiplier is standard
// deviation ÷ C under either relation.
//
// Under AddOrRemoveOne the event is PoissonSampled{Gaussian}. Under ReplaceOne it costs far less
// than PoissonSampled with the same noise. PoissonSampled knows only the replace-one sensitivity.
// It must assume that a record moves the sum by this full amount when it enters the sample.
type SampledSum struct {
	Probability     float64 `json:"probability"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ clip norm
}

// TruncatedPoisson is a Poisson sample cut down at random to at most MaxBatch records, followed by
// a Gaussian release of a sum. NoiseMultiplier is standard deviation ÷ clip norm of one record
// under either relation, because both a leaving and an entering record occur. Source: Ganesh 2025.
//
// The price holds for data of exactly Population records. Under AddOrRemoveOne it also holds for
// the same data without one record. It need not hold for fewer records, because their batch is cut
// down less often. State the event only if the number of records is public.
type TruncatedPoisson struct {
	Probability     float64 `json:"probability"`
	Population      int     `json:"population"`
	MaxBatch        int     `json:"max_batch"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ clip norm
}

// SameBatch is several Gaussian releases computed from one batch, with multipliers fixed
// beforehand. Together they cost one Gaussian of multiplier (Σ σᵢ⁻²)^(−1/2), and inside
// PoissonSampled one subsampled Gaussian. A sum of separately subsampled costs would be too low,
// because the first release changes the probability that a record was in the batch.
type SameBatch struct {
	NoiseMultipliers []float64 `json:"noise_multipliers"`
}

// GaussianMixture is normal noise on a sum to which one record adds a vector of random norm:
// Sensitivities[i] with probability Probabilities[i]. NoiseMultiplier is standard deviation ÷ unit
// of the sensitivities. Source: Choquette-Choo et al. 2024.
type GaussianMixture struct {
	NoiseMultiplier float64   `json:"noise_multiplier"` // standard deviation ÷ unit of Sensitivities
	Sensitivities   []float64 `json:"sensitivities"`
	Probabilities   []float64 `json:"probabilities"`
}

// Repeated is Count adaptive uses of Event.
type Repeated struct {
	Event Event `json:"event"`
	Count int   `json:"count"`
}

// Composed is all Events on the same records, in any order. An empty list releases nothing.
type Composed struct {
	Events []Event `json:"events"`
}

// OneOf is one of Events. The choice may depend on chance and on earlier releases. It must not
// depend on the records in any other way. Each divergence and each δ of a OneOf is priced as the
// largest among Events.
//
// The choice may be released. If chance decides, the hockey-stick curve is a mean over Events, and
// so is exp((λ−1)·D) for the divergence D of each order λ. If earlier releases decide, the curve
// and the divergences are the chosen event's own. The pointwise maximum over Events bounds both
// cases.
type OneOf struct {
	Events []Event `json:"events"`
}

// Disjoint applies Parts[i] to part i of the records. The part of a record is a function of the
// record and of public values, and may also depend on what other events of the composition
// released before. For example, clusters follow from released centres. The price is that of the
// pointwise maximum of the parts' curves, composed with the other events, as for [OneOf].
//
// Fixed says that nothing released decides the part of a record: it is a function of the record
// and of public values alone, such as its class. The price is then that of the most expensive part,
// each composed with the other events. It is lower, and false for any other parts.
//
// If a record's part may change between steps, write Repeated{Disjoint{…}}, so that each step pays
// for its most expensive part; Disjoint{Repeated…} is for parts that do not change once chosen.
//
// Under ReplaceOne a record may also move from one part to another. Moving[i] is the event of part
// i, with multipliers relative to the change that one record causes by joining or leaving the part.
// If Moving is empty, Parts is used instead. This is sound if joining or leaving changes no release
// by more than replacing does.
type Disjoint struct {
	Parts  []Event `json:"parts"`
	Moving []Event `json:"moving,omitempty"`
	Fixed  bool    `json:"fixed,omitempty"`
}

// RepeatAndSelect runs Event a random number of times and releases the best result only. If Poisson
// is set, the number of runs is Poisson with the given Mean, and may be zero. Otherwise it is
// truncated negative binomial with the given Mean and Shape η > −1: η=1 is geometric, η=0
// logarithmic. Source: Papernot and Steinke 2022, Theorems 2 and 6.
//
// The runs are independent given the records. Only the best result is released: the number of runs
// and the other results stay secret. The results may be ranked by any order, with ties broken by
// time.
//
// A truncated negative binomial number of runs may also be redrawn until it is at most a public
// limit; the price covers this. Let f be the generating function of the unlimited number, and f_c
// the generating function of the limited number. Let q and q′ be the probabilities of one event
// under two neighbours. The theorem's proof bounds f′(q)·(f′(q)/f′(q′))^(λ−1). It uses f′(q) ≤
// f′(1) = Mean and an upper bound of f′(q)/f′(q′) that is at least 1. Both bounds also hold for
// f_c:
//
//   - f_c′(q) ≤ f_c′(1), and f_c′(1) is the mean of the limited number, which is at most Mean.
//   - The derivative of log f_c′ at x is the mean of (k−1)/x under the weights k·p_k·x^(k−1).
//     Leaving out the largest k makes this mean smaller. So f_c′(q)/f_c′(q′) is at most
//     f′(q)/f′(q′) if q > q′, and at most 1 otherwise.
type RepeatAndSelect struct {
	Event   Event   `json:"event"`
	Mean    float64 `json:"mean"`
	Shape   float64 `json:"shape"`
	Poisson bool    `json:"poisson,omitempty"`
}

// Curve is a mechanism whose hockey-stick curve is known at finitely many points: Deltas[i]
// ≥ δ(Epsilons[i]). Between the points the curve follows chords in e^ε. This is sound, because the
// true curve is convex in e^ε. Above the last point δ stays at its last value. Deltas is the curve
// for removing a record, and AddDeltas is the curve for adding a record. AddDeltas is empty if both
// directions have the same curve. [Tabulate] builds a Curve.
type Curve struct {
	Name      string    `json:"name"`
	Epsilons  []float64 `json:"epsilons"`
	Deltas    []float64 `json:"deltas"`
	AddDeltas []float64 `json:"add_deltas,omitempty"`
}

func (Gaussian) kind() string                  { return "gaussian" }
func (Laplace) kind() string                   { return "laplace" }
func (DiscreteGaussian) kind() string          { return "discrete_gaussian" }
func (DiscreteLaplace) kind() string           { return "discrete_laplace" }
func (RandomizedResponse) kind() string        { return "randomized_response" }
func (ExponentialMechanism) kind() string      { return "exponential_mechanism" }
func (Pure) kind() string                      { return "pure" }
func (Approximate) kind() string               { return "approximate" }
func (ZCDP) kind() string                      { return "zcdp" }
func (PoissonSampled) kind() string            { return "poisson_sampled" }
func (SampledWithoutReplacement) kind() string { return "sampled_without_replacement" }
func (SampledSum) kind() string                { return "sampled_sum" }
func (TruncatedPoisson) kind() string          { return "truncated_poisson" }
func (SameBatch) kind() string                 { return "same_batch" }
func (GaussianMixture) kind() string           { return "gaussian_mixture" }
func (Repeated) kind() string                  { return "repeated" }
func (Composed) kind() string                  { return "composed" }
func (OneOf) kind() string                     { return "one_of" }
func (Disjoint) kind() string                  { return "disjoint" }
func (RepeatAndSelect) kind() string           { return "repeat_and_select" }
func (Curve) kind() string                     { return "curve" }

// EffectiveMultiplier returns the noise multiplier of several Gaussian releases of the same records
// taken together: (Σ σᵢ⁻²)^(−1/2).
func EffectiveMultiplier(multipliers ...float64) float64 {
	// Scaling by the smallest keeps squares in range for any finite input.
	least := math.Inf(1)
	for _, s := range multipliers {
		least = math.Min(least, s)
	}
	if !(least > 0) || math.IsInf(least, 1) {
		return least
	}
	sum := 0.0
	for _, s := range multipliers {
		r := least / s
		sum += r * r
	}
	return least / math.Sqrt(sum)
}

func positive(path string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return param.New(path, v, "a positive finite number")
	}
	return nil
}

func positiveInt(path string, v int) error {
	if v <= 0 {
		return param.New(path, v, "a positive integer")
	}
	return nil
}

func populationSize(path string, v int) error {
	if v <= 0 || int64(v) > 1<<40 {
		return param.New(path, v, "a positive integer of at most 2^40")
	}
	return nil
}

func probability(path string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return param.New(path, v, "a probability in [0, 1]")
	}
	return nil
}

func inner(path string, e Event) error {
	if e == nil {
		return param.New(path, nil, "an event")
	}
	return e.Validate()
}

// Validate implements Event.
//
// Errors: *param.Error for a noise multiplier that is not positive and finite.
func (e Gaussian) Validate() error {
	return positive("accountant.Gaussian.NoiseMultiplier", e.NoiseMultiplier)
}

// Validate implements Event.
//
// Errors: *param.Error for a scale that is not positive and finite.
func (e Laplace) Validate() error { return positive("accountant.Laplace.Scale", e.Scale) }

// Validate implements Event.
//
// Errors: *param.Error values for a sigma that is not positive and finite and a sensitivity below
// 1.
func (e DiscreteGaussian) Validate() error {
	return errors.Join(positive("accountant.DiscreteGaussian.Sigma", e.Sigma),
		positiveInt("accountant.DiscreteGaussian.Sensitivity", e.Sensitivity))
}

// Validate implements Event.
//
// Errors: *param.Error values for an A that is not positive and finite and a sensitivity below 1.
func (e DiscreteLaplace) Validate() error {
	return errors.Join(positive("accountant.DiscreteLaplace.A", e.A),
		positiveInt("accountant.DiscreteLaplace.Sensitivity", e.Sensitivity))
}

// Validate implements Event.
//
// Errors: *param.Error values for noise outside (0, 1] and fewer than two categories.
func (e RandomizedResponse) Validate() error {
	var errs []error
	if !(e.Noise > 0 && e.Noise <= 1) {
		errs = append(errs,
			param.New("accountant.RandomizedResponse.Noise", e.Noise, "a number in (0, 1]"))
	}
	if e.Categories < 2 {
		errs = append(errs,
			param.New("accountant.RandomizedResponse.Categories", e.Categories, "at least 2"))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error for an epsilon that is not positive and finite.
func (e ExponentialMechanism) Validate() error {
	return positive("accountant.ExponentialMechanism.Epsilon", e.Epsilon)
}

// Validate implements Event.
//
// Errors: *param.Error for an epsilon that is not positive and finite.
func (e Pure) Validate() error { return positive("accountant.Pure.Epsilon", e.Epsilon) }

// Validate implements Event.
//
// Errors: *param.Error values for a negative or infinite epsilon and a delta outside [0, 1).
func (e Approximate) Validate() error {
	var errs []error
	if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 0) {
		errs = append(errs,
			param.New("accountant.Approximate.Epsilon", e.Epsilon, "a finite number, zero or more"))
	}
	if !(e.Delta >= 0 && e.Delta < 1) {
		errs = append(errs, param.New("accountant.Approximate.Delta", e.Delta, "a number in [0, 1)"))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error for a rho that is not positive and finite.
func (e ZCDP) Validate() error { return positive("accountant.ZCDP.Rho", e.Rho) }

// Validate implements Event.
//
// Errors: *param.Error values for a probability out of range and a missing event; the errors of
// the inner event.
func (e PoissonSampled) Validate() error {
	return errors.Join(probability("accountant.PoissonSampled.Probability", e.Probability),
		inner("accountant.PoissonSampled.Event", e.Event))
}

// Validate implements Event.
//
// Errors: *param.Error values for sizes out of range and a missing event; the errors of the
// inner event.
func (e SampledWithoutReplacement) Validate() error {
	var errs []error
	if err := positiveInt("accountant.SampledWithoutReplacement.Population", e.Population); err !=
		nil {
		errs = append(errs, err)
	} else if e.Sample < 1 || e.Sample > e.Population {
		errs = append(errs,
			param.New("accountant.SampledWithoutReplacement.Sample", e.Sample,
				"between 1 and the population"))
	}
	return errors.Join(append(errs, inner("accountant.SampledWithoutReplacement.Event", e.Event))...)
}

// Validate implements Event.
//
// Errors: *param.Error values for parameters out of range.
func (e SampledSum) Validate() error {
	return errors.Join(probability("accountant.SampledSum.Probability", e.Probability),
		positive("accountant.SampledSum.NoiseMultiplier", e.NoiseMultiplier))
}

// Validate implements Event.
//
// Errors: *param.Error values for parameters out of range.
func (e TruncatedPoisson) Validate() error {
	return errors.Join(probability("accountant.TruncatedPoisson.Probability", e.Probability),
		populationSize("accountant.TruncatedPoisson.Population", e.Population),
		positiveInt("accountant.TruncatedPoisson.MaxBatch", e.MaxBatch),
		positive("accountant.TruncatedPoisson.NoiseMultiplier", e.NoiseMultiplier))
}

// Validate implements Event.
//
// Errors: *param.Error values for multipliers that are missing or not positive and finite.
func (e SameBatch) Validate() error {
	if len(e.NoiseMultipliers) == 0 {
		return param.New("accountant.SameBatch.NoiseMultipliers", e.NoiseMultipliers,
			"at least one noise multiplier")
	}
	var errs []error
	for i, s := range e.NoiseMultipliers {
		errs = append(errs, positive(fmt.Sprintf("accountant.SameBatch.NoiseMultipliers[%d]", i), s))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error values for parameters out of range and probabilities whose sum is not 1.
func (e GaussianMixture) Validate() error {
	errs := []error{positive("accountant.GaussianMixture.NoiseMultiplier", e.NoiseMultiplier)}
	if len(e.Sensitivities) == 0 || len(e.Sensitivities) != len(e.Probabilities) {
		return errors.Join(
			append(errs,
				param.New("accountant.GaussianMixture.Sensitivities", len(e.Sensitivities),
					"one for each of Probabilities, and at least one"))...)
	}
	sum := 0.0
	for i, s := range e.Sensitivities {
		if !(s >= 0) || math.IsInf(s, 0) {
			errs = append(errs,
				param.New(fmt.Sprintf("accountant.GaussianMixture.Sensitivities[%d]", i), s,
					"a finite number, zero or more"))
		}
		errs = append(errs,
			probability(fmt.Sprintf("accountant.GaussianMixture.Probabilities[%d]", i), e.Probabilities[i]))
		sum += e.Probabilities[i]
	}
	if !(math.Abs(sum-1) <= 1e-12) {
		errs = append(errs, param.New("accountant.GaussianMixture.Probabilities", sum, "a sum of 1"))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error values for a count below 1 and a missing event; the errors of the
// inner event.
func (e Repeated) Validate() error {
	return errors.Join(inner("accountant.Repeated.Event", e.Event),
		positiveInt("accountant.Repeated.Count", e.Count))
}

// Validate implements Event.
//
// Errors: *param.Error for a missing event; the errors of the inner events.
func (e Composed) Validate() error {
	var errs []error
	for i, p := range e.Events {
		errs = append(errs, inner(fmt.Sprintf("accountant.Composed.Events[%d]", i), p))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error if there are no events or one is missing; the errors of the inner
// events.
func (e OneOf) Validate() error {
	var errs []error
	if len(e.Events) == 0 {
		errs = append(errs, param.New("accountant.OneOf.Events", 0, "at least one event"))
	}
	for i, p := range e.Events {
		errs = append(errs, inner(fmt.Sprintf("accountant.OneOf.Events[%d]", i), p))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error values for missing parts and for Moving of another length; the errors of
// the inner events.
func (e Disjoint) Validate() error {
	var errs []error
	if len(e.Parts) == 0 {
		errs = append(errs, param.New("accountant.Disjoint.Parts", 0, "at least one part"))
	}
	for i, p := range e.Parts {
		errs = append(errs, inner(fmt.Sprintf("accountant.Disjoint.Parts[%d]", i), p))
	}
	if len(e.Moving) != 0 && len(e.Moving) != len(e.Parts) {
		errs = append(errs,
			param.New("accountant.Disjoint.Moving", len(e.Moving), "none, or one for each part"))
	}
	for i, p := range e.Moving {
		errs = append(errs, inner(fmt.Sprintf("accountant.Disjoint.Moving[%d]", i), p))
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error values for parameters out of range and a missing event; the errors of the
// inner event.
func (e RepeatAndSelect) Validate() error {
	errs := []error{inner("accountant.RepeatAndSelect.Event", e.Event),
		positive("accountant.RepeatAndSelect.Mean", e.Mean)}
	if !e.Poisson {
		if e.Mean < 1 {
			errs = append(errs,
				param.New("accountant.RepeatAndSelect.Mean", e.Mean, "at least 1 unless Poisson"))
		}
		if !(e.Shape > -1) || math.IsInf(e.Shape, 0) {
			errs = append(errs,
				param.New("accountant.RepeatAndSelect.Shape", e.Shape, "a finite number above −1"))
		}
	}
	return errors.Join(errs...)
}

// Validate implements Event.
//
// Errors: *param.Error for points that are not a curve: too few, in the wrong order or out of
// range.
func (e Curve) Validate() error {
	n := len(e.Epsilons)
	if n < 2 || len(e.Deltas) != n || (len(e.AddDeltas) != 0 && len(e.AddDeltas) != n) {
		return param.New("accountant.Curve.Epsilons", n, "two points or more and one δ for each")
	}
	for i, x := range e.Epsilons {
		if math.IsNaN(x) || math.Abs(x) > 700 || (i > 0 && !(x > e.Epsilons[i-1])) {
			return param.New(fmt.Sprintf("accountant.Curve.Epsilons[%d]", i), x,
				"increasing numbers within ±700")
		}
	}
	for _, deltas := range [][]float64{e.Deltas, e.AddDeltas} {
		for i, d := range deltas {
			if !(d >= 0 && d <= 1) || (i > 0 && d > deltas[i-1]) {
				return param.New(fmt.Sprintf("accountant.Curve.Deltas[%d]", i), d,
					"probabilities that do not increase")
			}
		}
	}
	return nil
}
