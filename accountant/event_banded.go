package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// BandedSum is a round of len(Band) steps, each of which releases the sum of a Poisson sample with
// Gaussian noise that is correlated with the noise of earlier steps. Each record belongs to one of
// len(Band) groups, independently of all other records. It may only be in the sample of the step
// with its group's number, and is in it with the given probability. The groups are the same in
// every round.
//
// Step t releases X_t = G_t + N_t for the clipped sum G_t and N_t = Z_t − Σ_j c_j·N_{t−j}, where
// the c_j are the Band with c₀ = 1, and the Z_t are independent. So Σ_j c_j·X_{t−j} = Σ_j
// c_j·G_{t−j} + Z_t: all X are a post-processing of Gaussian releases of the sums Σ_j c_j·G_{t−j}.
// NoiseMultiplier is the standard deviation of Z_t, divided by C·√(Σ c_j²) for the clip norm C.
//
// Guarantee: the rounds are an adaptive composition of SampledSum with the same probability and
// multiplier. Proof: a record that is in the sample of step t, with a row g of norm at most C,
// adds c_j·g to the releases t+j for 0 ≤ j < b. Two steps that may sample it are at least b apart,
// so these intervals do not overlap, and each is one Gaussian release of a vector of norm at most
// C·√(Σ c_j²). Given the outputs before t and the samples of all other records, g is fixed, and
// what the other records add to the releases of the interval is a function of earlier outputs.
// Whether the record is sampled at t is independent of everything before. So the interval is a
// sampled Gaussian release, and there is one for each round. Hockey-stick divergences are jointly
// convex, so the bound also holds on average over the groups and the samples of other records. It
// holds for a run that forgets earlier noise at any step: then the intervals end there.
//
// Source: Choquette-Choo et al., "(Amplified) Banded Matrix Factorization", NeurIPS 2023, Theorem
// 4.
type BandedSum struct {
	Probability     float64 `json:"probability"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Band is c₀ = 1, c₁, …: not increasing, and multiples of 2^-12 in [0, 1].
	Band []float64 `json:"band"`
}

// mostBands bounds the memory for the noise of earlier steps.
const mostBands = 1 << 10

func (e BandedSum) check() error {
	errs := []error{e.sum().check()}
	const path = "accountant.BandedSum.Band"
	if len(e.Band) == 0 || len(e.Band) > mostBands || e.Band[0] != 1 {
		return errors.Join(append(errs, param.New(path, fmt.Sprintf("%d numbers", len(e.Band)),
			"1 to 1024 numbers, of which the first is 1"))...)
	}
	for i, c := range e.Band {
		if !(c >= 0 && c <= e.Band[max(i-1, 0)]) || c*0x1p12 != float64(int(c*0x1p12)) {
			errs = append(errs, param.New(fmt.Sprintf("%s[%d]", path, i), c,
				"a multiple of 2^-12, at least 0 and at most the number before"))
		}
	}
	return errors.Join(errs...)
}

// sum returns the event of one round for one record.
func (e BandedSum) sum() SampledSum { return SampledSum{e.Probability, e.NoiseMultiplier} }

func (BandedSum) kind() string { return "banded_sum" }

func (e BandedSum) describe() string {
	return fmt.Sprintf("a round of %d steps with correlated noise: %s", len(e.Band),
		e.sum().describe())
}

func (BandedSum) sampling() sampling { return sampled(samplerCyclic) }

func (e BandedSum) charge(c *collector, n int) error { return e.sum().charge(c, n) }

func (e BandedSum) dpAccounting(r Relation) (string, error) { return e.sum().dpAccounting(r) }
