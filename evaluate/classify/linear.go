package classify

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/records"
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

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m SupportVectors) validate() error {
	return judge.NotNegative("classify.SupportVectors", judge.Number("C", m.C),
		judge.Number("Iterations", m.Iterations))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m SupportVectors) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m SupportVectors) learn(x *design) (Scorer, error) {
	o := newObjective(x, judge.OrDefault(m.C, 1), hinge)
	o.penalise = true
	return linear{o.minimise(judge.OrDefault(m.Iterations, 200))}, nil
}

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

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m LogisticRegression) validate() error {
	return judge.NotNegative("classify.LogisticRegression", judge.Number("C", m.C),
		judge.Number("Iterations", m.Iterations))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m LogisticRegression) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m LogisticRegression) learn(x *design) (Scorer, error) {
	return &logLinear{linear{newObjective(x, judge.OrDefault(m.C, 1),
		crossEntropy).minimise(judge.OrDefault(m.Iterations, 200))}}, nil
}

// loss returns the loss of one record and replaces its margins by the derivatives. A single margin
// belongs to the second of two classes.
type loss func(margins []float64, label int) float64

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

// crossEntropy returns the negative logarithm of the probability of the record's class.
func crossEntropy(margins []float64, label int) float64 {
	if len(margins) == 1 {
		y := float64(2*label - 1)
		short := y * margins[0]
		margins[0] = -y / (1 + math.Exp(short))
		return max(-short, 0) + math.Log1p(math.Exp(-math.Abs(short)))
	}
	softmax(margins)
	p := margins[label]
	margins[label]--
	return -math.Log(max(p, math.SmallestNonzeroFloat64))
}

// objective is a penalised sum of losses of an affine function.
type objective struct {
	affine
	x        *design
	c        float64
	loss     loss
	penalise bool // whether the norm includes the biases
	be       device.Backend
	margins  device.Matrix
	partial  device.Matrix
}

func newObjective(x *design, c float64, l loss) *objective {
	be, outputs := device.CPU(), x.classes
	if outputs == 2 {
		outputs = 1
	}
	return &objective{
		affine: newAffine(x.dim, outputs), x: x, c: c, loss: l, be: be,
		margins: be.New(x.rows(), outputs), partial: be.New(x.dim, outputs),
	}
}

// minimise stops when single precision allows no further progress, or when every coordinate of the
// gradient is negligible.
func (o *objective) minimise(iterations int) affine {
	w := make([]float64, (o.x.dim+1)*len(o.bias))
	d := descent{at: o.evaluate, iterations: iterations, tolerance: 1e-6 * o.c * float64(o.x.rows())}
	d.run(w)
	o.set(w)
	return o.affine
}

// set splits a flat vector into weights and biases.
func (o *objective) set(w []float64) {
	n := len(o.weights.Data)
	for i := range n {
		o.weights.Data[i] = float32(w[i])
	}
	copy(o.bias, w[n:])
}

// evaluate sets grad to the gradient at w and returns the value there.
func (o *objective) evaluate(w, grad []float64) float64 {
	o.set(w)
	clear(grad)
	penalised := w
	if !o.penalise {
		penalised = w[:len(o.weights.Data)]
	}
	copy(grad, penalised)
	value := inner(penalised, penalised) / 2
	o.apply(o.be, o.x.batch, o.margins)
	const chunk = 4096
	for lo := 0; lo < o.x.rows(); lo += chunk {
		value += o.chunk(lo, min(lo+chunk, o.x.rows()), grad)
	}
	return value
}

// chunk returns the loss of some records and adds their derivatives to the gradient.
func (o *objective) chunk(lo, hi int, grad []float64) float64 {
	row, bias := make([]float64, len(o.bias)), grad[len(o.weights.Data):]
	slopes, value := o.margins.RowRange(lo, hi), 0.0
	for i := range hi - lo {
		for c, m := range slopes.Row(i) {
			row[c] = float64(m) + o.bias[c]
		}
		value += o.c * o.loss(row, int(o.x.labels[lo+i]))
		for c, s := range row {
			bias[c] += o.c * s
			slopes.Row(i)[c] = float32(o.c * s)
		}
	}
	if b := o.x.batch.Slice(lo, hi); b.Sparse != nil {
		o.be.SparseGemmT(b.Sparse, slopes, 0, o.partial)
	} else {
		o.be.Gemm(true, false, 1, b.Dense, slopes, 0, o.partial)
	}
	for i, v := range o.partial.Data {
		grad[i] += float64(v)
	}
	return value
}
