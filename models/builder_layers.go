package models

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// ConvTransposed applies the transpose of a convolution: it returns the image of height
// (h−1)·Stride+Size−2·Pad, with Maps channels.
func (v Value) ConvTransposed(c Convolution) Value {
	side := func(n int) int { return (n-1)*max(c.Stride, 1) + c.Size - 2*c.Pad }
	m := device.Image{Height: side(v.image.Height), Width: side(v.image.Width), Channels: c.Maps}
	w, from := v.b.window(c, m, v.image.Channels, "Value.ConvTransposed")
	v.b.need(c.Maps > 0 && from == v.image, "Value.ConvTransposed", "maps, and a window that fits")
	return Value{v.b, v.b.transposed(v.n, device.Identity, w, v.image.Channels), m}
}

// MaxPool takes the largest number of each channel in every window. Maps is ignored.
func (v Value) MaxPool(c Convolution) Value { return v.pooled(c, true) }

// MeanPool takes the mean of each channel in every window; zeros around the image count. Maps is
// ignored.
func (v Value) MeanPool(c Convolution) Value { return v.pooled(c, false) }

func (v Value) pooled(c Convolution, most bool) Value {
	w, m := v.b.window(c, v.image, v.image.Channels, "Value.MaxPool")
	return Value{v.b, v.b.rowwise(pool{w, most}, v.n), m}
}

// LayerNorm scales the numbers of every position to mean 0 and variance 1, and then each number by
// a learnt gain and shift.
func (v Value) LayerNorm() Value { return v.scaled(scaling{v.image.Channels, 1}) }

// RMSNorm is LayerNorm without a mean.
func (v Value) RMSNorm() Value { return v.scaled(scaling{v.image.Channels, 0}) }

// GroupNorm is like LayerNorm for groups of channels, over all positions of a record.
func (v Value) GroupNorm(groups int) Value {
	c := v.image.Channels
	v.b.need(groups > 0 && c%groups == 0, "Value.GroupNorm", "a divisor of the channels")
	return v.wide(v.b.add(&groupUnit{gainUnit: gainUnit{v.places(), c}, groups: groups}, v.n))
}

func (v Value) scaled(s scaling) Value {
	return v.wide(v.b.add(&gainUnit{v.places(), v.image.Channels}, v.b.rowwise(s, v.n)))
}

// Dropout sets numbers to zero with the given probability while the network is trained. The choice
// depends on the record's key.
func (v Value) Dropout(probability float64) Value {
	v.b.need(probability >= 0 && probability < 1, "Value.Dropout", "a probability below 1")
	return v.wide(v.b.rowwise(dropout{probability}, v.n))
}

// Softmax makes the numbers of every position probabilities.
func (v Value) Softmax() Value {
	heads := slices.Repeat([]Head{{v.image.Channels, SoftmaxHead}}, v.places())
	return v.wide(v.b.heads(v.n, heads))
}

// Attend returns, for every position of the queries v, the mean of values weighted by the softmax
// of scaled products of query and keys, separately for each head. If causal, position p sees
// positions 0 to p only. If present is given, it has one number for each key. Keys whose number is
// not positive are padding, which no query sees.
func (v Value) Attend(keys, values Value, heads int, causal bool, present ...Value) Value {
	width, wide := v.image.Channels, values.image.Channels
	v.b.need(heads > 0 && width == keys.image.Channels && keys.places() == values.places() &&
		width%heads == 0 && wide%heads == 0 && v.b == keys.b && v.b == values.b, "Value.Attend",
		"keys as wide as queries, a value for each key, and widths that are multiples of heads")
	from := []*node{v.n, keys.n, values.n}
	for _, w := range present {
		v.b.need(w.b == v.b && w.size() == keys.places() && !w.n.learns && len(present) == 1,
			"Value.Attend", "one number without parameters for each key")
		from = append(from, w.n)
	}
	u := &attentionUnit{v.places(), keys.places(), width, wide, heads, causal}
	return v.wide(v.b.add(u, from...))
}

// Do applies an operation of the caller to rows of v and other values of the same record. The
// result has one position.
func (v Value) Do(op Op, others ...Value) Value {
	v.b.need(op != nil, "Value.Do", "an operation")
	from := []*node{v.n}
	for _, w := range others {
		v.b.need(v.b == w.b, "Value.Do", "values of one Build")
		from = append(from, w.n)
	}
	n := v.b.rowwise(op, from...)
	v.b.need(n.width > 0, "Value.Do", "an operation with results")
	return Value{v.b, n, device.Image{Height: 1, Width: 1, Channels: n.width}}
}

// Frozen makes the parameters of the layer that computed v public: they are not trained. They come
// from the seed of Build, and [Classifier.Frozen] returns them. Call it at once, before other
// operations read the value or use its parameters.
func (v Value) Frozen() Value {
	_, parameters := v.n.unit.(weighted)
	uses := func(m *node) bool { return m.like == v.n }
	v.b.need(parameters && v.n.like == nil && v.n.readers == 0 &&
		!slices.ContainsFunc(v.b.nodes, uses), "Value.Frozen",
		"the value of one layer with parameters, which nothing reads and no other layer shares yet")
	v.n.frozen, v.n.learns = true, v.n.from[0].learns
	return v
}
