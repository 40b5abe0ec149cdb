package mix

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// NoiseOfDrawn returns the standard deviation of the noise that a learner adds to drawn images.
func NoiseOfDrawn(m *Moments, noise float64) float64 {
	flat := make([]float32, 1000*m.schema.Dim())
	m.blur(rand.New(rand.NewPCG(1, 1)), flat, noise)
	sum := 0.0
	for _, v := range flat {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(flat)))
}

// PassesOf limits the sums of a pass to the given number of coordinates. The returned function
// restores the old limit.
func PassesOf(cells int) func() {
	before := passCells
	passCells = cells
	return func() { passCells = before }
}

// MeanOf returns the mean record of a class.
func MeanOf(m *Moments, class int) []float64 { return m.means[class] }

// Class returns the class of row i.
func (r *Rows) Class(i int) int { return r.class(i) }

// Table returns the rows as records.
func (r *Rows) Table(s records.Schema) (*records.Table, error) { return r.table(s) }

// RowsOf returns rows that share the memory of two row-major matrices.
func RowsOf(dim, classes int, features, labels []float32) *Rows {
	return &Rows{dim: dim, classes: classes, features: features, labels: labels}
}
