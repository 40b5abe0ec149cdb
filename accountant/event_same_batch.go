package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// SameBatch is several Gaussian releases computed from one batch, with multipliers fixed
// beforehand. Together they cost one Gaussian of multiplier (Σ σᵢ⁻²)^(−1/2), and inside
// PoissonSampled one subsampled Gaussian. A sum of separately subsampled costs would be too low,
// because the first release changes the probability that a record was in the batch.
type SameBatch struct {
	NoiseMultipliers []float64 `json:"noise_multipliers"`
}

func (e SameBatch) check() error {
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

func (SameBatch) kind() string { return "same_batch" }

func (e SameBatch) describe() string {
	return fmt.Sprintf("joint Gaussian release of %d parts, effective noise multiplier %.6g",
		len(e.NoiseMultipliers), EffectiveMultiplier(e.NoiseMultipliers...))
}

func (SameBatch) sampling() sampling { return everyRecord() }

func (e SameBatch) charge(c *collector, n int) error {
	c.gaussian(EffectiveMultiplier(e.NoiseMultipliers...), n)
	return nil
}

func (e SameBatch) dpAccounting(r Relation) (string, error) {
	return dpGaussian(clipNorms(r) * EffectiveMultiplier(e.NoiseMultipliers...)), nil
}
