package classify

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"gonum.org/v1/gonum/mat"
)

// wide is the largest number of coordinates of a dense covariance.
const wide = 8192

// DiscriminantAnalysis trains a linear discriminant: normal distributions with one covariance for
// all classes, shrunk towards a multiple of the identity.
//
// Source: Fisher 1936; shrinkage as in Friedman 1989, "Regularized discriminant
// analysis", with a fixed weight.
type DiscriminantAnalysis struct {
	Shrinkage float64 // weight of the identity; 0 for 0.001
}

// Name returns "linear discriminant analysis".
func (DiscriminantAnalysis) Name() string { return "linear discriminant analysis" }

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m DiscriminantAnalysis) validate() error {
	return judge.NotNegative("classify.DiscriminantAnalysis",
		judge.Fraction("Shrinkage", m.Shrinkage))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for guarantee.
//
// Errors: all errors of [NeuralNetwork.Fit], and *[param.Error] for records of more than 8192
// coordinates.
func (m DiscriminantAnalysis) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m DiscriminantAnalysis) learn(x *design) (Scorer, error) {
	if err := x.atMost(wide, "DiscriminantAnalysis"); err != nil {
		return nil, err
	}
	means, s := x.means(), judge.OrDefault(m.Shrinkage, 1e-3)
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
		return nil, param.New("classify.DiscriminantAnalysis.Shrinkage", s,
			"a shrinkage large enough to make the covariance invertible")
	}
	var weights mat.Dense
	if err := factor.SolveTo(&weights, mat.NewDense(x.classes, x.dim, means).T()); err != nil {
		return nil, param.New("classify.DiscriminantAnalysis.Shrinkage", s,
			"a shrinkage large enough to make the covariance well conditioned")
	}
	return discriminant(x, means, &weights), nil
}

// discriminant returns the linear rule given by the means and the inverse covariance times the
// means.
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

// within returns the covariance around the classes' means.
func (x *design) within(means []float64) *mat.SymDense {
	const chunk = 1024
	var (
		be       = device.CPU()
		sum      = make([]float64, x.dim*x.dim)
		product  = be.New(x.dim, x.dim)
		centred  = be.New(chunk, x.dim)
		read     = judge.NewReader(x.batch)
		cov      = mat.NewSymDense(x.dim, sum)
		smallest = 1 / float64(x.rows())
	)
	for lo := 0; lo < x.rows(); lo += chunk {
		n := min(chunk, x.rows()-lo)
		for i := range n {
			at, row := int(x.labels[lo+i])*x.dim, centred.Row(i)
			for j, v := range read.Row(lo + i) {
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

// affine is a matrix of weights, coordinate by class, and a bias for each class.
type affine struct {
	weights device.Matrix
	bias    []float64
}

func newAffine(dim, outputs int) affine {
	return affine{device.HostMatrix(dim, outputs, make([]float32, dim*outputs)),
		make([]float64, outputs)}
}

// apply sets out to b·weights.
func (a affine) apply(be device.Backend, b device.Batch, out device.Matrix) {
	if b.Sparse != nil {
		be.SparseGemm(b.Sparse, a.weights, 0, out)
		return
	}
	be.Gemm(false, false, 1, b.Dense, a.weights, 0, out)
}

// linear is a scorer with an affine function, which has a single output for two classes.
type linear struct{ affine }

func (m linear) Scores(b device.Batch, dst []float64) {
	outputs := len(m.bias)
	out := device.HostMatrix(b.Rows, outputs, make([]float32, b.Rows*outputs))
	m.apply(device.CPUWith(1), b, out)
	for i := range b.Rows {
		if outputs == 1 {
			s := float64(out.Data[i]) + m.bias[0]
			dst[2*i], dst[2*i+1] = -s/2, s/2
			continue
		}
		for c, bias := range m.bias {
			dst[i*outputs+c] = float64(out.Data[i*outputs+c]) + bias
		}
	}
}

// logLinear is a linear scorer whose scores are logarithms of probabilities.
type logLinear struct{ linear }

func (m *logLinear) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	softmaxRows(dst, max(len(m.bias), 2))
}
