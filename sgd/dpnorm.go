package sgd

import (
	"math"
	"sort"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// DPNorm chooses the clip norm of every step privately: a histogram of the
// batch's gradient norms is noised and the upper edge of its fullest bin is the
// clip norm. Histogram and gradient come from one batch and are one event.
//
// With MinNorm zero the bins are the source's equal ones on (0, MaxNorm]; with a
// positive MinNorm their edges grow geometrically from it to MaxNorm, which
// covers networks whose norms span orders of magnitude. Norms above MaxNorm count
// in the last bin.
//
// Source: Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private
// Mixture of Generative Neural Networks", TKDE 2019, algorithms 3 and 4.
type DPNorm struct {
	MaxNorm float64 `json:"max_norm"` // C_max, the largest clip norm
	MinNorm float64 `json:"min_norm,omitempty"`
	Bins    int     `json:"bins"` // w
	// NoiseMultiplier is σ_C: the standard deviation of each count's noise divided
	// by the histogram's sensitivity, 1 under add-or-remove-one and √2 under
	// replace-one.
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// PaperDPNorm is the setting of the source's section 6.1: 100 bins up to 10, σ_C = 4.
func PaperDPNorm() DPNorm { return DPNorm{MaxNorm: 10, Bins: 100, NoiseMultiplier: 4} }

// maxBins keeps a configuration file from asking for absurd memory.
const maxBins = 1 << 20

func (d DPNorm) check(k *checker, _ Config) {
	k.norm("Clip.MaxNorm", d.MaxNorm)
	k.ok(d.MinNorm == 0 || d.MinNorm >= smallestNorm && d.MinNorm < d.MaxNorm, "Clip.MinNorm", d.MinNorm, "zero, or a number of 2^-60 or more below MaxNorm")
	k.ok(d.Bins > 0 && d.Bins <= maxBins, "Clip.Bins", d.Bins, "a positive number of bins, at most 2^20")
	k.ok(d.MinNorm == 0 || d.Bins > 1, "Clip.Bins", d.Bins, "at least two geometric bins")
	if narrowest := d.MaxNorm / float64(d.Bins); d.MinNorm == 0 && d.MaxNorm >= smallestNorm && d.Bins > 0 {
		k.ok(narrowest >= smallestNorm, "Clip.Bins", d.Bins, "bins of width 2^-60 or more")
	}
	k.positive("Clip.NoiseMultiplier", d.NoiseMultiplier)
}

func (d DPNorm) multipliers() []float64 { return []float64{d.NoiseMultiplier} }

func (d DPNorm) start(r accountant.Relation, _ float64) clipper {
	return &normHistogram{edges: d.edges(), counts: make([]int64, d.Bins),
		std: d.NoiseMultiplier * mechanism.HistogramSensitivity(r), effect: 1 / d.NoiseMultiplier}
}

// edges are the upper edges of the bins.
func (d DPNorm) edges() []float64 {
	edges := make([]float64, d.Bins)
	for j := range edges {
		if d.MinNorm > 0 {
			edges[j] = d.MinNorm * math.Pow(d.MaxNorm/d.MinNorm, float64(j)/float64(d.Bins-1))
		} else {
			edges[j] = d.MaxNorm * float64(j+1) / float64(d.Bins)
		}
	}
	edges[len(edges)-1] = d.MaxNorm
	return edges
}

type normHistogram struct {
	edges       []float64
	counts      []int64
	std, effect float64
	chosen      float64
}

func (h *normHistogram) wantsNorms() bool { return true }

// choose fills the histogram, in which every example counts exactly once
// (sensitivity 1, or √2 if it may move), and releases the fullest bin.
func (h *normHistogram) choose(g *mechanism.Grant, squaredNorms []float64) error {
	clear(h.counts)
	for _, s := range squaredNorms {
		h.counts[h.bin(s)]++
	}
	j, err := g.NoisyArgmax(h.counts, h.std, h.effect)
	if err != nil {
		return err
	}
	h.chosen = h.edges[j]
	return nil
}

// bin is the first bin whose upper edge reaches the norm, the last one for norms
// beyond it and for those that are not finite.
func (h *normHistogram) bin(squaredNorm float64) int {
	norm := math.Sqrt(squaredNorm)
	j := sort.Search(len(h.edges)-1, func(j int) bool { return norm <= h.edges[j] })
	return j
}

func (h *normHistogram) bound() float64 { return h.chosen }
func (h *normHistogram) factor(squaredNorm float64) float64 {
	return mechanism.ClipFactor(squaredNorm, h.chosen)
}
func (h *normHistogram) finish(*mechanism.Grant) error { return nil }
