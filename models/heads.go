package models

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// HeadKind is the output function of a Head.
type HeadKind int

const (
	Linear      HeadKind = iota // unchanged
	SigmoidHead                 // each coordinate in [0,1]
	TanhHead                    // each coordinate in [−1,1]
	SoftmaxHead                 // all coordinates together are the probabilities of one choice
)

var headNames = param.Names[HeadKind]{Type: "models.HeadKind", List: []string{
	Linear: "linear", SigmoidHead: "sigmoid", TanhHead: "tanh", SoftmaxHead: "softmax",
}}

func (k HeadKind) known() bool { return headNames.Known(k) }

// String returns the name.
func (k HeadKind) String() string { return headNames.String(k) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value other than the constants.
func (k HeadKind) MarshalText() ([]byte, error) { return headNames.Marshal(k) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (k *HeadKind) UnmarshalText(text []byte) error { return headNames.Unmarshal(text, k) }

// A Head describes consecutive output coordinates of a Generator that share an output function.
type Head struct {
	Width int      `json:"width"`
	Out   HeadKind `json:"out"`
}

func (c *checker) heads(path string, heads []Head) {
	c.OK(len(heads) > 0, path, len(heads), "at least one head")
	total := 0
	for i, h := range heads {
		c.OK(h.Width > 0 && h.Width <= maxHeads, fmt.Sprintf("%s[%d].Width", path, i), h.Width,
			fmt.Sprintf("an integer from 1 to %d", maxHeads))
		c.OK(h.Out.known(), fmt.Sprintf("%s[%d].Out", path, i), int(h.Out),
			"Linear, SigmoidHead, TanhHead or SoftmaxHead")
		total += max(min(h.Width, maxHeads), 0)
	}
	c.OK(total <= maxHeads, path, total, fmt.Sprintf("at most %d coordinates", maxHeads))
}

// maxHeads bounds the coordinates of a record, so sizes stay far from overflowing.
const maxHeads = 1 << 30

func headsWidth(heads []Head) int {
	total := 0
	for _, h := range heads {
		total += h.Width
	}
	return total
}

// headUnit applies heads to the output of the unit before it.
type headUnit struct {
	heads []Head
	width int
}

// heads adds a unit that applies the heads, or no unit if all heads are linear.
func (g *sketch) heads(x *node, heads []Head) *node {
	for _, h := range heads {
		if h.Out != Linear {
			return g.add(newHeadUnit(heads), x)
		}
	}
	return x
}

func newHeadUnit(heads []Head) *headUnit {
	u := &headUnit{width: headsWidth(heads)}
	for _, h := range heads {
		last := len(u.heads) - 1
		if last >= 0 && h.Out != SoftmaxHead && u.heads[last].Out == h.Out {
			u.heads[last].Width += h.Width // the function is element-wise: adjacent heads become one
			continue
		}
		u.heads = append(u.heads, h)
	}
	return u
}

func (u *headUnit) out() int { return u.width }

func (u *headUnit) forward(t *pass, n *node) {
	t.be.Apply(device.Identity, t.value(n), t.operand(n, 0))
	u.apply(t.be, t.value(n))
}

// headFuncs are the functions of heads whose coordinates are independent.
var headFuncs = map[HeadKind]device.Func{SigmoidHead: device.Sigmoid, TanhHead: device.Tanh}

// manyHeads is the number of heads from which they are applied to blocks of rows, each of which has
// blockOfHeads coordinates, few enough for the cache of a core.
const manyHeads, blockOfHeads = 16, 1 << 16

// each calls do with every head that changes its coordinates, which are columns lo to hi−1 of
// matrices like m, and with ranges of rows.
func (u *headUnit) each(m device.Matrix, do func(k HeadKind, first, last, lo, hi int)) {
	block := m.Rows
	if m.Mem == nil && len(u.heads) >= manyHeads {
		block = max(blockOfHeads/u.width, 1)
	}
	for first := 0; first < m.Rows; first += block {
		last, lo := min(first+block, m.Rows), 0
		for _, h := range u.heads {
			if h.Out != Linear {
				do(h.Out, first, last, lo, lo+h.Width)
			}
			lo += h.Width
		}
	}
}

// apply applies the heads to y, in place.
func (u *headUnit) apply(be device.Backend, y device.Matrix) {
	u.each(y, func(k HeadKind, first, last, lo, hi int) {
		part := y.Slice(first, last, lo, hi)
		if k == SoftmaxHead {
			be.Softmax(part)
		} else {
			be.Apply(headFuncs[k], part, part)
		}
	})
}

func (u *headUnit) backward(t *pass, n *node) {
	y, delta := t.value(n), t.delta(n)
	u.each(y, func(k HeadKind, first, last, lo, hi int) {
		out, d := y.Slice(first, last, lo, hi), delta.Slice(first, last, lo, hi)
		if k == SoftmaxHead {
			t.softmaxGradient(out, d)
		} else {
			t.be.Gradient(headFuncs[k], d, out)
		}
	})
	t.pull(n, 0, func(dx device.Matrix) { t.be.Apply(device.Identity, dx, delta) })
}

// softmaxGradient turns the derivative δ with respect to p = softmax(x) into the derivative with
// respect to x: p ∘ (δ − Σ p δ).
func (t *pass) softmaxGradient(p, delta device.Matrix) {
	from, to := toHost(t.be, p, nil), toHost(t.be, delta, nil)
	if width := p.Cols; from.Stride == width && to.Stride == width {
		from, to = from.Reshape(1, p.Rows*width), to.Reshape(1, p.Rows*width)
	}
	for i := range from.Rows {
		host.SoftmaxGradient(p.Cols, from.Row(i), to.Row(i))
	}
	t.upload(delta, to)
}
