package sgd

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// DPNorm chooses the clip norm of every step privately. It adds noise to a histogram of the batch's
// gradient norms. The upper edge of the bin with the largest noisy count is the clip norm. The
// histogram and the gradient come from one batch and are accounted for as one event.
//
// With MinNorm zero the bins are equal bins on (0, MaxNorm], as in the source. With a positive
// MinNorm the edges grow geometrically from MinNorm to MaxNorm. Such edges suit networks whose
// norms span orders of magnitude. Norms above MaxNorm count in the last bin, and norms that are not
// finite count in the first bin: see [mechanism.NormHistogram].
//
// Source: Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private Mixture of
// Generative Neural Networks", TKDE 2019, algorithms 3 and 4. Section 6.1 has 100 bins up to 10,
// and σ_C = 4.
type DPNorm struct {
	MaxNorm float64 `json:"max_norm"` // C_max, the largest clip norm
	MinNorm float64 `json:"min_norm,omitempty"`
	Bins    int     `json:"bins"` // w
	// NoiseMultiplier is σ_C: the standard deviation of each count's noise divided
	// by the histogram's sensitivity, 1 under add-or-remove-one and √2 under
	// replace-one.
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// maxBins bounds the memory that a configuration file can request.
const maxBins = 1 << 20

func (d DPNorm) check(k *checker, _ Config) {
	k.norm("Clip.MaxNorm", d.MaxNorm)
	k.ok(d.MinNorm == 0 || d.MinNorm >= smallestNorm &&
		d.MinNorm < d.MaxNorm, "Clip.MinNorm", d.MinNorm,
		"zero, or a number of 2^-60 or more below MaxNorm")
	k.ok(d.Bins > 0 &&
		d.Bins <= maxBins, "Clip.Bins", d.Bins, "a positive number of bins, at most 2^20")
	k.ok(d.MinNorm == 0 || d.Bins > 1, "Clip.Bins", d.Bins, "at least two geometric bins")
	if narrowest := d.MaxNorm / float64(d.Bins); d.MinNorm == 0 && d.MaxNorm >= smallestNorm &&
		d.Bins > 0 && d.Bins <= maxBins {
		k.ok(narrowest >= smallestNorm, "Clip.Bins", d.Bins, "bins of width 2^-60 or more")
	}
	k.least("Clip.NoiseMultiplier", d.NoiseMultiplier, mechanism.MinArgmaxMultiplier, "2^-24")
}

func (d DPNorm) multipliers(rows bool) []float64 {
	if rows {
		return []float64{d.NoiseMultiplier * mechanism.HistogramSensitivity(accountant.ReplaceOne)}
	}
	return []float64{d.NoiseMultiplier}
}

func (d DPNorm) start(accountant.Relation, float64) clipper {
	bins, err := mechanism.NewNormHistogram(d.MinNorm, d.MaxNorm, d.Bins)
	return &normChoice{bins: bins, err: err, noiseMultiplier: d.NoiseMultiplier}
}

// normChoice is the state of DPNorm during training.
type normChoice struct {
	bins            *mechanism.NormHistogram
	err             error // error of NewNormHistogram; always nil after check
	noiseMultiplier float64
	chosen          float64
}

func (c *normChoice) wantsNorms() bool { return true }

// choose counts every example of the batch once and releases the clip norm.
func (c *normChoice) choose(g *mechanism.Grant, squaredNorms []float64) error {
	if c.err != nil {
		return c.err
	}
	c.bins.Reset()
	for _, s := range squaredNorms {
		c.bins.Add(s)
	}
	var err error
	c.chosen, err = c.bins.Release(g, c.noiseMultiplier)
	return err
}

func (c *normChoice) bound() float64 { return c.chosen }
func (c *normChoice) factor(squaredNorm float64) float64 {
	return mechanism.ClipFactor(squaredNorm, c.chosen)
}
func (c *normChoice) finish(*mechanism.Grant) error { return nil }
