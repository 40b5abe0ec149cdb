package models

import (
	"fmt"
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// built is a graph with parameters and a pass for training: what the networks of this package have
// in common.
type built struct {
	*weights
	be   device.Backend
	g    *graph
	tape *tape
	pool sync.Pool // of passes that do not train
}

func newBuilt(be device.Backend, g *graph, w *weights) *built {
	return &built{weights: w, be: be, g: g, tape: newPass(be, g, w)}
}

// replica returns a network that computes on another backend with the current parameters.
func (n *built) replica(be device.Backend) *built {
	w := &weights{fixed: n.fixed}
	w.bind(n.params)
	return newBuilt(be, n.g, w)
}

// Dim returns the number of coordinates of a record.
func (n *built) Dim() int { return n.g.nodes[0].width }

// Params returns the weights and biases, layer by layer.
func (n *built) Params() device.Params { return n.params }

// Bind moves the parameters into p.
func (n *built) Bind(p device.Params) { n.move(n.be, p) }

// gradients runs a batch forward and backward.
func (n *built) gradients(b device.Batch) *tape {
	t := n.tape
	t.batch = b
	t.run(t.read(b), b.Rows)
	t.backward()
	return t
}

// idle returns a pass that no other caller has.
func (n *built) idle() *tape {
	if t, _ := n.pool.Get().(*tape); t != nil {
		return t
	}
	t := newPass(n.be, n.g, n.weights)
	t.trains = false
	return t
}

// read returns the batch's records in a form that the units can read.
func (t *pass) read(b device.Batch) record {
	r := t.stage.record(b)
	if t.g.rowsOnly && r.sparse != nil && b.Rows > 0 {
		return record{dense: t.stage.densify(r.sparse, b.Rows)}
	}
	return r
}

// Format prints the size of the network.
func (t *pass) Format(f fmt.State, _ rune) { describe(f, t.g.nodes[0].width, t.params.Len()) }

// A lossUnit is a term of the loss. Nothing reads its value, which has no numbers.
type lossUnit interface {
	unit
	// addLosses adds the losses of the records of the last pass to dst.
	addLosses(t *pass, n *node, dst []float64)
}

// Losses sets dst to the loss of each record.
func (t *pass) Losses(dst []float64) {
	clear(dst[:t.rows])
	for _, n := range t.g.nodes {
		if u, ok := n.unit.(lossUnit); ok && t.rows > 0 {
			u.addLosses(t, n, dst)
		}
	}
}

// end adds a loss of x, whose derivative overwrites x.
func (g *sketch) end(u lossUnit, x *node, more ...*node) {
	x.over = true
	g.add(u, append([]*node{x}, more...)...)
}

// crossEntropy is the loss of logits for the labels of the batch, or for given class probabilities.
type crossEntropy struct{}

func (crossEntropy) out() int             { return 0 }
func (crossEntropy) forward(*pass, *node) {}

// backward sets the derivative to the difference of probabilities. A record without a label, or
// with a label that does not exist, has derivative zero.
func (crossEntropy) backward(t *pass, n *node) {
	logits := t.operand(n, 0)
	t.losses = grow(t.losses, t.rows)
	t.pull(n, 0, func(delta device.Matrix) {
		t.be.Apply(device.Identity, delta, logits)
		t.be.Softmax(delta)
		host := toHost(t.be, delta, nil)
		for i := range t.rows {
			t.losses[i] = t.subtractTarget(i, host.Row(i))
		}
		upload(t.be, delta, host)
	})
}

// subtractTarget subtracts what record i should be from probabilities, and returns the loss.
func (t *pass) subtractTarget(i int, row []float32) (loss float64) {
	if t.soft.Rows > 0 {
		for j, v := range t.soft.Row(i) {
			loss -= float64(v) * logOf(row[j])
			row[j] -= v
		}
		return loss
	}
	if labels := t.batch.Labels; labels != nil && labels[i] >= 0 && int(labels[i]) < len(row) {
		loss = -logOf(row[labels[i]])
		row[labels[i]]--
		return loss
	}
	clear(row)
	return 0
}

func (crossEntropy) addLosses(t *pass, _ *node, dst []float64) { addTo(dst, t.losses[:t.rows]) }

func logOf(p float32) float64 { return math.Log(max(float64(p), 1e-30)) }

// reconstruction is the negative log-likelihood of its second operand, the record, given the sums
// of a last layer. For a layout, the layer's function is the identity.
type reconstruction struct {
	visible Visible
	layout  *layout     // nil if records have no blocks
	output  device.Func // of sums that come without the output function; Identity otherwise
}

func (*reconstruction) out() int             { return 0 }
func (*reconstruction) forward(*pass, *node) {}

// backward: for both likelihoods, and for the cross-entropy of a softmax, the derivative with
// respect to the sums before the output function is mean − record.
func (u *reconstruction) backward(t *pass, n *node) {
	means := t.operand(n, 0)
	u.layout.means(t.be, means)
	t.pull(n, 0, func(delta device.Matrix) {
		if u.output != device.Identity {
			t.be.Apply(u.output, delta, means)
			means = delta
		}
		if n.from[1].id == 0 {
			t.stage.subtract(delta, means, t.x)
		} else {
			t.be.Sub(delta, means, t.operand(n, 1))
		}
		if u.layout != nil {
			u.layout.dropMissing(t.be, delta, t.x.dense, t.keep(n, 2, 1))
		}
		if !n.from[0].over {
			t.be.Apply(device.Identity, t.keep(n, 1, delta.Cols), delta)
		}
	})
}

// addLosses computes the means as delta + record. The loss of a Gaussian likelihood lacks its
// constant.
func (u *reconstruction) addLosses(t *pass, n *node, dst []float64) {
	delta := t.keep(n, 1, n.from[0].width)
	if n.from[0].over {
		delta = t.delta(n.from[0])
	}
	delta = toHost(t.be, delta, nil)
	x := make([]float32, delta.Cols)
	for i := range t.rows {
		t.hostRecord(x, n.from[1], i)
		if u.layout != nil {
			dst[i] += u.layout.loss(u.visible.Likelihood, delta.Row(i), x)
			continue
		}
		for j, d := range delta.Row(i) {
			dst[i] += u.visible.Likelihood.loss(float64(d)+float64(x[j]), float64(x[j]))
		}
	}
}

// hostRecord sets x to row i of a value.
func (t *pass) hostRecord(x []float32, of *node, i int) {
	if s := t.x.sparse; s != nil && of.id == 0 {
		clear(x)
		for _, item := range s.Row(i) {
			x[item]++
		}
		return
	}
	t.be.Download(x, t.value(of).RowRange(i, i+1))
}

// loss returns the loss of one coordinate, with probabilities kept away from 0 and 1.
func (l Likelihood) loss(mean, x float64) float64 {
	if l == GaussianUnit {
		return 0.5 * (mean - x) * (mean - x)
	}
	p := min(max(mean, 1e-7), 1-1e-7)
	return -x*math.Log(p) - (1-x)*math.Log1p(-p)
}
