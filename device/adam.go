package device

import "fmt"

// Adam makes one step of the Adam optimizer on parameters in host memory. It is for callers that
// process the parameters piece by piece, and do other work on each piece while the piece is in the
// cache. Disjoint pieces may be updated concurrently.
type Adam struct{ rates adamRates }

// NewAdam computes the factors of a step. It panics if s.T is below 1.
func NewAdam(s AdamStep) Adam {
	if s.T < 1 {
		panic(fmt.Sprintf("device: Adam: step %d: steps are counted from 1", s.T))
	}
	return Adam{s.rates()}
}

// Move moves the parameters p by one step for the gradient scale·g and updates the moments m and v.
// The result has the same bits as the result of the CPU backend's method Adam for the gradient
// scale·g rounded to float32.
//
// Shapes: p, g, m and v have the same length.
func (a *Adam) Move(p, g, m, v []float32, scale float32) {
	checkMoments(p, len(g), m, v)
	onHost().adam(p, g, m, v, &a.rates, scale)
}

// MoveSum does what Move does, for a gradient in float64, such as a noised sum.
func (a *Adam) MoveSum(p []float32, g []float64, m, v []float32, scale float64) {
	checkMoments(p, len(g), m, v)
	onHost().adamOfSum(p, g, m, v, &a.rates, scale)
}

func checkMoments(p []float32, n int, m, v []float32) {
	if len(p) != n || len(m) != n || len(v) != n {
		panic(fmt.Sprintf("device: Adam: %d parameters, %d numbers of a gradient and %d and %d moments; "+
			"want equal numbers", len(p), n, len(m), len(v)))
	}
}
