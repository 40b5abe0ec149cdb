package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// GaussianMixture is normal noise on a sum to which one record adds a vector of random norm:
// Sensitivities[i] with probability Probabilities[i]. NoiseMultiplier is standard deviation ÷ unit
// of the sensitivities. Source: Choquette-Choo et al. 2024.
type GaussianMixture struct {
	NoiseMultiplier float64   `json:"noise_multiplier"` // standard deviation ÷ unit of Sensitivities
	Sensitivities   []float64 `json:"sensitivities"`
	Probabilities   []float64 `json:"probabilities"`
}

func (e GaussianMixture) check() error {
	errs := []error{positive("accountant.GaussianMixture.NoiseMultiplier", e.NoiseMultiplier)}
	if len(e.Sensitivities) == 0 || len(e.Sensitivities) != len(e.Probabilities) {
		return errors.Join(append(errs, param.New("accountant.GaussianMixture.Sensitivities",
			len(e.Sensitivities), "one for each of Probabilities, and at least one"))...)
	}
	sum := 0.0
	for i, s := range e.Sensitivities {
		if !(s >= 0) || math.IsInf(s, 0) {
			errs = append(errs, param.New(fmt.Sprintf("accountant.GaussianMixture.Sensitivities[%d]", i),
				s, "a finite number, zero or more"))
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

func (GaussianMixture) kind() string { return "gaussian_mixture" }

func (e GaussianMixture) describe() string {
	return fmt.Sprintf("Gaussian release with one of %d sensitivities, noise multiplier %.6g",
		len(e.Sensitivities), e.NoiseMultiplier)
}

func (GaussianMixture) sampling() sampling { return everyRecord() }

func (e GaussianMixture) charge(c *collector, n int) error {
	if c.relation != AddOrRemoveOne {
		return unsupported("a Gaussian with random sensitivity", c.relation)
	}
	return c.push(mixtureAtom{e}, n)
}

func (e GaussianMixture) dpAccounting(Relation) (string, error) {
	return dpCall("MixtureOfGaussiansDpEvent", "standard_deviation", pyFloat(e.NoiseMultiplier),
		"sensitivities", pyList(e.Sensitivities), "sampling_probs", pyList(e.Probabilities)), nil
}

type mixtureAtom struct{ GaussianMixture }

func (a mixtureAtom) key() string { return fmt.Sprintf("mixture %+v", a.GaussianMixture) }

func (a mixtureAtom) mixture() *pld.Mixture {
	return pld.NewMixture(a.NoiseMultiplier, a.Sensitivities, a.Probabilities)
}

func (a mixtureAtom) rdp(order float64) (float64, bool) { return a.mixture().Renyi(order), true }

func (a mixtureAtom) pairs() *pld.Pairs {
	p := a.mixture()
	if p.Constant() {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{1}, 0)}
	}
	return &pld.Pairs{Remove: p, Add: pld.NewMirror(p)}
}
