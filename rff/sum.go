package rff

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Sum is the sum kernel for mixed columns. Its features are the features of a kernel on the
// numbers, followed by the discrete coordinates divided by √d, where d is the number of discrete
// coordinates.
//
// Guarantee: suppose that the features of the numbers have norm 1. Suppose also that each of c
// discrete columns has at most one coordinate equal to 1. Then the norm is at most √(1+c/d), and
// the features of two records differ by at most √(4+2c/d).
//
// Source: Harder, Adamczewski and Park 2021, section 4.2. The paper states the bounds √2 and 2√2,
// which are for c = d.
type Sum struct {
	// Numbers is the kernel of the numeric columns. Flags and the indicators of missing numbers are
	// discrete coordinates.
	Numbers Kernel
}

// Embedding implements [EmbeddingKernel].
func (c Sum) Embedding(l Layout, seed uint64) (Embedding, error) {
	var k param.Checker
	l.validate(&k)
	k.OK(c.Numbers != nil, "rff.Sum.Numbers", nil, "a kernel for the numeric columns")
	if err := k.Err(); err != nil {
		return nil, err
	}
	m := &sumMap{in: l.In}
	m.split(l)
	if m.numeric > 0 {
		numbers, err := c.Numbers.New(m.numeric, seed)
		if err != nil {
			return nil, err
		}
		m.numbers = numbers
	}
	m.setBounds(l)
	return m, nil
}

// run is a range of consecutive coordinates. It begins at from in a record, and at to in the input
// of the numbers' kernel or in the discrete features.
type run struct{ from, to, width int }

// sumMap is the embedding of a Sum.
type sumMap struct {
	in, numeric, discrete int
	numbers               *Map // nil if there are no numbers
	numberRuns            []run
	discreteRuns          []run
	scale                 float32
	norm, change          float64
	scratch               rowPool
}

// split divides the coordinates of a layout into numbers and discrete coordinates.
func (m *sumMap) split(l Layout) {
	if len(l.Blocks) == 0 {
		m.number(0, l.In)
		return
	}
	for _, b := range l.Blocks {
		switch {
		case b.OneHot || b.Levels == 2:
			m.level(b.Offset, b.Width)
		default:
			m.number(b.Offset, 1)
			m.level(b.Offset+1, b.Width-1)
		}
	}
}

func (m *sumMap) number(from, width int) {
	m.numberRuns = extend(m.numberRuns, run{from, m.numeric, width})
	m.numeric += width
}

func (m *sumMap) level(from, width int) {
	m.discreteRuns = extend(m.discreteRuns, run{from, m.discrete, width})
	m.discrete += width
}

// extend appends a run, or lengthens the last run if r continues it.
func extend(runs []run, r run) []run {
	if r.width == 0 {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].from+runs[n-1].width == r.from {
		runs[n-1].width += r.width
		return runs
	}
	return append(runs, r)
}

// setBounds combines the bounds for the numbers and for each discrete column. Two records differ by
// at most √2 in a one-hot column of at least two levels, and by at most 1 in a single coordinate.
func (m *sumMap) setBounds(l Layout) {
	var norm, change float64
	for _, b := range l.Blocks {
		n, c := b.discreteBounds()
		norm, change = norm+n, change+c
	}
	if m.discrete > 0 {
		d := float64(m.discrete)
		norm, change = norm/d, change/d
		m.scale = roundDown(1 / math.Sqrt(d))
	}
	if m.numbers != nil {
		norm += m.numbers.NormBound() * m.numbers.NormBound()
		change += m.numbers.ChangeBound() * m.numbers.ChangeBound()
	}
	m.norm, m.change = math.Sqrt(norm), math.Sqrt(change)
}

// discreteBounds returns the largest squared norm of a block's discrete coordinates, and the
// largest squared distance between two records in these coordinates.
func (b Block) discreteBounds() (norm, change float64) {
	switch {
	case b.OneHot && b.Width == 1:
		return 1, 0
	case b.OneHot:
		return 1, 2
	case b.Levels == 2: // a missing flag is 0, and its indicator 1
		return 1, float64(b.Width)
	case b.Width == 2:
		return 1, 1
	}
	return 0, 0
}

// In returns the width of a record.
func (m *sumMap) In() int { return m.in }

// Dim returns the number of features.
func (m *sumMap) Dim() int {
	if m.numbers == nil {
		return m.discrete
	}
	return m.numbers.Dim() + m.discrete
}

// Table returns the number of values of the numbers' frequencies.
func (m *sumMap) Table() int64 {
	if m.numbers == nil {
		return 0
	}
	return m.numbers.Table()
}

// NormBound returns the largest norm of a record's features.
func (m *sumMap) NormBound() float64 { return m.norm }

// ChangeBound returns the largest distance between two records' features.
func (m *sumMap) ChangeBound() float64 { return m.change }

// Transform implements [Embedding].
func (m *sumMap) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	x := b.Dense
	if b.Sparse != nil {
		x = hostRows(be, b)
	}
	x = device.Colocate(be, x, dst)
	at := 0
	if m.numbers != nil {
		at = m.numbers.Dim()
		numbers := m.scratch.take(be, b.Rows, m.numeric)
		defer m.scratch.give(be, numbers)
		gather(be, m.numberRuns, x, numbers)
		m.numbers.Transform(be, device.Batch{Rows: b.Rows, Dense: numbers}, dst.Slice(0, b.Rows, 0, at))
	}
	levels := dst.Slice(0, b.Rows, at, at+m.discrete)
	be.Fill(levels, 0)
	for _, r := range m.discreteRuns {
		be.Axpy(m.scale, x.Slice(0, b.Rows, r.from, r.from+r.width),
			levels.Slice(0, b.Rows, r.to, r.to+r.width))
	}
}

func gather(be device.Backend, runs []run, x, dst device.Matrix) {
	for _, r := range runs {
		be.Apply(device.Identity, dst.Slice(0, x.Rows, r.to, r.to+r.width),
			x.Slice(0, x.Rows, r.from, r.from+r.width))
	}
}

// Backward implements [Embedding].
func (m *sumMap) Backward(be device.Backend, x, delta, dx device.Matrix) {
	be.Fill(dx, 0)
	at := 0
	if m.numbers != nil {
		at = m.numbers.Dim()
		numbers, back := m.scratch.take(be, x.Rows, m.numeric), m.scratch.take(be, x.Rows, m.numeric)
		defer m.scratch.give(be, numbers, back)
		gather(be, m.numberRuns, x, numbers)
		m.numbers.Backward(be, numbers, delta.Slice(0, x.Rows, 0, at), back)
		for _, r := range m.numberRuns {
			be.Apply(device.Identity, dx.Slice(0, x.Rows, r.from, r.from+r.width),
				back.Slice(0, x.Rows, r.to, r.to+r.width))
		}
	}
	levels := delta.Slice(0, x.Rows, at, at+m.discrete)
	for _, r := range m.discreteRuns {
		be.Axpy(m.scale, levels.Slice(0, x.Rows, r.to, r.to+r.width),
			dx.Slice(0, x.Rows, r.from, r.from+r.width))
	}
}
