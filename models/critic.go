package models

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// A Critic assigns a score D to its input: high for records, low for fakes.
//
// A conditional critic, with Classes() > 0, adds the score of the record's class to a score that
// all classes share. This is the projection of Miyato and Koyama 2018, with a head for each class.
// A record whose label is outside [0, Classes) has score 0 and no gradient.
//
// The gradient for one record depends only on that record, its label, its fake and its mix (see
// PairGradients). No layer of a critic may mix records.
type Critic interface {
	Params() device.Params
	Binder
	Dim() int
	Classes() int
	// PairGradients returns the gradients of the Wasserstein loss D(fakeᵢ) − D(xᵢ) +
	// λ(‖∇D(x̂ᵢ)‖−1)² with x̂ᵢ = mixᵢ·xᵢ + (1−mixᵢ)·fakeᵢ (Gulrajani et al. 2017). The fake has the
	// record's label. Shapes: fakes is Rows×Dim on the backend. The
	// result is valid until the next call.
	PairGradients(b device.Batch, fakes device.Matrix, mix []float32, lambda float64) BlockGradients
	// ScoreGradient sets the rows of dx to slope·∂D/∂x, and scores to D unless it is nil.
	ScoreGradient(dx, x device.Matrix, labels []int32, slope float64, scores []float64)
}

// A CriticArchitecture is a public description of a critic that can be written as JSON.
type CriticArchitecture interface {
	// Critic builds a critic for records of `in` coordinates, with labels if classes > 0. Weights are
	// drawn from a public seed. Errors: joined *param.Error values.
	Critic(be device.Backend, in, classes int, seed uint64) (Critic, error)
	// Name returns a short stable name, such as "mlp".
	Name() string
}

// Critic builds a multilayer perceptron with one output.
//
// The gradient of the penalty is one outer product per layer if every layer is piecewise linear
// (ReLU or LeakyReLU). Otherwise second derivatives add a second outer product, and training costs
// more.
//
// Errors: joined *param.Error values.
func (a MLP) Critic(be device.Backend, in, classes int, seed uint64) (Critic, error) {
	var c checker
	c.Add(a.Validate())
	c.OK(!a.BatchNorm, "models.MLP.BatchNorm", a.BatchNorm,
		"false for a critic: batch norm mixes records")
	c.critic("models.MLP", be, in, classes)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newCritic(be, CNN{Hidden: a.Hidden, Activation: a.Activation}, in, classes, seed), nil
}

// critic returns the computation of the terms of scores. A smooth activation f is a separate unit,
// because the gradient of the penalty needs f″.
func (a CNN) critic(in, classes int) *graph {
	g := newSketch("critic")
	g.joint, g.rowsOnly = false, true
	smooth := a.Activation != ReLU && a.Activation != LeakyReLU
	h := a.hidden(g, g.input(in), a.Activation.fn(), smooth)
	g.dense(h, device.Identity, 1+classes)
	return g.done()
}

// Critic builds a convolutional network with one output; see MLP.Critic.
//
// Shapes: in must be Height·Width·Channels.
//
// Errors: joined *param.Error values.
func (a CNN) Critic(be device.Backend, in, classes int, seed uint64) (Critic, error) {
	var c checker
	c.Add(a.Validate())
	c.OK(in == a.image().Len(), "models.CNN.Critic: in", in, a.imageLen())
	c.critic("models.CNN", be, in, classes)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newCritic(be, a, in, classes, seed), nil
}

func (c *checker) critic(path string, be device.Backend, in, classes int) {
	c.OK(be != nil, path+".Critic", be, "a backend")
	c.positive(path+".Critic: in", in)
	c.nonNegative(path+".Critic: classes", classes)
}

// critic is a sequence of layers that ends in a shared score and a score for each class.
type critic struct{ *criticState }

type criticState struct {
	*built  // its pass has one row for each record
	classes int
	pair    *pairs
	host    []float32
}

func newCritic(be device.Backend, a CNN, in, classes int, seed uint64) *critic {
	g := a.critic(in, classes)
	w := newWeights(be, g, rand.New(rand.NewPCG(seed, 0x637274)))
	n := &critic{&criticState{built: newBuilt(be, g, w), classes: classes}}
	n.pair = newPairs(n)
	return n
}

// Classes returns the number of classes, 0 for a critic that sees no labels.
func (n *critic) Classes() int { return n.classes }

// label returns the class of row i, or -1 for an unconditional critic or an invalid label, and
// reports whether the row has a score.
func (n *critic) label(labels []int32, i int) (int, bool) {
	if n.classes == 0 {
		return -1, true
	}
	if labels == nil || labels[i] < 0 || int(labels[i]) >= n.classes {
		return -1, false
	}
	return int(labels[i]), true
}

// score returns D, given row i of the last layer's outputs.
func (n *critic) score(out []float32, labels []int32, i int) float64 {
	y, ok := n.label(labels, i)
	switch {
	case !ok:
		return 0 * float64(out[0])
	case y < 0:
		return float64(out[0])
	}
	return float64(out[0]) + float64(out[1+y])
}

// putSlope sets the delta of the last layer's outputs to slope·∂D.
func (n *critic) putSlope(delta []float32, labels []int32, i int, slope float64) {
	clear(delta)
	y, ok := n.label(labels, i)
	if !ok {
		return
	}
	delta[0] = float32(slope)
	if y >= 0 {
		delta[1+y] = float32(slope)
	}
}

// run is a forward pass on x that sets the last deltas. The function rule maps the score of each
// row to the derivative of the loss with respect to the score.
func (n *critic) run(t *pass, x device.Matrix, labels []int32,
	rule func(i int, score float64) (slope float64)) {
	t.run(record{dense: x}, x.Rows)
	if x.Rows == 0 {
		return
	}
	out := toHost(n.be, t.last(), n.host)
	n.host = grow(n.host, x.Rows*(1+n.classes))
	for i := range x.Rows {
		row := n.host[i*(1+n.classes) : (i+1)*(1+n.classes)]
		slope := rule(i, n.score(out.Row(i), labels, i))
		n.putSlope(row, labels, i, slope)
	}
	n.be.Upload(t.lastDelta(), n.host)
}

// ScoreGradient sets the rows of dx to slope·∂D/∂x, and scores to D unless it is nil.
func (n *critic) ScoreGradient(dx, x device.Matrix, labels []int32, slope float64,
	scores []float64) {
	t := n.tape.pass
	t.dx = dx
	n.run(t, x, labels, func(i int, score float64) float64 {
		if scores != nil {
			scores[i] = score
		}
		return slope
	})
	t.backward()
	t.dx = device.Matrix{}
}

// CriticSize returns the number of parameters of a critic, saturating at math.MaxInt64.
func (a MLP) CriticSize(in, classes int) int64 {
	return CNN{Hidden: a.Hidden}.critic(in, classes).size()
}

// CriticSize returns the number of parameters of a critic, saturating at math.MaxInt64.
func (a CNN) CriticSize(_, classes int) int64 {
	return a.critic(a.image().Len(), classes).size()
}
