package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// A Value is a row of numbers that a network computes for one record: a number of positions with
// the same number of numbers each. Operations work on positions one by one unless they say
// otherwise. The positions of an image are its pixels, row by row. A Value must stay within its
// Build.
type Value struct {
	b     *builder
	n     *node
	image device.Image // its channels are the numbers of a position
}

// builder collects the operations of a Build.
type builder struct{ *sketch }

// A Loss is what a record's gradient lowers.
type Loss struct{ of *node }

// Build builds a network from the computation of one record's loss, where x is the record, a dense
// row or a sparse set of the given number of coordinates. Weights are drawn from a public seed.
// Predictions, per-example gradients, their norms and their sums in fixed point follow from the
// computation.
//
// No operation joins records, so package sgd can train every network that Build returns privately.
// For the same reason there is no batch normalisation, and no loss that compares records.
//
// Errors: a *param.Error for operands that do not fit, for values that the loss does not depend on,
// and for a loss that depends on no parameters. An operation on a Value panics with such an error
// after its Build has returned.
func Build(be device.Backend, dim int, seed uint64, compute func(x Value) Loss) (net *Classifier,
	err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *param.Error:
			net, err = nil, p
		default:
			panic(p)
		}
	}()
	b := &builder{newSketch("net")}
	b.whole = true
	b.need(be != nil && dim > 0 && dim <= maxHeads && compute != nil, "Build",
		"a backend, a number of coordinates from 1 to 2³⁰, and a computation")
	last := compute(Value{b, b.input(dim), device.Image{Height: 1, Width: 1, Channels: dim}}).of
	b.need(last != nil && last == b.last(), "Build", "the loss that was computed last")
	b.need(last.from[0].learns, "Build", "a loss that depends on parameters that are trained")
	b.prune()
	b.fuse()
	g, rng := b.done(), rand.New(rand.NewPCG(seed, 0x6e6574))
	b.need(g.size() <= 4*maxHeads, "Build", "at most 2³² parameters")
	return newClassifier(be, g, last.from[0].width, rng), nil
}

// need ends the construction unless good is true.
func (b *builder) need(good bool, path, want string) {
	if b == nil || !good {
		panic(param.New("models."+path, "another operand", want))
	}
}

func (v Value) places() int { return v.image.Height * v.image.Width }

// size returns the number of numbers of a record.
func (v Value) size() int { return v.image.Len() }

// wide returns a value with as many positions as v, of other numbers.
func (v Value) wide(n *node) Value {
	v.image.Channels = n.width / v.places()
	v.n = n
	return v
}

// Shape returns the same numbers with another form. Positions of a sequence are an image of height
// 1, and Shape(1, 1, n) is one position of n numbers.
func (v Value) Shape(height, width, channels int) Value {
	m := device.Image{Height: height, Width: width, Channels: channels}
	v.b.need(min(height, width, channels) > 0 && m.Len() == v.size(), "Value.Shape",
		"height·width·channels numbers")
	return Value{v.b, v.n, m}
}

// Dense returns xW + b, with the given number of numbers.
func (v Value) Dense(width int) Value {
	v.b.need(width > 0, "Value.Dense", "a positive width")
	u := &denseUnit{places: v.places(), width: v.image.Channels, wide: width}
	return v.wide(v.b.add(u, v.n))
}

// Like applies to v the layer that computed the value of, with the same parameters.
func (v Value) Like(of Value) Value {
	v.b.need(v.b == of.b && of.n.sharable() && of.n.from[0].width == v.size() && v.n.id > 0,
		"Value.Like", "a value of a dense layer or a convolution with operands as wide; the record only "+
			"where the layer is used first")
	of.n = v.b.again(of.n, v.n)
	return of
}

// sharable reports whether other values can have the parameters of n.
func (n *node) sharable() bool {
	switch n.unit.(type) {
	case *denseUnit, *convUnit, *transposedUnit:
		return true
	}
	return false
}

// Conv applies a convolution.
func (v Value) Conv(c Convolution) Value {
	w, m := v.b.window(c, v.image, c.Maps, "Value.Conv")
	return Value{v.b, v.b.convolve(v.n, device.Identity, w, c.Maps), m}
}

// window returns the window of c over images of the form m, and the form of images with the given
// number of maps that have a pixel for each place.
func (b *builder) window(c Convolution, m device.Image, maps int, path string) (device.Window,
	device.Image) {
	b.need(maps > 0 && maps <= maxHeads && min(m.Height, m.Width) > 0 && c.Size > 0 &&
		c.Size <= maxSide && c.Stride >= 0 && c.Stride <= maxSide && c.Pad >= 0 && c.Pad < c.Size, path,
		"maps, and a window with a stride and less padding than its size")
	w := c.over(m)
	b.need(w.Places() > 0, path, "a window that fits")
	height, width := w.Grid()
	return w, device.Image{Height: height, Width: width, Channels: maps}
}

// Apply applies f to every number.
func (v Value) Apply(f device.Func) Value {
	_, err := f.MarshalText()
	v.b.need(err == nil, "Value.Apply", "a constant of type device.Func")
	return v.wide(v.b.apply(f, v.n))
}

// Plus returns v + w.
func (v Value) Plus(w Value) Value { return v.plus(1, w, 1) }

// Scale returns v times a constant.
func (v Value) Scale(factor float64) Value {
	v.b.need(math.Abs(factor) <= math.MaxFloat32, "Value.Scale", "a finite factor")
	c := v.image.Channels
	return v.linear(c, []linearTerm{{0, 0, 0, c, float32(factor)}})
}

func (v Value) plus(a float32, w Value, b float32) Value {
	v.b.need(v.b == w.b && v.size() == w.size(), "Value.Plus", "as many numbers")
	c := v.image.Channels
	return v.linear(c, []linearTerm{{0, 0, 0, c, a}, {1, 0, 0, c, b}}, w)
}

// Times returns the product of v and w, number by number.
func (v Value) Times(w Value) Value {
	v.b.need(v.b == w.b && v.size() == w.size(), "Value.Times", "as many numbers")
	return v.wide(v.b.add(&productUnit{v.size()}, v.n, w.n))
}

// Concat joins values with the same number of positions, position by position.
func (v Value) Concat(others ...Value) Value {
	at := v.image.Channels
	terms := []linearTerm{{0, 0, 0, at, 1}}
	for k, w := range others {
		v.b.need(v.b == w.b && w.places() == v.places(), "Value.Concat", "as many positions")
		terms = append(terms, linearTerm{1 + k, at, 0, w.image.Channels, 1})
		at += w.image.Channels
	}
	return v.linear(at, terms, others...)
}

// Columns returns numbers lo to hi−1 of every position.
func (v Value) Columns(lo, hi int) Value {
	v.b.need(0 <= lo && lo < hi && hi <= v.image.Channels, "Value.Columns", "a range of its numbers")
	return v.linear(hi-lo, []linearTerm{{0, 0, lo, hi, 1}})
}

// Mean returns the mean over all positions.
func (v Value) Mean() Value {
	var terms []linearTerm
	count, c := v.places(), v.image.Channels
	for p := range count {
		terms = append(terms, linearTerm{0, 0, p * c, (p + 1) * c, 1 / float32(count)})
	}
	return v.Shape(1, 1, v.size()).linear(c, terms)
}

func (v Value) linear(wide int, terms []linearTerm, others ...Value) Value {
	from := []*node{v.n}
	for _, w := range others {
		from = append(from, w.n)
	}
	return v.wide(v.b.add(&linearUnit{v.places(), wide, terms}, from...))
}

// Embed replaces every number, a level from 0 to levels−1, with a learnt row of the given width at
// a position of its own.
func (v Value) Embed(levels, width int) Value {
	v.b.need(levels > 0 && levels <= 1<<24 && width > 0 && !v.n.learns, "Value.Embed",
		"a width, up to 2²⁴ levels (more are not float32 numbers), and values without parameters")
	return Value{v.b, v.b.add(&embedUnit{v.size(), levels, width}, v.n),
		device.Image{Height: 1, Width: v.size(), Channels: width}}
}

// LSTM runs a recurrent network of long short-term memory over the positions. It returns its state
// after each. Source: Hochreiter and Schmidhuber 1997, with forget gates.
func (v Value) LSTM(hidden int) Value {
	var c Value
	return v.recur(4*hidden, hidden, func(x, wh, _ Value) Value {
		sums := x.Plus(wh)
		gates := sums.Columns(0, 3*hidden).Apply(device.Sigmoid)
		next := gates.Columns(0, hidden).Times(sums.Columns(3*hidden, 4*hidden).Apply(device.Tanh))
		if c.b != nil {
			next = next.Plus(gates.Columns(hidden, 2*hidden).Times(c))
		}
		c = next
		return gates.Columns(2*hidden, 3*hidden).Times(c.Apply(device.Tanh))
	})
}

// GRU runs a network of gated recurrent units over the positions. It returns its state after each.
// Source: Cho et al. 2014, with a bias of its own for the state, as in cuDNN.
func (v Value) GRU(hidden int) Value {
	return v.recur(3*hidden, hidden, func(x, wh, h Value) Value {
		gates := x.Columns(0, 2*hidden).Plus(wh.Columns(0, 2*hidden)).Apply(device.Sigmoid)
		reset := gates.Columns(0, hidden).Times(wh.Columns(2*hidden, 3*hidden))
		next := x.Columns(2*hidden, 3*hidden).Plus(reset).Apply(device.Tanh)
		return next.Plus(gates.Columns(hidden, 2*hidden).Times(h.plus(1, next, -1)))
	})
}

// recur calls step for every position, with the sums for it there, the sums for the state h before
// it, and h, which is 0 at first. It joins the states that step returns.
func (v Value) recur(sums, hidden int, step func(x, wh, h Value) Value) Value {
	all := v.Dense(sums)
	x := all.Shape(1, 1, all.n.width)
	h := x.linear(hidden, []linearTerm{{0, 0, 0, hidden, 0}})
	var first Value
	var states []Value
	for p := range v.places() {
		if p == 0 {
			first = h.Dense(sums)
		}
		wh := first
		if p > 0 {
			wh = h.Like(first)
		}
		h = step(x.Columns(p*sums, (p+1)*sums), wh, h)
		states = append(states, h)
	}
	return states[0].Concat(states[1:]...).Shape(v.image.Height, v.image.Width, hidden)
}

// Latent draws latent variables of mean μ and standard deviation exp(8·tanh(r/8)), where v is [μ |
// r], from the record's key. It adds beta times their divergence from the standard Gaussian to the
// loss. Predictions use the mean.
func (v Value) Latent(beta float64) Value {
	v.b.need(v.size()%2 == 0 && beta >= 0 && beta <= math.MaxFloat32, "Value.Latent",
		"an even number of numbers, and a finite weight")
	u := &latentUnit{latent: v.size() / 2, beta: beta}
	for _, n := range v.b.nodes {
		if _, ok := n.unit.(*latentUnit); ok {
			u.salt++
		}
	}
	return v.Shape(1, 1, v.size()).wide(v.b.add(u, v.n))
}

// CrossEntropy is −log softmax(v) at the label of the record, where v has one position.
func (v Value) CrossEntropy() Loss {
	v.b.need(v.places() == 1, "Value.CrossEntropy", "one position, with a number for each class")
	return Loss{v.b.add(crossEntropy{}, v.n)}
}

// Likelihood is the negative log-likelihood of target, up to a constant, where v are the means of a
// Gaussian, or for Bernoulli the logits.
func (v Value) Likelihood(l Likelihood, target Value) Loss {
	v.b.need(l.known() && v.b == target.b && target.size() == v.size() && !target.n.learns,
		"Value.Likelihood", "a likelihood, and a target with as many numbers and without parameters")
	u := &reconstruction{visible: Visible{Likelihood: l}, output: l.output()}
	return Loss{v.b.add(u, v.n, target.n)}
}

// prune checks that every value matters, and that sizes are far from overflowing.
func (b *builder) prune() {
	for _, n := range b.nodes {
		_, loss := n.unit.(lossUnit)
		b.need(n.width <= maxHeads && (n.width > 0 || loss), "Build", "values of 1 to 2³⁰ numbers")
		if n.readers == 0 && n != b.last() {
			panic(param.New("models.Build", fmt.Sprintf("%s (%T)", n.name, n.unit),
				"no values that the loss does not depend on"))
		}
	}
}

// fuse makes functions part of the layers before them, where nothing else reads what comes between.
// It lets the derivative of the last layer overwrite its value.
func (b *builder) fuse() {
	kept, moved := b.nodes[:0], map[*node]*node{}
	for _, n := range b.nodes {
		for k, f := range n.from {
			if m := moved[f]; m != nil {
				n.from[k] = m
			}
		}
		if f, ok := n.unit.(*funcUnit); ok && n.from[0].readers == 1 && n.from[0].takes(f.f) {
			moved[n], n.from[0].readers = n.from[0], n.readers
			continue
		}
		if _, ok := n.unit.(lossUnit); ok && n.width == 0 && n.from[0].readers == 1 {
			n.from[0].over = n.from[0].takes(device.Identity)
		}
		kept = append(kept, n)
	}
	b.nodes = kept
}

// takes makes f the function of a layer, unless it is another unit or has a function.
func (n *node) takes(f device.Func) bool {
	if f == device.ReLU || f == device.LeakyReLU {
		n.gain = 2
	}
	switch u := n.unit.(type) { // other nodes may have the same unit
	case *denseUnit:
		if u.f == device.Identity {
			own := *u
			own.f, own.slope, n.unit = f, f, &own
			return true
		}
	case *convUnit:
		if u.f == device.Identity {
			own := *u
			own.f, own.slope, n.unit = f, f, &own
			return true
		}
	case *groupUnit:
		if own := *u; u.f == device.Identity && f != device.Identity {
			own.f, n.unit = f, &own
			return true
		}
	}
	return false
}
