package device

import (
	"fmt"
	"math"
)

// Fixed is a sum of gradients in fixed point: blocks like those of Params, every element of which
// is a whole number of units. A sum of whole numbers is exact: it does not depend on the order of
// its terms, on batches or on workers, so one record changes it by that record's own whole numbers
// only.
//
// Unit is a power of two. Chain is the most products that a backend may add up in float32 before it
// carries them over (see FixedSummer). Elements wrap around beyond 31 bits; the code that fills a
// Fixed bounds the number of records.
type Fixed struct {
	Units  []int32
	Unit   float32
	Chain  int
	Limit  float64   // the bound on every partial sum of one record's terms, in every element
	Carry  []float64 // the excess over 31 bits, in units; nil for none
	Shapes []Shape
	starts []int
}

// FixedBlock is one block of a Fixed, row by row without gaps.
type FixedBlock struct {
	Rows, Cols int
	Units      []int32
	Unit       float32
	Chain      int
	Limit      float64
}

// NewFixed allocates a sum of zeros of the given shapes. The caller sets Unit and Chain.
func NewFixed(shapes ...Shape) Fixed {
	f := Fixed{Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	f.Units = make([]int32, f.starts[len(shapes)])
	return f
}

// Block is block i. It shares f's numbers.
func (f Fixed) Block(i int) FixedBlock {
	s := f.Shapes[i]
	return FixedBlock{Rows: s.Rows, Cols: s.Cols, Units: f.Units[f.starts[i]:f.starts[i+1]],
		Unit: f.Unit, Chain: f.Chain, Limit: f.Limit}
}

// Sub returns the view of blocks lo to hi−1.
func (f Fixed) Sub(lo, hi int) Fixed {
	s := Fixed{Units: f.Units[f.starts[lo]:f.starts[hi]], Unit: f.Unit, Chain: f.Chain,
		Limit: f.Limit, Shapes: f.Shapes[lo:hi], starts: starts(f.Shapes[lo:hi])}
	if f.Carry != nil {
		s.Carry = f.Carry[f.starts[lo]:f.starts[hi]]
	}
	return s
}

// FixedSummer is a backend that adds products up in fixed point.
//
// A term is a product of two float32 numbers, one of them odd (see Odd), and what is added for it
// is the whole number of units nearest to the exact product. The caller ensures that no sum of up
// to Chain consecutive terms, in the order of rows, reaches 2^22 units, and no single term does.
// Then a chain of at most Chain fused multiply-adds that starts at the origin 1.5·2^23 units is
// exact: each result lies in [2^23, 2^24) units, where float32 numbers are the whole units, so each
// multiply-add rounds its exact sum to a whole unit, and that is the sum before plus the product
// rounded. It would depend on the sum before only where the product lies halfway between two units.
// It never does: with c odd, of 24 significant bits, and d anything, a product that is an odd
// multiple of half a unit is at least (2^23+1)/2 units in size.
//
// Guarantee: all methods add exactly the rounded terms, whatever the order and the shapes; Promises
// of a FixedSummer hold too.
type FixedSummer interface {
	Backend
	Promising
	// ScaleOdd sets row i of dst to w[i] times that of m, every number rounded to float32 and made
	// odd; what is not a normal number then is 0.
	ScaleOdd(dst, m Matrix, w []float32)
	// AddFixedProduct adds the terms of AᵀD to c. One of a and d is odd.
	AddFixedProduct(a, d Matrix, c FixedBlock)
	// AddFixedSparse adds the terms of SᵀD to c, where d is odd; an item listed n times is one term
	// n·d.
	AddFixedSparse(s *Sparse, d Matrix, c FixedBlock)
	// AddFixedRows adds the terms wᵢmᵢ to c, a block of one row. Weights are odd.
	AddFixedRows(w []float32, m Matrix, c FixedBlock)
	// AddFixedBlocks adds the terms wᵢGᵢ to c, where Gᵢ is the float32 product AᵢᵀDᵢ of the i-th
	// blocks of that many rows of a and d. Weights are odd. A weight of 0 adds nothing, whatever
	// the block holds.
	//
	// Guarantee: the norm of Gᵢ is at most the root of BlockProductNorms.
	AddFixedBlocks(w []float32, block int, a, d Matrix, c FixedBlock)
}

// Promises states properties of a backend's results, beyond their accuracy, that privacy guarantees
// depend on.
type Promises struct {
	// RowsAlone: in every method whose result has a row for each row of an operand, row i of the
	// result has the same bits whatever the other rows hold, however many there are and whatever the
	// position of row i among them.
	RowsAlone bool
	// SameBits: the same operands give the same bits each time.
	SameBits bool
}

// Promising is a backend that states its promises. A backend that does not implement it, or that
// wraps another without repeating its promises, makes none.
type Promising interface{ Promises() Promises }

// PromisesOf returns the promises that b makes.
func PromisesOf(b Backend) Promises {
	if p, ok := b.(Promising); ok {
		return p.Promises()
	}
	return Promises{}
}

// FixedSums returns b as a FixedSummer, if it is one and makes the promises that a
// FixedSummer needs.
func FixedSums(b Backend) (FixedSummer, bool) {
	f, ok := b.(FixedSummer)
	return f, ok && f.Promises() == Promises{RowsAlone: true, SameBits: true}
}

// Odd returns the float32 number next to x toward zero, or x itself, whose last significant bit is
// set: 0 for what is not a normal number then. Products with an odd number never lie halfway
// between two units of a Fixed.
func Odd(x float32) float32 {
	const normal = 0x00800000
	bits := math.Float32bits(x)
	if bits&1 == 0 {
		bits--
	}
	if size := bits &^ (1 << 31); math.Float32bits(x)<<1 == 0 || size < normal || size >= 0x7f800000 {
		return 0
	}
	return math.Float32frombits(bits)
}

// origin is where chains start.
func (b FixedBlock) origin() float32 { return 0x1.8p23 * b.Unit }

func (b FixedBlock) check(what string, rows, cols int) {
	if b.Rows != rows || b.Cols != cols || len(b.Units) != rows*cols {
		panic(fmt.Sprintf("device: %s: a sum of %d×%d, want %d×%d", what, b.Rows, b.Cols, rows,
			cols))
	}
	if f, e := math.Frexp(float64(b.Unit)); f != 0.5 || e < -100 || e > 100 || b.Chain < 1 {
		panic(fmt.Sprintf("device: %s: a unit of %v and chains of %d", what, b.Unit, b.Chain))
	}
}

// row is row i.
func (b FixedBlock) row(i int) []int32 { return b.Units[i*b.Cols : (i+1)*b.Cols] }
