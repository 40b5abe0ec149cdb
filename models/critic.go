package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// CriticLoss is the loss by which a critic learns to distinguish records from fakes.
type CriticLoss int

const (
	// Wasserstein is D(fake) − D(record) + λ(‖∇D(x̂)‖−1)², with x̂ on the line between the record and
	// its own fake (Gulrajani et al. 2017). All three terms enter the record's gradient.
	Wasserstein CriticLoss = iota
	// Logistic is log(1+exp(−D(record))), and log(1+exp(D(fake))) for fakes that belong to no record.
	Logistic
	// Hinge is max(0, 1−D(record)), and max(0, 1+D(fake)) for fakes that belong to no record.
	Hinge
)

var criticLossNames = param.Names[CriticLoss]{Type: "models.CriticLoss", List: []string{
	Wasserstein: "wasserstein", Logistic: "logistic", Hinge: "hinge",
}}

// Known reports whether l is one of this package's losses.
func (l CriticLoss) Known() bool { return criticLossNames.Known(l) }

// String returns the name.
func (l CriticLoss) String() string { return criticLossNames.String(l) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value other than the constants.
func (l CriticLoss) MarshalText() ([]byte, error) { return criticLossNames.Marshal(l) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (l *CriticLoss) UnmarshalText(text []byte) error { return criticLossNames.Unmarshal(text, l) }

// OfRecord returns the loss for a record's score and the derivative of the loss with respect to the
// score.
func (l CriticLoss) OfRecord(score float64) (loss, slope float64) {
	loss, slope = l.OfFake(-score)
	return loss, -slope
}

// OfFake returns the loss for a fake's score and the derivative of the loss with respect to the
// score.
func (l CriticLoss) OfFake(score float64) (loss, slope float64) {
	switch l {
	case Logistic:
		return max(score, 0) + math.Log1p(math.Exp(-math.Abs(score))), 1 / (1 + math.Exp(-score))
	case Hinge:
		if 1+score > 0 {
			return 1 + score, 1
		}
		if math.IsNaN(score) {
			return score, score
		}
		return 0, 0
	}
	return score, 1
}

// OfGenerator returns the loss of a generator for a fake with the given score, and the derivative
// of the loss. For Logistic it is the non-saturating loss.
func (l CriticLoss) OfGenerator(score float64) (loss, slope float64) {
	if l == Hinge {
		return -score, -1
	}
	return l.OfRecord(score)
}

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
	// PairGradients returns the gradients of D(fakeᵢ) − D(xᵢ) + λ(‖∇D(x̂ᵢ)‖−1)² with x̂ᵢ = mixᵢ·xᵢ +
	// (1−mixᵢ)·fakeᵢ. The fake has the record's label. Shapes: fakes is Rows×Dim on the backend. The
	// result is valid until the next call.
	PairGradients(b device.Batch, fakes device.Matrix, mix []float32, lambda float64) BlockGradients
	// RecordGradients returns the gradients of loss.OfRecord(D(xᵢ)). The result is valid until the
	// next call.
	RecordGradients(b device.Batch, loss CriticLoss) BlockGradients
	// FakeGradients returns the gradients of loss.OfFake(D(x)) for the rows of x. These rows must be
	// fakes that depend on no record. It sets scores to the values of D. The result is valid until the
	// next call.
	FakeGradients(x device.Matrix, labels []int32, loss CriticLoss, scores []float64) BlockGradients
	// ScoreGradient sets scores to D and the rows of dx to slope(D)·∂D/∂x.
	ScoreGradient(dx, x device.Matrix, labels []int32, slope func(score float64) float64,
		scores []float64)
}

// A CriticArchitecture is a public description of a critic that can be written as JSON.
type CriticArchitecture interface {
	// Critic builds a critic for records of `in` coordinates, with labels if classes > 0. Weights are
	// drawn from a public seed. Errors: joined *param.Error values.
	Critic(be device.Backend, in, classes int, loss CriticLoss, seed uint64) (Critic, error)
	// Name returns a short stable name, such as "mlp".
	Name() string
}

// Critic builds a multilayer perceptron with one output.
//
// With the Wasserstein loss, the gradient of the penalty is one outer product per layer if every
// layer is piecewise linear (ReLU or LeakyReLU). Otherwise second derivatives add a second outer
// product, and training costs more.
//
// Errors: joined *param.Error values.
func (a MLP) Critic(be device.Backend, in, classes int, loss CriticLoss,
	seed uint64) (Critic, error) {
	var c checker
	c.Add(a.Validate())
	c.OK(!a.BatchNorm, "models.MLP.BatchNorm", a.BatchNorm,
		"false for a critic: batch norm mixes records")
	c.critic("models.MLP", be, in, classes, loss)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newCritic(be, CNN{Hidden: a.Hidden, Activation: a.Activation}, in, classes, loss, seed), nil
}

// sketch returns the computation of the terms of scores. A smooth activation f is a separate unit
// if the loss has a penalty, whose gradient needs f″.
func (a CNN) critic(in, classes int, loss CriticLoss) *graph {
	g := newSketch("critic")
	g.joint, g.rowsOnly = false, true
	smooth := a.Activation != ReLU && a.Activation != LeakyReLU
	h := a.hidden(g, g.input(in), a.Activation.fn(), smooth && loss == Wasserstein)
	g.dense(h, device.Identity, 1+classes)
	return g.done()
}

// Critic builds a convolutional network with one output; see MLP.Critic.
//
// Shapes: in must be Height·Width·Channels.
//
// Errors: joined *param.Error values.
func (a CNN) Critic(be device.Backend, in, classes int, loss CriticLoss,
	seed uint64) (Critic, error) {
	var c checker
	c.Add(a.Validate())
	c.OK(in == a.image().Len(), "models.CNN.Critic: in", in, a.imageLen())
	c.critic("models.CNN", be, in, classes, loss)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newCritic(be, a, in, classes, loss, seed), nil
}

func (c *checker) critic(path string, be device.Backend, in, classes int, loss CriticLoss) {
	c.OK(be != nil, path+".Critic", be, "a backend")
	c.positive(path+".Critic: in", in)
	c.nonNegative(path+".Critic: classes", classes)
	c.OK(loss.Known(), path+".Critic: loss", int(loss), "Wasserstein, Logistic or Hinge")
}

// critic is a sequence of layers that ends in a shared score and a score for each class.
type critic struct{ *criticState }

type criticState struct {
	*built  // its pass has one row for each record
	classes int
	pair    *pairs
	host    []float32
}

func newCritic(be device.Backend, a CNN, in, classes int, loss CriticLoss, seed uint64) *critic {
	g := a.critic(in, classes, loss)
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

// ScoreGradient sets scores to D and the rows of dx to slope(D)·∂D/∂x.
func (n *critic) ScoreGradient(dx, x device.Matrix, labels []int32, slope func(float64) float64,
	scores []float64) {
	t := n.tape.pass
	t.dx = dx
	n.run(t, x, labels, func(i int, score float64) float64 {
		scores[i] = score
		return slope(score)
	})
	t.backward()
	t.dx = device.Matrix{}
}

// CriticSize returns the number of parameters of a critic, saturating at math.MaxInt64.
func (a MLP) CriticSize(in, classes int) int64 {
	return CNN{Hidden: a.Hidden}.critic(in, classes, Logistic).size()
}

// CriticSize returns the number of parameters of a critic, saturating at math.MaxInt64.
func (a CNN) CriticSize(_, classes int) int64 {
	return a.critic(a.image().Len(), classes, Logistic).size()
}
