package device

import (
	"fmt"
	"math"
)

// Fixed is a sum of gradients in fixed point. It has blocks like Params, and every element is a
// whole number of units. A sum of whole numbers is exact: it does not depend on the order of its
// terms, on the batches or on the workers. So one record changes the sum only by that record's
// whole numbers.
//
// Unit is a power of two. Chain is the largest number of products that a backend may add up in
// float32 before it adds them to the sum (see FixedSummer). Elements wrap around beyond 31 bits, so
// the code that fills a Fixed must bound the number of records.
//
// A sum in the memory of a device has Mem instead of Units, and Take brings it to the host.
type Fixed struct {
	Units  []int32
	Mem    Memory // of int32 numbers
	Unit   float32
	Chain  int
	Limit  float64   // bound on every partial sum of one record's terms, in every element
	Carry  []float64 // the part of each element that exceeds 31 bits, in units; nil for none
	Shapes []Shape
	starts []int
	be     Backend // of Mem
	spare  []int32 // for Take from Mem
}

// FixedBlock is one block of a Fixed, in Units or in Mem. Its elements are stored row by row
// without gaps.
type FixedBlock struct {
	Rows, Cols int
	Units      []int32
	Mem        Memory
	Unit       float32
	Chain      int
	Limit      float64
}

// NewFixed allocates a sum of zeros of the given shapes in the memory of a backend. The caller sets
// Unit and Chain.
func NewFixed(b Backend, shapes ...Shape) Fixed {
	f := Fixed{Shapes: append([]Shape(nil), shapes...), starts: starts(shapes)}
	n := f.starts[len(shapes)]
	if b.New(1, 1).Mem == nil {
		f.Units = make([]int32, n)
	} else { // the zero of float32 has the bits of the zero of int32
		f.be, f.Mem, f.spare = b, b.New(1, n).Mem, make([]int32, n)
	}
	return f
}

// Block returns block i, which shares the memory of f.
func (f Fixed) Block(i int) FixedBlock {
	b := FixedBlock{Rows: f.Shapes[i].Rows, Cols: f.Shapes[i].Cols, Unit: f.Unit, Chain: f.Chain,
		Limit: f.Limit}
	if f.Mem != nil {
		b.Mem = f.Mem.Offset(f.starts[i])
	} else {
		b.Units = f.Units[f.starts[i]:f.starts[i+1]]
	}
	return b
}

// Sub returns the view of blocks lo to hi−1.
func (f Fixed) Sub(lo, hi int) Fixed {
	s := f
	s.Shapes, s.starts = f.Shapes[lo:hi], starts(f.Shapes[lo:hi])
	if f.Mem != nil {
		s.Mem, s.spare = f.Mem.Offset(f.starts[lo]), f.spare[f.starts[lo]:f.starts[hi]]
	} else {
		s.Units = f.Units[f.starts[lo]:f.starts[hi]]
	}
	if f.Carry != nil {
		s.Carry = f.Carry[f.starts[lo]:f.starts[hi]]
	}
	return s
}

// Take adds elements lo to hi−1 of other to f, which is in host memory, and sets them to zero in
// other. Both sums have the same unit. Calls for disjoint ranges may run at the same time.
func (f Fixed) Take(other Fixed, lo, hi int) {
	if n, m := f.starts[len(f.Shapes)], other.starts[len(other.Shapes)]; n != m ||
		f.Unit != other.Unit {
		panic(fmt.Sprintf("device: Fixed.Take: sums of %d and %d elements with units %v and %v, want "+
			"equal numbers of elements and equal units", n, m, f.Unit, other.Unit))
	}
	if other.Mem == nil {
		onHost().addUnits(f.Units[lo:hi], other.Units[lo:hi])
		clear(other.Units[lo:hi])
		return
	}
	on := Matrix{Rows: 1, Cols: hi - lo, Stride: hi - lo, Mem: other.Mem.Offset(lo)}
	units := other.spare[lo:hi]
	other.be.Download(FixedBlock{Rows: 1, Cols: hi - lo, Units: units}.seen().Data, on)
	other.be.Fill(on, 0)
	onHost().addUnits(f.Units[lo:hi], units)
	clear(units)
}

// FixedSummer is a backend that adds products up in fixed point.
//
// A term is a product of two float32 numbers, and one of the two is odd (see Odd). For each term,
// the number of whole units nearest to the exact product is added. The caller ensures that every
// term, and every sum of up to Chain consecutive terms in the order of rows, is below 2^22 units.
// Then a chain of at most Chain fused multiply-adds that starts at the origin 1.5·2^23 units is
// exact. Each result lies in [2^23, 2^24) units, where the float32 numbers are exactly the whole
// units. So each multiply-add rounds its exact sum to a whole unit, and the result is the previous
// sum plus the rounded product. The rounding would depend on the previous sum only if the product
// were halfway between two units. This never happens. Suppose that c is odd with 24 significant
// bits, and that c·d is an odd multiple of half a unit. Then |c·d| is at least (2^23+1)/2 units,
// more than 2^22 units.
//
// Guarantee: all methods add exactly the rounded terms, in every order and for all shapes.
type FixedSummer interface {
	Backend
	Promises() Promises
	// ScaleOdd sets row i of dst to w[i] times row i of m. Every product is rounded to float32 and
	// made odd. A product that is not a normal number becomes 0.
	ScaleOdd(dst, m Matrix, w []float32)
	// AddFixedProduct adds the terms of AᵀD to c. All numbers of a, or all numbers of d, must be odd.
	AddFixedProduct(a, d Matrix, c FixedBlock)
	// AddFixedSparse adds the terms of SᵀD to c. All numbers of d must be odd. If a row lists an item
	// n times, the item is one term n·d.
	AddFixedSparse(s *Sparse, d Matrix, c FixedBlock)
	// AddFixedRows adds the terms wᵢmᵢ to c, a block of one row. Weights must be odd.
	AddFixedRows(w []float32, m Matrix, c FixedBlock)
	// AddFixedBlocks adds the terms wᵢGᵢ to c, where Gᵢ is the float32 product AᵢᵀDᵢ of the i-th
	// groups of block consecutive rows of a and d. Weights must be odd or 0. A group with weight 0
	// adds nothing, even if its rows hold NaN.
	//
	// Guarantee: the norm of Gᵢ is at most the square root of the i-th result of BlockProductNorms.
	AddFixedBlocks(w []float32, block int, a, d Matrix, c FixedBlock)
}

// Promises states properties of a backend's results, beyond their accuracy, that privacy guarantees
// depend on. A backend that hands products to a library cannot make them if the library chooses the
// order of a sum by the number of rows or by how operands lie in memory.
type Promises struct {
	// RowsAlone concerns every method whose result has a row for each row of an operand. It states
	// that the bits of row i of the result do not depend on the contents of the other rows, on their
	// number, or on the position of row i.
	RowsAlone bool
	// SameBits states that the same operands give the same bits in every call.
	SameBits bool
}

// PromisesOf returns the promises that b makes, by a method Promises() Promises. A backend without
// this method makes none. A wrapper of a backend must repeat the promises of the backend.
func PromisesOf(b Backend) Promises {
	if p, ok := b.(interface{ Promises() Promises }); ok {
		return p.Promises()
	}
	return Promises{}
}

// FixedSums returns b as a FixedSummer. It reports whether b is a FixedSummer and makes the
// promises that fixed-point sums need.
func FixedSums(b Backend) (FixedSummer, bool) {
	f, ok := b.(FixedSummer)
	return f, ok && f.Promises() == Promises{RowsAlone: true, SameBits: true}
}

// Odd returns x if its last significant bit is set, and otherwise the next float32 number toward
// zero, whose last bit is set. It returns 0 if the result would not be a normal number. Products
// with an odd number never lie halfway between two units of a Fixed.
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

// origin returns the number at which chains start.
func (b FixedBlock) origin() float32 { return 0x1.8p23 * b.Unit }

func (b FixedBlock) check(what string, rows, cols int) {
	if b.Rows != rows || b.Cols != cols || len(b.Units) != rows*cols {
		panic(fmt.Sprintf("device: %s: a sum of %d×%d with %d numbers, want %d×%d", what, b.Rows, b.Cols,
			len(b.Units), rows, cols))
	}
	if f, e := math.Frexp(float64(b.Unit)); f != 0.5 || e < -100 || e > 100 || b.Chain < 1 {
		panic(fmt.Sprintf("device: %s: a unit of %v and chains of %d; want a power of two between "+
			"2⁻¹⁰¹ and 2⁹⁹, and at least 1", what, b.Unit, b.Chain))
	}
}
