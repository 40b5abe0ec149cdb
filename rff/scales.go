package rff

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Scales is the mean of Gaussian kernels of several length scales. Its results depend less on the
// right choice of a bandwidth, which must not be made from private records. Norms are exactly 1, as
// for [RBF].
//
// Either Bandwidths lists the length scales, which all have the same number of features, or Low and
// High are the ends of a range of length scales. In the range, length scales are spread evenly on a
// logarithmic scale.
type Scales struct {
	Dim        int       `json:"dim"` // number of features, even
	Bandwidths []float64 `json:"bandwidths,omitempty"`
	Low        float64   `json:"low,omitempty"`
	High       float64   `json:"high,omitempty"`
}

// Rule returns scales for records of n coordinates in [0, 1]. They do not depend on the records:
// the largest distance between two records is √n, and the scales range from a twentieth of it to
// half of it.
func Rule(dim, n int) Scales {
	diameter := math.Sqrt(float64(max(n, 1)))
	return Scales{Dim: dim, Low: diameter / 20, High: diameter / 2}
}

// New implements [Kernel].
func (c Scales) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) { normal(rng, w, 1) }
	s := spectrum{name: "Scales", dim: c.Dim, draw: draw, length: c.length()}
	return build(c, s, in, seed, c.validate())
}

// Embedding implements [EmbeddingKernel] and treats all coordinates of a record alike.
func (c Scales) Embedding(l Layout, seed uint64) (Embedding, error) { return flat(c, l, seed) }

// length returns a function that assigns scales to frequencies. It assigns them by index, not at
// random, so all scales have equally many frequencies.
func (c Scales) length() func(j, n int) float64 {
	list := append([]float64(nil), c.Bandwidths...)
	if len(list) > 0 {
		return func(j, _ int) float64 { return 1 / list[j%len(list)] }
	}
	octaves := math.Log(c.High / c.Low)
	return func(j, n int) float64 {
		// A golden-ratio sequence is evenly distributed over every run of consecutive frequencies, so
		// each part of the features has scales from the whole range.
		_, at := math.Modf((float64(j) + 0.5) * math.Phi)
		return math.Exp(-at*octaves) / c.Low
	}
}

func (c Scales) validate() error {
	var errs []error
	if listed, ranged := len(c.Bandwidths) > 0, c.Low != 0 || c.High != 0; listed == ranged {
		errs = append(errs,
			param.New("rff.Scales.Bandwidths", c.Bandwidths, "either a list of bandwidths or Low and High"))
	}
	for i, b := range c.Bandwidths {
		errs = append(errs, checkBandwidth(fmt.Sprintf("Scales.Bandwidths[%d]", i), b))
	}
	if len(c.Bandwidths) == 0 {
		errs = append(errs, checkBandwidth("Scales.Low", c.Low), checkBandwidth("Scales.High", c.High))
		if c.Low > c.High {
			errs = append(errs,
				param.New("rff.Scales.High", c.High, fmt.Sprintf("at least Low = %v", c.Low)))
		}
	}
	return errors.Join(errs...)
}
