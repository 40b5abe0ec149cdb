package device

// Adam is one step of Adam on parameters in host memory, for callers that process them piece by
// piece and do other work on each piece while it is in the cache. Disjoint pieces may be updated
// concurrently.
type Adam struct{ rates adamRates }

// NewAdam computes the factors of a step. T counts from 1.
func NewAdam(s AdamStep) Adam {
	if s.T < 1 {
		panic("device: Adam: steps are counted from 1")
	}
	return Adam{s.rates()}
}

// Move moves p along −scale·g by the moments m and v. The result has the same bits as Backend's
// Adam on the CPU with the gradient scale·g rounded to float32.
//
// Shapes: all of one length.
func (a *Adam) Move(p, g, m, v []float32, scale float32) {
	checkMoments(p, len(g), m, v)
	onHost().adam(p, g, m, v, &a.rates, scale)
}

// MoveSum is Move for a gradient in float64, such as a noised sum.
func (a *Adam) MoveSum(p []float32, g []float64, m, v []float32, scale float64) {
	checkMoments(p, len(g), m, v)
	onHost().adamOfSum(p, g, m, v, &a.rates, scale)
}

func checkMoments(p []float32, n int, m, v []float32) {
	if len(p) != n || len(m) != n || len(v) != n {
		panic("device: Adam: operands of one length are wanted")
	}
}
