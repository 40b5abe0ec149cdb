package models

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// MLP describes a multilayer perceptron. With no hidden layer its classifier is
// multinomial logistic regression.
type MLP struct {
	Hidden     []int      `json:"hidden"`     // widths of the hidden layers
	Activation Activation `json:"activation"` // of hidden layers
	// BatchNorm normalises every hidden layer over the batch. It is for generators that see records
	// only through a private release. Classifier refuses it, since classifiers need per-example
	// gradients.
	BatchNorm bool `json:"batch_norm,omitempty"`
}

// Name returns "mlp".
func (MLP) Name() string { return "mlp" }

// Validate reports every mistake in the description, or nil if there is none.
//
// Errors: *param.Error values, joined.
func (a MLP) Validate() error {
	var c checker
	c.widths("models.MLP.Hidden", a.Hidden)
	c.OK(a.Activation.known(), "models.MLP.Activation", int(a.Activation),
		"a constant of type models.Activation")
	return c.Err()
}

// Classifier builds a network with one output per class, with weights drawn from a public seed.
//
// Shapes: in is the number of coordinates of a record.
//
// Errors: joined *param.Error values.
func (a MLP) Classifier(be device.Backend, in, classes int, seed uint64) (*Classifier, error) {
	var c checker
	c.OK(be != nil, "models.MLP.Classifier", be, "a backend")
	c.Add(a.Validate())
	c.OK(!a.BatchNorm, "models.MLP.BatchNorm", a.BatchNorm,
		"false for a classifier: batch norm mixes records")
	c.positive("models.MLP.Classifier: in", in)
	c.positive("models.MLP.Classifier: classes", classes)
	if err := c.Err(); err != nil {
		return nil, err
	}
	widths := append(append([]int{in}, a.Hidden...), classes)
	n := newClassifier(&classifier{be: be, in: in, classes: classes, layers: func(be device.Backend) (
		body, func() pass) {
		s := newStack(be, widths, hiddenFuncs(a.Activation, len(a.Hidden), device.Identity))
		return s, func() pass { return newTrace(s) }
	}})
	n.start("mlp", rand.New(rand.NewPCG(seed, 0x6d6c70)), a.Activation.gain())
	return n, nil
}

// Classifier is a network that computes class probabilities for each record. Its loss is the
// cross-entropy of labels. Package sgd trains it privately, like any Network.
type Classifier struct{ *hiddenClassifier }

// hiddenClassifier keeps a batch behind two pointers, which package fmt does not follow.
type hiddenClassifier struct{ *classifier }

type classifier struct {
	be          device.Backend
	in, classes int
	params      device.Params
	layers      func(be device.Backend) (body, func() pass) // makes body and newPass
	body        body
	newPass     func() pass
	dense       bool // the body cannot read sparse records
	stage       staging
	pass        pass
	rows        int
	losses      []float64
	pool        sync.Pool
}

// A body is the layers of a classifier: a stack or a chain.
type body interface {
	shapes(prefix string) []device.Shape
	bind(p device.Params, first int)
	initialise(rng *rand.Rand, gain float64)
	layerList() []Layer
}

// A pass is one pass of a batch through a body, whose output is one number for each class.
type pass interface {
	forward(x record, rows int)
	last() device.Matrix
	lastDelta() device.Matrix
	backward()
	addSquaredNorms(dst []float64)
	addWeightedSum(dst device.Params, first int, weights []float32)
	addFixedSum(dst device.Fixed, first int, weights []float32)
	fixedForm() FixedForm
	blockPass
}

// newClassifier completes a classifier that has a backend, sizes and layers.
func newClassifier(c *classifier) *Classifier {
	c.stage = newStaging(c.be)
	c.body, c.newPass = c.layers(c.be)
	return &Classifier{hiddenClassifier: &hiddenClassifier{c}}
}

func (n *Classifier) start(name string, rng *rand.Rand, gain float64) {
	n.params = device.NewParams(n.be, n.body.shapes(name)...)
	n.body.bind(n.params, 0)
	n.body.initialise(rng, gain)
	n.pass = n.newPass()
}

// Replica implements [Replicable].
func (n *Classifier) Replica(be device.Backend) Network {
	if !alike(be, n.be) {
		return nil
	}
	r := newClassifier(&classifier{be: be, in: n.in, classes: n.classes, layers: n.layers,
		dense: n.dense, params: n.params})
	r.body.bind(r.params, 0)
	r.pass = r.newPass()
	return r
}

// Dim returns the number of inputs.
func (n *Classifier) Dim() int { return n.in }

// Classes returns the number of classes.
func (n *Classifier) Classes() int { return n.classes }

// Params returns the weights and biases, layer by layer.
func (n *Classifier) Params() device.Params { return n.params }

// Bind moves the parameters into p.
func (n *Classifier) Bind(p device.Params) {
	n.be.Apply(device.Identity, p.Flat, n.params.Flat)
	n.params = p
	n.body.bind(p, 0)
}

// Gradients returns the gradients of the cross-entropy of b.Labels. A record without a label, or
// with a label outside [0, Classes), has gradient zero.
func (n *Classifier) Gradients(b device.Batch) Gradients {
	return n.gradients(b, func(i int, probabilities, delta []float32) float64 {
		if b.Labels == nil || b.Labels[i] < 0 || int(b.Labels[i]) >= len(delta) {
			clear(delta)
			return 0
		}
		label := b.Labels[i]
		delta[label]--
		return -logOf(probabilities[label])
	})
}

// GradientsSoft returns the gradients of the cross-entropy with given class probabilities. Each
// record of b has one row of targets, which are on the host.
//
// Shapes: targets is Rows×Classes. Rows should add up to 1.
func (n *Classifier) GradientsSoft(b device.Batch, targets device.Matrix) Gradients {
	return n.gradients(b, func(i int, probabilities, delta []float32) float64 {
		loss := 0.0
		for j, t := range targets.Row(i) {
			delta[j] -= t
			loss -= float64(t) * logOf(probabilities[j])
		}
		return loss
	})
}

// record returns b's records in a form that the body can read.
func (n *Classifier) record(s *staging, b device.Batch) record {
	r := s.record(b)
	if n.dense && r.sparse != nil && b.Rows > 0 {
		return record{dense: s.densify(r.sparse, b.Rows)}
	}
	return r
}

func logOf(p float32) float64 { return math.Log(max(float64(p), 1e-30)) }

// gradients runs the forward pass, calls rule for each row to compute a delta and a loss from the
// probabilities, and runs the backward pass.
func (n *Classifier) gradients(b device.Batch,
	rule func(i int, probabilities, delta []float32) float64) Gradients {
	n.rows = b.Rows
	n.pass.forward(n.record(&n.stage, b), b.Rows)
	n.losses = grow(n.losses, b.Rows)
	if b.Rows == 0 {
		return (*classifierGradients)(n)
	}
	n.be.Softmax(n.pass.last())
	probabilities := toHost(n.be, n.pass.last(), nil)
	delta := n.pass.lastDelta()
	n.be.Apply(device.Identity, delta, n.pass.last())
	host := toHost(n.be, delta, nil)
	for i := range b.Rows {
		n.losses[i] = rule(i, probabilities.Row(i), host.Row(i))
	}
	if delta.Mem != nil {
		n.be.Upload(delta, host.Data)
	}
	n.pass.backward()
	return (*classifierGradients)(n)
}

// classifierGradients are the gradients of a classifier's last batch.
type classifierGradients Classifier

// SquaredNorms sets dst to ‖gᵢ‖².
func (n *classifierGradients) SquaredNorms(dst []float64) {
	clear(dst[:n.rows])
	n.pass.addSquaredNorms(dst)
}

// AddWeightedSum adds Σ wᵢ gᵢ to dst.
func (n *classifierGradients) AddWeightedSum(dst device.Params, weights []float32) {
	n.pass.addWeightedSum(dst, 0, weights)
}

// Losses sets dst to each record's cross-entropy.
func (n *classifierGradients) Losses(dst []float64) { copy(dst, n.losses) }

// Predict sets dst to the class probabilities of b's records. It is safe for concurrent use unless
// the network is being trained.
//
// Shapes: dst is Rows×Classes, on the host.
func (n *Classifier) Predict(b device.Batch, dst device.Matrix) {
	if b.Rows == 0 {
		return
	}
	p, _ := n.pool.Get().(*predictor)
	if p == nil {
		p = &predictor{newStaging(n.be), n.newPass()}
	}
	defer n.pool.Put(p)
	p.pass.forward(n.record(&p.stage, b), b.Rows)
	out := p.pass.last()
	n.be.Softmax(out)
	if out.Mem == nil {
		n.be.Apply(device.Identity, dst, out)
		return
	}
	downloadRows(n.be, dst, out)
}

type predictor struct {
	stage staging
	pass  pass
}

// PredictClass sets dst to the most probable class of each record. Ties go to the first class.
func (n *Classifier) PredictClass(b device.Batch, dst []int32) {
	p := device.HostMatrix(b.Rows, n.Classes(), make([]float32, b.Rows*n.Classes()))
	n.Predict(b, p)
	for i := range b.Rows {
		best := 0
		for j, v := range p.Row(i) {
			if v > p.Row(i)[best] {
				best = j
			}
		}
		dst[i] = int32(best)
	}
}
