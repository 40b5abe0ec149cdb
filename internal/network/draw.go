package network

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// Bernoulli replaces every mean with a draw of 0 or 1.
func Bernoulli(rng *rand.Rand, flat []float32) {
	for i, p := range flat {
		flat[i] = 0
		if rng.Float32() < p {
			flat[i] = 1
		}
	}
}

// MeansOf returns the schema of the means of binary records or images, with the same labels.
func MeansOf(s records.Schema) records.Schema {
	out := records.Interval(s.Dim(), 0, 1)
	switch s.Channels() {
	case 1:
		out = records.Image(s.Height(), s.Width())
	case 3:
		out = records.RGBImage(s.Height(), s.Width())
	}
	return out.WithLabels(s.ClassNames()...)
}
