package rff

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Scales is the mean of Gaussian kernels of several length scales. Its results depend less on the
// right choice of a bandwidth, which must not be made from private records. Norms are exactly 1, as
// for [RBF].
//
// Length scales are spread evenly on a logarithmic scale from Low to High.
type Scales struct {
	Dim  int     `json:"dim"` // number of features, even
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
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
	var k param.Checker
	checkRange(&k, "Scales", c.Low, c.High)
	return build(&k, c, s, in, seed)
}

// Embedding implements [EmbeddingKernel] and treats all coordinates of a record alike.
func (c Scales) Embedding(l Layout, seed uint64) (Embedding, error) { return flat(c, l, seed) }

// length returns a function that assigns scales to frequencies. It assigns them by index, not at
// random, so all scales have equally many frequencies.
func (c Scales) length() func(j, n int) float64 {
	octaves := math.Log(c.High / c.Low)
	return func(j, n int) float64 {
		// A golden-ratio sequence is evenly distributed over every run of consecutive frequencies, so
		// each part of the features has scales from the whole range.
		_, at := math.Modf((float64(j) + 0.5) * math.Phi)
		return math.Exp(-at*octaves) / c.Low
	}
}

// checkRange checks the ends of a range of length scales.
func checkRange(k *param.Checker, name string, low, high float64) {
	checkBandwidth(k, name+".Low", low)
	checkBandwidth(k, name+".High", high)
	k.OK(!(low > high), "rff."+name+".High", high, fmt.Sprintf("at least Low = %v", low))
}
