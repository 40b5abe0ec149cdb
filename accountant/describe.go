package accountant

import (
	"fmt"
	"strings"
)

// Describe describes an event in words.
func Describe(e Event) string {
	switch v := e.(type) {
	case Gaussian:
		return fmt.Sprintf("Gaussian release, noise multiplier %.6g", v.NoiseMultiplier)
	case SameBatch:
		return fmt.Sprintf("joint Gaussian release of %d parts, effective noise multiplier %.6g",
			len(v.NoiseMultipliers), EffectiveMultiplier(v.NoiseMultipliers...))
	case Laplace:
		return fmt.Sprintf("Laplace release, scale %.6g", v.Scale)
	case DiscreteGaussian:
		return fmt.Sprintf("discrete Gaussian release, σ %.6g, sensitivity %d", v.Sigma, v.Sensitivity)
	case DiscreteLaplace:
		return fmt.Sprintf("discrete Laplace release, a %.6g, sensitivity %d", v.A, v.Sensitivity)
	case RandomizedResponse:
		return fmt.Sprintf("randomized response over %d values, noise %.6g", v.Categories, v.Noise)
	case ExponentialMechanism:
		return fmt.Sprintf("exponential mechanism, ε %s", FormatUpper(v.Epsilon, 6))
	case Pure:
		return fmt.Sprintf("%s-differentially private mechanism", FormatUpper(v.Epsilon, 6))
	case Approximate:
		return fmt.Sprintf("(%s, %s)-differentially private mechanism", FormatUpper(v.Epsilon, 6),
			FormatUpper(v.Delta, 3))
	case ZCDP:
		return fmt.Sprintf("%s-zCDP mechanism", FormatUpper(v.Rho, 6))
	case PoissonSampled:
		return fmt.Sprintf("on a Poisson sample at rate %.6g: %s", v.Probability, Describe(v.Event))
	case SampledSum:
		return fmt.Sprintf(
			"on a Poisson sample at rate %.6g: Gaussian release of a clipped sum, standard deviation %.6g "+
				"clip norms", v.Probability, v.NoiseMultiplier)
	case SampledWithoutReplacement:
		return fmt.Sprintf("on a random subset of %d of %d records: %s", v.Sample, v.Population,
			Describe(v.Event))
	case TruncatedPoisson:
		return fmt.Sprintf(
			"on a Poisson sample at rate %.6g of %d records, at most %d: Gaussian release, standard "+
				"deviation %.6g clip norms", v.Probability, v.Population, v.MaxBatch, v.NoiseMultiplier)
	case GaussianMixture:
		return fmt.Sprintf("Gaussian release with one of %d sensitivities, noise multiplier %.6g",
			len(v.Sensitivities), v.NoiseMultiplier)
	case Repeated:
		return fmt.Sprintf("%d × [%s]", v.Count, Describe(v.Event))
	case Composed:
		return describeAll(v.Events, " then ")
	case OneOf:
		return "one of: " + describeAll(v.Events, " | ")
	case Disjoint:
		if v.Fixed {
			return "on disjoint parts that are fixed beforehand: " + describeAll(v.Parts, " | ")
		}
		return "on disjoint parts: " + describeAll(v.Parts, " | ")
	case RepeatAndSelect:
		return fmt.Sprintf("best of about %.4g runs of [%s]", v.Mean, Describe(v.Event))
	case Curve:
		return fmt.Sprintf("mechanism %q, by its curve", v.Name)
	}
	return "unknown event"
}

func describeAll(events []Event, sep string) string {
	const most = 8
	var parts []string
	for i, e := range events {
		if i == most {
			parts = append(parts, fmt.Sprintf("… and %d more", len(events)-most))
			break
		}
		parts = append(parts, Describe(e))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, sep)
}

// samplers adds descriptions of how the event samples records to into.
func samplers(e Event, into map[string]bool) {
	switch v := e.(type) {
	case PoissonSampled:
		into[samplerPoisson] = true
		chosen(v.Event, into)
	case SampledSum:
		into[samplerPoisson] = true
	case SampledWithoutReplacement:
		into[samplerSubset] = true
		chosen(v.Event, into)
	case TruncatedPoisson:
		into[samplerTruncated] = true
	case Repeated:
		samplers(v.Event, into)
	case RepeatAndSelect:
		samplers(v.Event, into)
	case Composed:
		for _, p := range v.Events {
			samplers(p, into)
		}
	case OneOf:
		for _, p := range v.Events {
			samplers(p, into)
		}
	case Disjoint:
		for _, p := range v.Parts {
			samplers(p, into)
		}
	default:
		into[samplerNone] = true
	}
}

// chosen adds the samplers of an event that runs on a sample, but not samplerNone.
func chosen(e Event, into map[string]bool) {
	all := into[samplerNone]
	samplers(e, into)
	into[samplerNone] = all
}

const (
	samplerNone      = "all records (no sampling)"
	samplerPoisson   = "Poisson: each record independently with the stated probability"
	samplerSubset    = "without replacement: a fresh uniform subset of public size each time"
	samplerTruncated = "truncated Poisson: independent inclusion, " +
		"then a random cut to a public maximum"
)
