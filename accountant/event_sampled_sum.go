package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

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

func (e SampledSum) check() error {
	return errors.Join(probability("accountant.SampledSum.Probability", e.Probability),
		positive("accountant.SampledSum.NoiseMultiplier", e.NoiseMultiplier))
}

func (SampledSum) kind() string { return "sampled_sum" }

func (e SampledSum) describe() string {
	return fmt.Sprintf(
		"on a Poisson sample at rate %.6g: Gaussian release of a clipped sum, standard deviation %.6g "+
			"clip norms", e.Probability, e.NoiseMultiplier)
}

func (SampledSum) sampling() sampling { return sampled(samplerPoisson) }

func (e SampledSum) charge(c *collector, n int) error {
	switch {
	case e.Probability == 0:
		return nil
	case e.Probability == 1 && c.relation == ReplaceOne:
		return c.add(Gaussian{e.NoiseMultiplier / 2}, n)
	case c.relation == ReplaceOne:
		q, mu := sampledEffect(e.Probability, 1/e.NoiseMultiplier)
		if q == 1 {
			return c.add(Gaussian{e.NoiseMultiplier / 2}, n)
		}
		return c.push(oppositeAtom{q, mu}, n)
	}
	return c.poisson(PoissonSampled{e.Probability, Gaussian{e.NoiseMultiplier}}, n)
}

func (e SampledSum) dpAccounting(Relation) (string, error) {
	return dpSampled(e.Probability, dpGaussian(e.NoiseMultiplier)), nil
}

type oppositeAtom struct{ q, mu float64 }

func (a oppositeAtom) key() string { return fmt.Sprintf("opposite %b %b", a.q, a.mu) }

func (a oppositeAtom) rdp(order float64) (float64, bool) {
	return pld.OppositeRenyi(a.q, a.mu, order), true
}

func (a oppositeAtom) pairs() *pld.Pairs {
	return loosely(&pld.Pairs{Remove: pld.Opposite{Q: a.q, Mu: a.mu}}, a.mu)
}
