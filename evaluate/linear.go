package evaluate

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"gonum.org/v1/gonum/mat"
)

// wide is how many coordinates a dense covariance may have.
const wide = 8192

// DiscriminantAnalysis trains a linear discriminant: normal laws with one
// covariance for all classes, shrunk towards a multiple of the identity.
//
// Source: Fisher 1936; shrinkage as in Friedman 1989, "Regularized discriminant
// analysis", with a fixed weight.
type DiscriminantAnalysis struct {
	Shrinkage float64 // weight of the identity; 0 for 0.001
}

// Name is "linear discriminant analysis".
func (DiscriminantAnalysis) Name() string { return "linear discriminant analysis" }

// Validate reports every setting that makes no sense.
//
// Errors: *[ConfigError], joined.
func (m DiscriminantAnalysis) Validate() error {
	return notNegative("DiscriminantAnalysis", part("Shrinkage", m.Shrinkage))
}

// Fit trains a classifier; see [Learner.Fit] for guarantee.
//
// Errors: those of [Learner.Fit], and *[ConfigError] for records of more than
// 8192 coordinates.
func (m DiscriminantAnalysis) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m DiscriminantAnalysis) learn(x *design) (Scorer, error) {
	if err := x.atMost(wide, "DiscriminantAnalysis"); err != nil {
		return nil, err
	}
	means, s := x.means(), orDefault(m.Shrinkage, 1e-3)
	cov := x.within(means)
	ridge := s*mat.Trace(cov)/float64(x.dim) + 1e-9
	for i := range x.dim {
		for j := i; j < x.dim; j++ {
			cov.SetSym(i, j, (1-s)*cov.At(i, j))
		}
		cov.SetSym(i, i, cov.At(i, i)+ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(cov) {
		return nil, &ConfigError{"evaluate.DiscriminantAnalysis.Shrinkage", s, "enough for a covariance that can be inverted"}
	}
	var weights mat.Dense
	if err := factor.SolveTo(&weights, mat.NewDense(x.classes, x.dim, means).T()); err != nil {
		return nil, &ConfigError{"evaluate.DiscriminantAnalysis.Shrinkage", s, "enough for a covariance that is well conditioned"}
	}
	return discriminant(x, means, &weights), nil
}

// discriminant is the linear rule of means and inverse covariance times means.
func discriminant(x *design, means []float64, weights *mat.Dense) *logLinear {
	out := &logLinear{linear{newAffine(x.dim, x.classes)}}
	for c, n := range x.counts() {
		out.bias[c] = math.Log(n / float64(x.rows()))
		for j := range x.dim {
			w := weights.At(j, c)
			out.bias[c] -= w * means[c*x.dim+j] / 2
			out.weights.Data[j*x.classes+c] = float32(w)
		}
	}
	return out
}

// within is the covariance around the classes' means.
func (x *design) within(means []float64) *mat.SymDense {
	const chunk = 1024
	var (
		be       = device.CPU()
		sum      = make([]float64, x.dim*x.dim)
		product  = be.New(x.dim, x.dim)
		centred  = be.New(chunk, x.dim)
		read     = newRowReader(x.batch)
		cov      = mat.NewSymDense(x.dim, sum)
		smallest = 1 / float64(x.rows())
	)
	for lo := 0; lo < x.rows(); lo += chunk {
		n := min(chunk, x.rows()-lo)
		for i := range n {
			at, row := int(x.labels[lo+i])*x.dim, centred.Row(i)
			for j, v := range read.row(lo + i) {
				row[j] = float32(float64(v) - means[at+j])
			}
		}
		part := centred.RowRange(0, n)
		be.Gemm(true, false, 1, part, part, 0, product)
		for i, v := range product.Data {
			sum[i] += smallest * float64(v)
		}
	}
	return cov
}

// affine is a matrix of weights, coordinate by class, and a bias a class.
type affine struct {
	weights device.Matrix
	bias    []float64
}

func newAffine(dim, outputs int) affine {
	return affine{device.HostMatrix(dim, outputs, make([]float32, dim*outputs)), make([]float64, outputs)}
}

// apply sets out to b·weights.
func (a affine) apply(be device.Backend, b device.Batch, out device.Matrix) {
	if b.Sparse != nil {
		be.SparseGemm(b.Sparse, a.weights, 0, out)
		return
	}
	be.Gemm(false, false, 1, b.Dense, a.weights, 0, out)
}

// linear scores by an affine function; one output for two classes.
type linear struct{ affine }

func (m linear) Scores(b device.Batch, dst []float64) {
	outputs := len(m.bias)
	out := device.HostMatrix(b.Rows, outputs, make([]float32, b.Rows*outputs))
	m.apply(device.CPUWith(1), b, out)
	for i := range b.Rows {
		if outputs == 1 {
			s := float64(out.Data[i]) + m.bias[0]
			dst[2*i], dst[2*i+1] = -s, s
			continue
		}
		for c, bias := range m.bias {
			dst[i*outputs+c] = float64(out.Data[i*outputs+c]) + bias
		}
	}
}

// logLinear is linear in logarithms of probabilities.
type logLinear struct{ linear }

func (m *logLinear) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	softmaxRows(dst, len(m.bias))
}

// SupportVectors trains a linear support vector machine, each class against the
// rest: ½‖w‖² + C Σ max(0, 1 − y(wᵀx + b))², with b under the norm like the
// weights.
//
// Source: Cortes and Vapnik 1995; squared hinge and bias as in Fan et al. 2008,
// "LIBLINEAR". The objective is minimised by L-BFGS.
type SupportVectors struct {
	C          float64 // 0 for 1
	Iterations int     // at most; 0 for 200
}

// Name is "linear support vector machine".
func (SupportVectors) Name() string { return "linear support vector machine" }

// Validate reports every setting that makes no sense.
//
// Errors: *[ConfigError], joined.
func (m SupportVectors) Validate() error {
	return notNegative("SupportVectors", setting{"C", m.C}, setting{"Iterations", m.Iterations})
}

// Fit trains a classifier; see [Learner.Fit] for errors and guarantee.
func (m SupportVectors) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m SupportVectors) learn(x *design) (Scorer, error) {
	outputs := x.classes
	if outputs == 2 {
		outputs = 1
	}
	h := newHinge(x, outputs, orDefault(m.C, 1))
	w := make([]float64, (x.dim+1)*outputs)
	d := descent{at: h.evaluate, iterations: orDefault(m.Iterations, 200), tolerance: 1e-6 * h.c * float64(x.rows())}
	d.run(w)
	h.set(w)
	return linear{h.affine}, nil
}

// hinge is the objective of a support vector machine at one place.
type hinge struct {
	affine
	x       *design
	c       float64
	be      device.Backend
	margins device.Matrix
	partial device.Matrix
}

func newHinge(x *design, outputs int, c float64) *hinge {
	be := device.CPU()
	return &hinge{
		affine: newAffine(x.dim, outputs), x: x, c: c, be: be,
		margins: be.New(x.rows(), outputs), partial: be.New(x.dim, outputs),
	}
}

// set splits a flat vector into weights and biases.
func (h *hinge) set(w []float64) {
	n := len(h.weights.Data)
	for i := range n {
		h.weights.Data[i] = float32(w[i])
	}
	copy(h.bias, w[n:])
}

// evaluate sets grad to the gradient at w and returns the value there.
func (h *hinge) evaluate(w, grad []float64) float64 {
	h.set(w)
	copy(grad, w)
	value := inner(w, w) / 2
	h.apply(h.be, h.x.batch, h.margins)
	const chunk = 4096
	for lo := 0; lo < h.x.rows(); lo += chunk {
		value += h.chunk(lo, min(lo+chunk, h.x.rows()), grad)
	}
	return value
}

// chunk is what some records lose, whose slopes it adds. Margins become slopes.
func (h *hinge) chunk(lo, hi int, grad []float64) float64 {
	outputs, bias := len(h.bias), grad[len(h.weights.Data):]
	slopes, value := h.margins.RowRange(lo, hi), 0.0
	for i := range hi - lo {
		row, label := slopes.Row(i), int(h.x.labels[lo+i])
		for c := range row {
			y := -1.0
			if outputs == 1 && label == 1 || outputs > 1 && label == c {
				y = 1
			}
			short := max(0, 1-y*(float64(row[c])+h.bias[c]))
			value += h.c * short * short
			slope := -2 * h.c * y * short
			bias[c] += slope
			row[c] = float32(slope)
		}
	}
	if b := h.x.batch.Slice(lo, hi); b.Sparse != nil {
		h.be.SparseGemmT(b.Sparse, slopes, 0, h.partial)
	} else {
		h.be.Gemm(true, false, 1, b.Dense, slopes, 0, h.partial)
	}
	for i, v := range h.partial.Data {
		grad[i] += float64(v)
	}
	return value
}
