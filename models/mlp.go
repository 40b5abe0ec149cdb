package models

import (
	"math/rand/v2"

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
	g := newSketch("mlp")
	h := a.Activation.hidden(g, g.input(in), a.Hidden)
	g.end(crossEntropy{}, g.dense(h, device.Identity, classes))
	return newClassifier(be, g.done(), classes, rand.New(rand.NewPCG(seed, 0x6d6c70))), nil
}

// hidden adds dense layers with the activation to x. The next layer gets weights for outputs of the
// scale of its inputs.
func (a Activation) hidden(g *sketch, x *node, widths []int) *node {
	g.gain = a.gain()
	x = g.dense(x, a.fn(), widths...)
	g.gain = 1
	return x
}

// Classifier is a network that computes class probabilities for each record. Its loss is the
// cross-entropy of labels. A network of [Build] with another loss computes means instead. Package
// sgd trains it privately, like any Network: it has the methods Params and Bind, and Dim, the
// number of coordinates of a record.
type Classifier struct{ *hiddenClassifier }

// hiddenClassifier keeps a batch behind two pointers, which package fmt does not follow.
type hiddenClassifier struct{ *classifier }

type classifier struct {
	*built
	classes int
}

// newClassifier returns a network whose graph ends in a crossEntropy.
func newClassifier(be device.Backend, g *graph, classes int, rng *rand.Rand) *Classifier {
	n := newBuilt(be, g, newWeights(be, g, rng))
	return &Classifier{hiddenClassifier: &hiddenClassifier{&classifier{n, classes}}}
}

// Replica implements [Replicable].
func (n *Classifier) Replica(be device.Backend) Network {
	if !alike(be, n.be) {
		return nil
	}
	return &Classifier{hiddenClassifier: &hiddenClassifier{&classifier{n.replica(be), n.classes}}}
}

// Frozen returns the parameters of frozen layers (see [Value.Frozen]), which are public and are not
// among Params. Writing them changes the network and its replicas.
func (n *Classifier) Frozen() device.Params { return n.fixed }

// Classes returns the number of classes.
func (n *Classifier) Classes() int { return n.classes }

// Gradients returns the gradients of the cross-entropy of b.Labels. A record without a label, or
// with a label outside [0, Classes), has gradient zero.
func (n *Classifier) Gradients(b device.Batch) Gradients {
	n.tape.soft = device.Matrix{}
	return n.gradients(b)
}

// GradientsSoft returns the gradients of the cross-entropy with given class probabilities. Each
// record of b has one row of targets, which are on the host.
//
// Shapes: targets is Rows×Classes. Rows should add up to 1.
func (n *Classifier) GradientsSoft(b device.Batch, targets device.Matrix) Gradients {
	n.tape.soft = targets
	return n.gradients(b)
}

// Predict sets dst to the class probabilities of b's records. It is safe for concurrent use unless
// the network is being trained.
//
// Shapes: dst is Rows×Classes, on the host.
func (n *Classifier) Predict(b device.Batch, dst device.Matrix) {
	if b.Rows == 0 {
		return
	}
	t := n.idle()
	defer n.pool.Put(t)
	t.batch = b
	t.begin(t.read(b), b.Rows)
	t.forward(0, len(n.g.nodes)-1)
	out := t.operand(n.g.last(), 0)
	switch u := n.g.last().unit.(type) {
	case crossEntropy:
		n.be.Softmax(out)
	case *reconstruction:
		n.be.Apply(u.output, out, out)
	}
	if out.Mem == nil {
		n.be.Apply(device.Identity, dst, out)
		return
	}
	downloadRows(n.be, dst, out)
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
