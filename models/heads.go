package models

import (
	"fmt"
	"sync"

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
	spans [SoftmaxHead + 1][][2]int // first and last+1 coordinate of heads of every kind
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
	lo := 0
	for _, h := range u.heads {
		u.spans[h.Out] = append(u.spans[h.Out], [2]int{lo, lo + h.Width})
		lo += h.Width
	}
	return u
}

func (u *headUnit) out() int { return u.width }

// headFuncs are the functions of heads whose coordinates are independent.
var headFuncs = map[HeadKind]device.Func{SigmoidHead: device.Sigmoid, TanhHead: device.Tanh}

// manyHeads is the number of heads from which they are applied to blocks of rows, each of which has
// blockOfHeads coordinates, few enough for the cache of a core.
const manyHeads, blockOfHeads = 8, 1 << 16

func (u *headUnit) many(m device.Matrix) bool { return m.Mem == nil && len(u.heads) >= manyHeads }

// A headOp applies a head to d, or its derivative, given its result y.
type headOp func(be device.Backend, k HeadKind, y, d device.Matrix)

// copied copies from to to, to which it then applies every head, on all cores if there are many.
func (u *headUnit) copied(be device.Backend, do headOp, y, from, to device.Matrix) {
	s, ok := be.(device.Sharing)
	if !ok || !u.many(y) {
		be.Apply(device.Identity, to, from)
		u.each(be, do, y, to)
		return
	}
	block := max(blockOfHeads/u.width, 1)
	s.Share((y.Rows+block-1)/block, func(i int) {
		first, last := i*block, min((i+1)*block, y.Rows)
		be.Apply(device.Identity, to.RowRange(first, last), from.RowRange(first, last))
		u.each(be, do, y.RowRange(first, last), to.RowRange(first, last))
	})
}

// each calls do with every head that changes its coordinates. If there are many heads, it calls do
// with all columns of one function together, in copies; that of d is copied back.
func (u *headUnit) each(be device.Backend, do headOp, y, d device.Matrix) {
	for kind, spans := range u.spans {
		k, together := HeadKind(kind), len(spans) > 1 && u.many(y)
		switch {
		case k == Linear:
		case k != SoftmaxHead && together:
			u.gathered(be, do, k, y, d)
		default:
			for _, s := range spans {
				do(be, k, y.Slice(0, y.Rows, s[0], s[1]), d.Slice(0, y.Rows, s[0], s[1]))
			}
		}
	}
}

var headRooms = sync.Pool{New: func() any { return new([]float32) }}

// gathered calls do with copies of the columns of one function, of about a thousand numbers, and
// copies the second ones back.
func (u *headUnit) gathered(be device.Backend, do headOp, k HeadKind, y, d device.Matrix) {
	room, rows := headRooms.Get().(*[]float32), 1+1024/u.width
	*room = grow(*room, 2*rows*u.width)
	for lo := 0; lo < y.Rows; lo += rows {
		hi, n := min(lo+rows, y.Rows), 0
		from, to := (*room)[:rows*u.width], (*room)[rows*u.width:]
		for i := lo; i < hi; i++ {
			out, grad := y.Row(i), d.Row(i)
			for _, s := range u.spans[k] {
				for j := s[0]; j < s[1]; j++ {
					from[n], to[n] = out[j], grad[j]
					n++
				}
			}
		}
		do(be, k, device.HostMatrix(1, n, from), device.HostMatrix(1, n, to))
		for i := lo; i < hi; i++ {
			for _, s := range u.spans[k] {
				to = to[copy(d.Row(i)[s[0]:s[1]], to):]
			}
		}
	}
	headRooms.Put(room)
}

func (u *headUnit) forward(t *pass, n *node) {
	u.copied(t.be, applyHead, t.value(n), t.operand(n, 0), t.value(n))
}

func (u *headUnit) backward(t *pass, n *node) {
	t.pull(n, 0, func(dx device.Matrix) {
		u.copied(t.be, headGradient, t.value(n), t.delta(n), dx)
	})
}

// apply applies the heads to y, in place.
func (u *headUnit) apply(be device.Backend, y device.Matrix) { u.each(be, applyHead, y, y) }

func applyHead(be device.Backend, k HeadKind, y, d device.Matrix) {
	if k == SoftmaxHead {
		be.Softmax(d)
	} else {
		be.Apply(headFuncs[k], d, y)
	}
}

func headGradient(be device.Backend, k HeadKind, y, d device.Matrix) {
	if k == SoftmaxHead {
		softmaxGradient(be, y, d)
	} else {
		be.Gradient(headFuncs[k], d, y)
	}
}

// softmaxGradient turns the derivative δ with respect to p = softmax(x) into the derivative with
// respect to x: p ∘ (δ − Σ p δ).
func softmaxGradient(be device.Backend, p, delta device.Matrix) {
	from, to := toHost(be, p, nil), toHost(be, delta, nil)
	host.SoftmaxGradient(from, to)
	upload(be, delta, to)
}
