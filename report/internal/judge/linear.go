package judge

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// LogisticRegression trains multinomial logistic regression to the minimum of ½‖w‖² + C Σ losses,
// without the biases in the norm. A [NeuralNetwork] without hidden layers has no penalty and takes
// a given number of steps instead.
//
// Source: the objective of Fan et al. 2008, "LIBLINEAR", minimised by L-BFGS.
type LogisticRegression struct {
	C          float64 // 0 for 1
	Iterations int     // largest number of steps; 0 for 200
}

// Name returns "logistic regression".
func (LogisticRegression) Name() string { return "logistic regression" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m LogisticRegression) Validate() error {
	return NotNegative("classify.LogisticRegression", Number("C", m.C),
		Number("Iterations", m.Iterations))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m LogisticRegression) Fit(d records.Data) (*Classifier, error) { return Fit(m, d) }

// Learn trains on records that have been read.
func (m LogisticRegression) Learn(x *Design) (Scorer, error) {
	return &LogLinear{Minimise(x, cmp.Or(m.C, 1), crossEntropy, false,
		cmp.Or(m.Iterations, 200))}, nil
}

// Loss returns the loss of one record and replaces its margins by the derivatives. A single margin
// belongs to the second of two classes.
type Loss func(margins []float64, label int) float64

// crossEntropy returns the negative logarithm of the probability of the record's class.
func crossEntropy(margins []float64, label int) float64 {
	if len(margins) == 1 {
		y := float64(2*label - 1)
		short := y * margins[0]
		margins[0] = -y / (1 + math.Exp(short))
		return max(-short, 0) + math.Log(1+math.Exp(-math.Abs(short)))
	}
	Softmax(margins)
	p := margins[label]
	margins[label]--
	return -math.Log(max(p, math.SmallestNonzeroFloat64))
}

// objective is a penalised sum of losses of an affine function.
type objective struct {
	Linear
	x        *Design
	c        float64
	loss     Loss
	penalise bool // whether the norm includes the biases
	be       device.Backend
	margins  device.Matrix
	partial  device.Matrix
}

// Minimise returns the minimum of ½‖w‖² + c Σ losses; penalise includes the biases in the norm. It
// stops when single precision allows no further progress, or when every coordinate of the gradient
// is negligible.
func Minimise(x *Design, c float64, l Loss, penalise bool, iterations int) Linear {
	be, outputs := device.CPU(), x.Classes
	if outputs == 2 {
		outputs = 1
	}
	o := objective{
		Linear: NewLinear(x.Dim, outputs), x: x, c: c, loss: l, penalise: penalise, be: be,
		margins: be.New(x.Rows(), outputs), partial: be.New(x.Dim, outputs),
	}
	w := make([]float64, (x.Dim+1)*outputs)
	d := descent{at: o.evaluate, iterations: iterations, tolerance: 1e-6 * c * float64(x.Rows())}
	if x.Batch.Sparse == nil && x.Dim <= mostSolved {
		d.divide = o.divider()
	}
	d.run(w)
	o.set(w)
	return o.Linear
}

// mostSolved is the largest number of coordinates for which descent uses second derivatives.
const mostSolved = 256

// divider returns a division by 1 + ¼c·XᵀX, where X has a column of ones for the biases; nil if
// single precision is too coarse for it. It bounds the second derivative of the logistic loss, so
// that descent takes about ten steps instead of two hundred.
//
// Source: Böhning and Lindsay 1988, "Monotonicity of quadratic-approximation algorithms".
func (o *objective) divider() func([]float64) {
	n, c := o.x.Dim, o.c/4
	products, sums := o.be.New(n, n), o.be.New(1, n)
	o.be.Gemm(true, false, 1, o.x.Batch.Dense, o.x.Batch.Dense, 0, products)
	o.be.ColSums(nil, o.x.Batch.Dense, 0, sums)
	bound := mat.NewSymDense(n+1, nil)
	for i := range n {
		for j, v := range products.Row(i)[:i] {
			bound.SetSym(i, j, c*float64(v))
		}
		bound.SetSym(i, i, 1+c*float64(products.Row(i)[i]))
		bound.SetSym(i, n, c*float64(sums.Data[i]))
	}
	bound.SetSym(n, n, 1+c*float64(o.x.Rows()))
	var root mat.Cholesky
	if !root.Factorize(bound) {
		return nil
	}
	return func(grad []float64) {
		v := mat.NewDense(n+1, len(grad)/(n+1), grad)
		_ = root.SolveTo(v, v) // an error says that the result is inexact, and descent corrects it
	}
}

// set splits a flat vector into weights and biases.
func (o *objective) set(w []float64) {
	n := len(o.Weights.Data)
	for i := range n {
		o.Weights.Data[i] = float32(w[i])
	}
	copy(o.Bias, w[n:])
}

// evaluate sets grad to the gradient at w and returns the value there.
func (o *objective) evaluate(w, grad []float64) float64 {
	o.set(w)
	clear(grad)
	penalised := w
	if !o.penalise {
		penalised = w[:len(o.Weights.Data)]
	}
	copy(grad, penalised)
	value := floats.Dot(penalised, penalised) / 2
	o.apply(o.be, o.x.Batch, o.margins)
	const chunk = 4096
	for lo := 0; lo < o.x.Rows(); lo += chunk {
		value += o.chunk(lo, min(lo+chunk, o.x.Rows()), grad)
	}
	return value
}

// chunk returns the loss of some records and adds their derivatives to the gradient.
func (o *objective) chunk(lo, hi int, grad []float64) float64 {
	row, bias := make([]float64, len(o.Bias)), grad[len(o.Weights.Data):]
	slopes, value := o.margins.RowRange(lo, hi), 0.0
	for i := range hi - lo {
		for c, m := range slopes.Row(i) {
			row[c] = float64(m) + o.Bias[c]
		}
		value += o.c * o.loss(row, int(o.x.Labels[lo+i]))
		for c, s := range row {
			bias[c] += o.c * s
			slopes.Row(i)[c] = float32(o.c * s)
		}
	}
	if b := o.x.Batch.Slice(lo, hi); b.Sparse != nil {
		o.be.SparseGemmT(b.Sparse, slopes, 0, o.partial)
	} else {
		o.be.Gemm(true, false, 1, b.Dense, slopes, 0, o.partial)
	}
	for i, v := range o.partial.Data {
		grad[i] += float64(v)
	}
	return value
}
