package device

import (
	"math"
	"slices"
	"unsafe"
)

// Promises returns a value that makes all promises.
func (c *cpu) Promises() Promises { return Promises{RowsAlone: true, SameBits: true} }

// ScaleOdd sets row i of dst to w[i] times row i of m, with every number made odd.
func (c *cpu) ScaleOdd(dst, m Matrix, w []float32) {
	m.check("ScaleOdd")
	dst.checkShape("ScaleOdd", m.Rows, m.Cols)
	if len(w) != m.Rows {
		panic("device: ScaleOdd: the number of weights is wrong: want one for each row")
	}
	j := c.job()
	j.a, j.b, j.w = m, dst, w
	c.rows(j, doScaleOdd, m.Rows, m.Cols)
	c.done(j)
}

func doScaleOdd(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.kernels.scaleOdd(j.w[i], j.b.Row(i), j.a.Row(i))
	}
}

// AddFixedProduct adds the terms of AᵀD to sum.
func (c *cpu) AddFixedProduct(a, d Matrix, sum FixedBlock) {
	sum.check("AddFixedProduct", a.Cols, d.Cols)
	if len(sum.Units) == 0 || a.Rows == 0 {
		return
	}
	p := newProduct(true, false, 1, a, d, 1, sum.seen())
	p.origin, p.chain = int(math.Float32bits(sum.origin())), sum.Chain
	j := c.job()
	j.product = p
	c.blocked(j)
	c.done(j)
}

// seen returns a matrix that shares the sum's memory. It is for kernels that treat its elements as
// int32.
func (b FixedBlock) seen() Matrix {
	return HostMatrix(b.Rows, b.Cols,
		unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b.Units))), len(b.Units)))
}

// AddFixedSparse adds the terms of SᵀD to sum. Each core computes some of the columns.
func (c *cpu) AddFixedSparse(s *Sparse, d Matrix, sum FixedBlock) {
	rows := s.Rows()
	s.check("AddFixedSparse")
	d.checkShape("AddFixedSparse", rows, d.Cols)
	sum.check("AddFixedSparse", s.Cols, d.Cols)
	if len(sum.Units) == 0 || rows == 0 {
		return
	}
	j := c.job()
	j.sparse, j.a, j.fixed = s, d, sum
	j.do = doFixedSparse
	c.team.run(j, d.Cols, share(d.Cols, rows+len(s.Items), c.workers))
	c.done(j)
}

func doFixedSparse(j *job, lo, hi int) {
	origin, cols := j.fixed.origin(), j.fixed.Cols
	for i := range j.sparse.Rows() {
		items, x := j.sparse.Row(i), j.a.Row(i)[lo:hi]
		if !rising(items) {
			fixedRepeats(j, items, x, lo, hi)
			continue
		}
		for _, item := range items {
			at := int(item) * cols
			j.kernels.units(1, origin, x, j.fixed.Units[at+lo:at+hi])
		}
	}
}

func rising(items []uint32) bool {
	for i := 1; i < len(items); i++ {
		if items[i] <= items[i-1] {
			return false
		}
	}
	return true
}

// fixedRepeats adds a row that may list an item several times. An item that is listed n times adds
// n·x, rounded once.
func fixedRepeats(j *job, items []uint32, x []float32, lo, hi int) {
	sorted := slices.Sorted(slices.Values(items))
	for k := 0; k < len(sorted); {
		n := k + 1
		for n < len(sorted) && sorted[n] == sorted[k] {
			n++
		}
		at := int(sorted[k]) * j.fixed.Cols
		j.kernels.units(float32(n-k), j.fixed.origin(), x, j.fixed.Units[at+lo:at+hi])
		k = n
	}
}

// AddFixedRows adds the terms wᵢmᵢ to sum.
func (c *cpu) AddFixedRows(w []float32, m Matrix, sum FixedBlock) {
	m.check("AddFixedRows")
	sum.check("AddFixedRows", 1, m.Cols)
	if len(w) != m.Rows {
		panic("device: AddFixedRows: the number of weights is wrong: want one for each row")
	}
	if m.Empty() {
		return
	}
	j := c.job()
	j.a, j.w, j.fixed = m, w, sum
	j.do = doFixedRows
	c.team.run(j, m.Cols, share(m.Cols, m.Rows, c.workers))
	c.done(j)
}

func doFixedRows(j *job, lo, hi int) {
	for i, w := range j.w {
		if w != 0 {
			j.kernels.units(w, j.fixed.origin(), j.a.Row(i)[lo:hi], j.fixed.Units[lo:hi])
		}
	}
}

// AddFixedBlocks adds the terms wᵢAᵢᵀDᵢ to sum. Each core computes some rows of the sum,
// completely.
func (c *cpu) AddFixedBlocks(w []float32, block int, a, d Matrix, sum FixedBlock) {
	checkBlocks("AddFixedBlocks", block, len(w), a)
	checkBlocks("AddFixedBlocks", block, len(w), d)
	sum.check("AddFixedBlocks", a.Cols, d.Cols)
	if block == 0 || len(sum.Units) == 0 {
		return
	}
	j := c.job()
	j.a, j.b, j.w, j.block, j.fixed = a, d, w, block, sum
	j.do = doFixedBlocks
	c.team.run(j, a.Cols, max((a.Cols+c.workers-1)/c.workers, (1<<17)/max(len(w)*block*d.Cols, 1),
		1))
	c.done(j)
}

func doFixedBlocks(j *job, lo, hi int) {
	cols := j.b.Cols
	spare := j.owner.buffer((hi - lo) * cols)
	g := HostMatrix(hi-lo, cols, *spare)
	for i, w := range j.w {
		if w == 0 {
			continue
		}
		p := j.block
		j.owner.Gemm(true, false, 1, j.a.Slice(i*p, (i+1)*p, lo, hi), j.b.RowRange(i*p, (i+1)*p), 0, g)
		j.kernels.units(w, j.fixed.origin(), g.Data, j.fixed.Units[lo*cols:hi*cols])
	}
	j.owner.panels.put(spare)
}

// addUnitsGeneric is the portable version of kernels.addUnits.
func addUnitsGeneric(total, from []int32) {
	total = total[:len(from)]
	for i, u := range from {
		total[i] += u
	}
}

// unitsGeneric is the portable version of kernels.units: one multiply-add rounds to units, which
// are the last places of the origin.
func unitsGeneric(w, origin float32, x []float32, total []int32) {
	total = total[:len(x)]
	for i, v := range x {
		total[i] += int32(math.Float32bits(fma32(w, v, origin)) - math.Float32bits(origin))
	}
}

// scaleOddGeneric is the portable version of kernels.scaleOdd.
func scaleOddGeneric(w float32, dst, src []float32) {
	for i, v := range src {
		x := w * v
		if !(x >= 0x1p-126 || x <= -0x1p-126) {
			dst[i] = 0
			continue
		}
		dst[i] = math.Float32frombits(math.Float32bits(x) | 1)
	}
}
