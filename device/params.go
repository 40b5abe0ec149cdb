package device

import "fmt"

// Shape is the name and the size of one block of parameters.
type Shape struct {
	Name       string
	Rows, Cols int
}

// Params holds the parameters of a model, a gradient or a moment of an optimizer. Its blocks follow
// each other without gaps in one flat row, so noise and optimizers can treat them as one vector.
//
// Shapes: Flat is 1×P, where P is the sum of the sizes of the blocks.
type Params struct {
	Flat   Matrix
	Shapes []Shape
	starts []int // column of Flat at which each block begins, then the number of columns
}

// NewParams allocates zeroed parameters of the given shapes on a backend. It panics if a size is
// negative.
func NewParams(b Backend, shapes ...Shape) Params {
	p := Params{Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	p.Flat = b.New(1, p.starts[len(shapes)])
	return p
}

// viewParams returns parameters of the given shapes that share the numbers of flat. flat must be
// 1×P.
func viewParams(flat Matrix, shapes ...Shape) Params {
	p := Params{Flat: flat, Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	if flat.Rows != 1 || flat.Cols != p.starts[len(shapes)] {
		panic(fmt.Sprintf("device: a %d×%d matrix for %d parameters: want 1×%[3]d", flat.Rows, flat.Cols,
			p.starts[len(shapes)]))
	}
	return p
}

// Concat allocates parameters with the blocks of all parts, in order, and copies the numbers of the
// parts. The result does not share memory with the parts; Sub returns views of the blocks that
// correspond to one part.
func Concat(b Backend, parts ...Params) Params {
	var shapes []Shape
	for _, part := range parts {
		shapes = append(shapes, part.Shapes...)
	}
	out := NewParams(b, shapes...)
	lo := 0
	for _, part := range parts {
		hi := lo + part.Len()
		if hi > lo {
			b.Apply(Identity, out.Flat.Slice(0, 1, lo, hi), part.Flat)
		}
		lo = hi
	}
	return out
}

// Len returns P, the number of parameters, which are single numbers, not blocks.
func (p Params) Len() int { return p.Flat.Cols }

// Blocks returns the number of blocks.
func (p Params) Blocks() int { return len(p.Shapes) }

// Range returns the position of block i in Flat: columns lo to hi−1.
func (p Params) Range(i int) (lo, hi int) { return p.starts[i], p.starts[i+1] }

// Block returns block i as a matrix of its shape, which shares the numbers of p.
func (p Params) Block(i int) Matrix {
	s := p.Shapes[i]
	m := p.Flat.Slice(0, 1, p.starts[i], p.starts[i+1])
	m.Rows, m.Cols, m.Stride = s.Rows, s.Cols, s.Cols
	return m
}

// Sub returns a view of blocks lo to hi−1.
func (p Params) Sub(lo, hi int) Params {
	return viewParams(p.Flat.Slice(0, 1, p.starts[lo], p.starts[hi]), p.Shapes[lo:hi]...)
}

func starts(shapes []Shape) []int {
	at := make([]int, len(shapes)+1)
	for i, s := range shapes {
		if s.Rows < 0 || s.Cols < 0 {
			panic(fmt.Sprintf("device: block %q has the negative shape %d×%d", s.Name, s.Rows, s.Cols))
		}
		at[i+1] = at[i] + s.Rows*s.Cols
	}
	return at
}
