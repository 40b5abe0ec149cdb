package classify

import (
	"cmp"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// SupportVectors trains a linear support vector machine for each class against the rest. It
// minimises ½‖w‖² + C Σ max(0, 1 − y(wᵀx + b))², where the norm includes b.
//
// Source: Cortes and Vapnik 1995; squared hinge and bias as in Fan et al. 2008,
// "LIBLINEAR". The objective is minimised by L-BFGS.
type SupportVectors struct {
	C          float64 // 0 for 1
	Iterations int     // largest number of steps; 0 for 200
}

// Name returns "linear support vector machine".
func (SupportVectors) Name() string { return "linear support vector machine" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m SupportVectors) Validate() error {
	return judge.NotNegative("classify.SupportVectors", judge.Number("C", m.C),
		judge.Number("Iterations", m.Iterations))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m SupportVectors) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m SupportVectors) Learn(x *judge.Design) (Scorer, error) {
	return judge.Minimise(x, cmp.Or(m.C, 1), hinge, true,
		cmp.Or(m.Iterations, 200)), nil
}

// hinge returns the sum over the classes of the squared hinge losses of each against the rest.
func hinge(margins []float64, label int) float64 {
	sum := 0.0
	for c, margin := range margins {
		y := -1.0
		if len(margins) == 1 && label == 1 || len(margins) > 1 && label == c {
			y = 1
		}
		short := max(0, 1-y*margin)
		sum += short * short
		margins[c] = -2 * y * short
	}
	return sum
}
