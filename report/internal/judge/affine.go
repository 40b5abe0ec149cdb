package judge

import "github.com/seed7ba64551/privgen/device"

// Linear scores records by an affine function, which has a single output for two classes.
type Linear struct {
	Weights device.Matrix // coordinate by output
	Bias    []float64     // one for each output
}

// NewLinear returns a scorer that is 0 everywhere.
func NewLinear(dim, outputs int) Linear {
	return Linear{device.HostMatrix(dim, outputs, make([]float32, dim*outputs)),
		make([]float64, outputs)}
}

// apply sets out to b·Weights.
func (m Linear) apply(be device.Backend, b device.Batch, out device.Matrix) {
	if b.Sparse != nil {
		be.SparseGemm(b.Sparse, m.Weights, 0, out)
		return
	}
	be.Gemm(false, false, 1, b.Dense, m.Weights, 0, out)
}

// Scores sets dst to the margins of each class.
func (m Linear) Scores(b device.Batch, dst []float64) {
	outputs := len(m.Bias)
	out := device.HostMatrix(b.Rows, outputs, make([]float32, b.Rows*outputs))
	m.apply(device.CPUWith(1), b, out)
	for i := range b.Rows {
		if outputs == 1 {
			s := float64(out.Data[i]) + m.Bias[0]
			dst[2*i], dst[2*i+1] = -s/2, s/2
			continue
		}
		for c, bias := range m.Bias {
			dst[i*outputs+c] = float64(out.Data[i*outputs+c]) + bias
		}
	}
}

// LogLinear is a linear scorer whose scores are logarithms of probabilities.
type LogLinear struct{ Linear }

// Probabilities sets dst to the probabilities of each class.
func (m *LogLinear) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	SoftmaxRows(dst, max(len(m.Bias), 2))
}
