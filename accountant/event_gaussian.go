package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// Gaussian is one release with normal noise. Source: Dwork et al. 2006; Balle and Wang 2018 for the
// exact curve.
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ L2 sensitivity
}

func (e Gaussian) check() error {
	return positive("accountant.Gaussian.NoiseMultiplier", e.NoiseMultiplier)
}

func (Gaussian) kind() string { return "gaussian" }

func (e Gaussian) describe() string {
	return fmt.Sprintf("Gaussian release, noise multiplier %.6g", e.NoiseMultiplier)
}

func (Gaussian) sampling() sampling { return everyRecord() }

func (e Gaussian) charge(c *collector, n int) error {
	c.gaussian(e.NoiseMultiplier, n)
	return nil
}

func (e Gaussian) dpAccounting(r Relation) (string, error) {
	return dpGaussian(clipNorms(r) * e.NoiseMultiplier), nil
}

// gaussianAtom is N(μ,1) against N(0,1): the same for both directions and under both relations.
type gaussianAtom struct{ mu float64 }

func (a gaussianAtom) key() string { return fmt.Sprintf("gaussian %b", a.mu) }

func (a gaussianAtom) rdp(order float64) (float64, bool) {
	return order * a.mu * a.mu / 2 * (1 + 8*ulp), true
}

func (a gaussianAtom) pairs() *pld.Pairs { return &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}} }
