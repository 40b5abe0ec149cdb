package sgd

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// mostBands bounds the time in which the coefficients are found. anyBands lets Calibrate choose.
const mostBands, anyBands = 256, -1

// calibrateBands returns the calibrated configuration with the number of bands, a power of two,
// that leaves the least noise in the parameters.
func (c Config) calibrateBands(b accountant.Budget) (best Config, err error) {
	least, most := math.Inf(1), min(mostBands, max(c.Steps, 1))
	for c.Bands = 1; c.Bands == 1 || c.Bands <= most && !(c.bandProbability() > 1); c.Bands *= 2 {
		trial, err := c.Calibrate(b)
		if err != nil {
			return Config{}, err
		}
		steps, beta := min(c.Steps, mostBandSteps), c.Optimizer.config.Beta1
		z := trial.NoiseMultiplier
		if noise := z * z * bandNoise(band(c.Bands, steps, beta), steps, beta); noise < least {
			best, least = trial, noise
		}
	}
	return best, nil
}

func (c Config) checkBands(k *checker) {
	k.ok(c.Bands >= 0 && c.Bands <= mostBands, "Bands", c.Bands,
		"a number of steps, at most 256; -1 only for Calibrate")
	if c.Bands <= 1 {
		return
	}
	k.ok(!c.epochs(), "Bands", c.Bands, "0, since the noise of epochs is independent")
	k.ok(c.Bands <= c.Steps, "Bands", c.Bands, "at most Steps")
	k.ok(!(c.bandProbability() > 1), "Bands", c.Bands,
		"a number whose product with SamplingProbability is at most 1")
	fixed := true // the sensitivity is the same in all steps, and nothing else is released
	switch clip := c.Clip.(type) {
	case DPNorm, Quantile:
		fixed = false
	case Groups:
		fixed = len(clip.List) > 0
	}
	k.ok(fixed, "Clip", fmt.Sprintf("%T", c.Clip),
		"nil, Normalize or Groups with a List, since Bands needs the same sensitivity in all steps")
}

func (c Config) bandProbability() float64 { return float64(c.Bands) * c.SamplingProbability }

// banded is Event for correlated noise. NoiseMultiplier is relative to what one participation of a
// record adds to all steps together.
func (c Config) banded(r accountant.Relation) accountant.Event {
	sum := accountant.BandedSum{Probability: c.bandProbability(), NoiseMultiplier: c.NoiseMultiplier,
		Band: band(c.Bands, c.Steps, c.Optimizer.config.Beta1)}
	if r == accountant.ReplaceOne {
		sum.NoiseMultiplier *= 2
	}
	return sum
}

// mostBandSteps is the number of steps for which coefficients of longer runs are chosen.
const mostBandSteps = 4096

// band returns the coefficients of the noise, which are public: the first coefficients of
// (1−x)^−α, rounded to multiples of 2^-12. It chooses the α for which the noise in the parameters
// of gradient descent with momentum beta is least, as a mean square over the steps, for equal
// privacy.
//
// Source: Fichtenberger, Henzinger and Upadhyay, "Constant matters", 2023, and Kalinin and Lampert,
// "Banded square root matrix factorization", 2024, for α = ½ without momentum.
func band(bands, steps int, beta float64) []float64 {
	const tries = 20
	var best []float64
	least := math.Inf(1)
	for i := range tries {
		c := powers(bands, float64(i+1)/tries)
		if noise := bandNoise(c, min(steps, mostBandSteps), beta); noise < least {
			best, least = c, noise
		}
	}
	return best
}

// powers returns the first coefficients of (1−x)^−α.
func powers(n int, alpha float64) []float64 {
	c, exact := make([]float64, n), 1.0
	for j := range c {
		if j > 0 {
			exact *= (float64(j) - 1 + alpha) / float64(j)
		}
		c[j] = math.Round(exact*0x1p12) * 0x1p-12
	}
	return c
}

// bandNoise returns the variance of the noise in the parameters, as a mean over the steps, times
// the square of the sensitivity of a participation.
func bandNoise(c []float64, steps int, beta float64) float64 {
	d := make([]float64, steps) // the inverse of c as a power series
	norm, total, momentum, moved := 0.0, 0.0, 0.0, 0.0
	for _, x := range c {
		norm += x * x
	}
	for t := range d {
		if t == 0 {
			d[t] = 1
		}
		for j := 1; j < len(c) && j <= t; j++ {
			d[t] -= c[j] * d[t-j]
		}
		momentum = beta*momentum + (1-beta)*d[t]
		moved += momentum
		total += moved * moved * float64(steps-t) / float64(steps)
	}
	return total * norm
}
