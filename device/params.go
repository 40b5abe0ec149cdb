package device

import "fmt"

// Shape names one block of parameters and gives its form.
type Shape struct {
	Name       string
	Rows, Cols int
}

// Params is a model's parameters (or a gradient, or an optimiser's moment): blocks that follow
// each other without gaps in one flat row, so that noise and optimisers see one vector.
//
// Shapes: Flat is 1×P where P is the sum of the blocks' sizes.
type Params struct {
	Flat   Matrix
	Shapes []Shape
	starts []int // where each block begins in Flat, and where the last one ends
}

// NewParams allocates zeroed parameters of the given shapes on a backend.
func NewParams(b Backend, shapes ...Shape) Params {
	p := Params{Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	p.Flat = b.New(1, p.starts[len(shapes)])
	return p
}

// viewParams lays shapes over numbers that exist: flat must be 1×P.
func viewParams(flat Matrix, shapes ...Shape) Params {
	p := Params{Flat: flat, Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	if flat.Rows != 1 || flat.Cols != p.starts[len(shapes)] {
		panic(fmt.Sprintf("device: a %d×%d matrix for %d parameters", flat.Rows, flat.Cols,
			p.starts[len(shapes)]))
	}
	return p
}

// Concat allocates parameters with the blocks of all parts, in order, and copies the parts'
// numbers. The parts stay their owners' : Sub views of the result stand for them afterwards.
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

// Len returns the number of parameters P (numbers, not blocks).
func (p Params) Len() int { return p.Flat.Cols }

// Blocks returns the number of blocks.
func (p Params) Blocks() int { return len(p.Shapes) }

// Range is where block i lies in Flat: columns lo to hi−1.
func (p Params) Range(i int) (lo, hi int) { return p.starts[i], p.starts[i+1] }

// Block is block i as a matrix of its shape. It shares p's numbers.
func (p Params) Block(i int) Matrix {
	s := p.Shapes[i]
	m := p.Flat.Slice(0, 1, p.starts[i], p.starts[i+1])
	m.Rows, m.Cols, m.Stride = s.Rows, s.Cols, s.Cols
	return m
}

// Sub returns the view of blocks lo to hi−1.
func (p Params) Sub(lo, hi int) Params {
	return viewParams(p.Flat.Slice(0, 1, p.starts[lo], p.starts[hi]), p.Shapes[lo:hi]...)
}

func starts(shapes []Shape) []int {
	at := make([]int, len(shapes)+1)
	for i, s := range shapes {
		if s.Rows < 0 || s.Cols < 0 {
			panic(fmt.Sprintf("device: block %q has shape %d×%d", s.Name, s.Rows, s.Cols))
		}
		at[i+1] = at[i] + s.Rows*s.Cols
	}
	return at
}
