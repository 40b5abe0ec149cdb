package classify

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
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

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m DiscriminantAnalysis) Validate() error {
	return judge.NotNegative("classify.DiscriminantAnalysis",
		judge.Fraction("Shrinkage", m.Shrinkage))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for guarantee.
//
// Errors: all errors of [NeuralNetwork.Fit], and *[param.Error] for records of more than 8192
// coordinates.
func (m DiscriminantAnalysis) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m DiscriminantAnalysis) Learn(x *judge.Design) (Scorer, error) {
	if x.Dim > wide {
		return nil, param.New("classify.DiscriminantAnalysis", x.Schema,
			fmt.Sprintf("at most %d coordinates", wide))
	}
	means, s := means(x), cmp.Or(m.Shrinkage, 1e-3)
	cov := within(x, means)
	ridge := s*mat.Trace(cov)/float64(x.Dim) + 1e-9
	for i := range x.Dim {
		for j := i; j < x.Dim; j++ {
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
	if err := factor.SolveTo(&weights, mat.NewDense(x.Classes, x.Dim, means).T()); err != nil {
		return nil, param.New("classify.DiscriminantAnalysis.Shrinkage", s,
			"a shrinkage large enough to make the covariance well conditioned")
	}
	return discriminant(x, means, &weights), nil
}

// discriminant returns the linear rule given by the means and the inverse covariance times the
// means.
func discriminant(x *judge.Design, means []float64, weights *mat.Dense) *judge.LogLinear {
	out := &judge.LogLinear{Linear: judge.NewLinear(x.Dim, x.Classes)}
	for c, n := range x.Counts() {
		out.Bias[c] = math.Log(n / float64(x.Rows()))
		for j := range x.Dim {
			w := weights.At(j, c)
			out.Bias[c] -= w * means[c*x.Dim+j] / 2
			out.Weights.Data[j*x.Classes+c] = float32(w)
		}
	}
	return out
}

// within returns the covariance around the classes' means.
func within(x *judge.Design, means []float64) *mat.SymDense {
	const chunk = 1024
	var (
		be       = device.CPU()
		sum      = make([]float64, x.Dim*x.Dim)
		product  = be.New(x.Dim, x.Dim)
		centred  = be.New(chunk, x.Dim)
		read     = compare.NewReader(x.Batch)
		cov      = mat.NewSymDense(x.Dim, sum)
		smallest = 1 / float64(x.Rows())
	)
	for lo := 0; lo < x.Rows(); lo += chunk {
		n := min(chunk, x.Rows()-lo)
		for i := range n {
			at, row := int(x.Labels[lo+i])*x.Dim, centred.Row(i)
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
