package rff

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// An Embedding is a public, differentiable feature map of bounded norm for all records of a layout.
// A sum of features over records therefore has a known sensitivity. A generator can be trained
// against such a sum, because the map has a derivative.
//
// Embeddings of this package are safe for concurrent use.
type Embedding interface {
	// In returns the width of a record and Dim the number of features.
	In() int
	Dim() int
	// NormBound returns a bound on ‖φ(x)‖ for every record of the layout. It is the sensitivity of a
	// sum under add/remove.
	//
	// Guarantee: the float32 rows that Transform writes satisfy the bound too, unless the type's
	// documentation states otherwise. A private sum clips rows to the bound in any case.
	NormBound() float64
	// ChangeBound returns a bound on ‖φ(x)−φ(x′)‖ for every two records, which is the sensitivity
	// under replace-one. It is 2·NormBound unless a smaller bound has been proven.
	ChangeBound() float64
	// Transform writes the features of the batch's records into dst.
	//
	// Shapes: dst is b.Rows × Dim in be's memory.
	Transform(be device.Backend, b device.Batch, dst device.Matrix)
	// Backward sets row i of dx to J(xᵢ)ᵀ·deltaᵢ, where J is the derivative of the features with
	// respect to the record. It converts the derivative of a loss with respect to features into the
	// derivative with respect to records. Records may be soft: any coordinate may have any value in
	// [0,1]. Scratch memory is kept for the next call.
	//
	// Shapes: x and dx are rows × In, delta is rows × Dim. dx is overwritten and
	// may not overlap x.
	Backward(be device.Backend, x, delta, dx device.Matrix)
}

// An EmbeddingKernel describes an embedding. The same description, layout and seed give the same
// embedding. Errors: [*param.Error], joined.
type EmbeddingKernel interface {
	Embedding(l Layout, seed uint64) (Embedding, error)
}

// Layout is the part of the public shape of encoded records that embeddings use. Every coordinate
// of a record is in [0,1].
type Layout struct {
	In int // width of a record
	// Height and Width are the sides of images. Pixels are stored row by row, with the channels of a
	// pixel next to each other. Height and Width are zero for other records.
	Height, Width int
	// Blocks has one block for each column of a table, in order and without gaps. It is nil for other
	// records.
	Blocks []Block
}

// Block is the position of one column of a table in an encoded record.
type Block struct {
	Offset, Width int
	// OneHot is true if exactly one of the coordinates is 1 and the others are 0. Any other block
	// holds a number in [0,1]. If the width of such a block is 2, the number can be missing. The first
	// coordinate is then 0 and the second is 1; otherwise the second is 0.
	OneHot bool
	// Levels is the number of values, evenly spaced from 0 to 1, that a number can have; 0 means any
	// value. A flag has 2 levels.
	Levels int
}

// validate checks the layout for contradictions.
func (l Layout) validate(k *param.Checker) {
	k.OK(l.In >= 1 && l.In <= maxFrequencies, "rff.Layout.In", l.In,
		fmt.Sprintf("a record width in [1, %d]", maxFrequencies))
	k.OK(l.image() || l.Height == 0 && l.Width == 0, "rff.Layout.Height",
		fmt.Sprintf("%d×%d", l.Height, l.Width), "positive sides whose product divides In, or zeros")
	at, whole := 0, true
	for i, b := range l.Blocks {
		path := fmt.Sprintf("rff.Layout.Blocks[%d]", i)
		starts := b.Offset == at
		wide := b.Width >= 1 && b.Width <= l.In && (b.OneHot || b.Width <= 2)
		k.OK(starts, path+".Offset", b.Offset, fmt.Sprintf("%d, the end of the previous block", at))
		k.OK(wide, path+".Width", b.Width, "a positive width, at most 2 for a number")
		k.OK(b.Levels == 0 || b.Levels > 1, path+".Levels", b.Levels, "0 or at least 2")
		at, whole = b.Offset+b.Width, whole && starts && wide
	}
	k.OK(len(l.Blocks) == 0 || at == l.In || !whole, "rff.Layout.Blocks", at,
		fmt.Sprintf("blocks that end at In = %d", l.In))
}

// image reports whether the layout describes images.
func (l Layout) image() bool {
	return l.Height > 0 && l.Width > 0 && l.Height <= l.In && l.Width <= l.In/l.Height &&
		l.In%(l.Height*l.Width) == 0
}

// flat returns the map of a kernel that treats all coordinates in the same way.
func flat(k Kernel, l Layout, seed uint64) (Embedding, error) {
	var c param.Checker
	if l.validate(&c); c.Err() != nil {
		return nil, c.Err()
	}
	return orNil[Embedding](k.New(l.In, seed))
}

// Embedding implements [EmbeddingKernel] and treats all coordinates of a record alike.
func (c RBF) Embedding(l Layout, seed uint64) (Embedding, error) { return flat(c, l, seed) }
