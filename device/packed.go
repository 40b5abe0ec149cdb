package device

import "fmt"

// Packer is a backend that can reorder the right-hand side of many products for its kernels. The
// right-hand side is then reordered once, not for every product.
type Packer interface {
	// Pack returns a reordered copy of op(B). Later changes of b have no effect on it. Pack returns
	// nil if products with a copy would not be faster.
	Pack(transB bool, b Matrix) *Packed
	// GemmPacked sets C = A op(B) + β C, with the same bits as Gemm. B must come from Pack of the
	// same backend.
	GemmPacked(a Matrix, b *Packed, beta float32, c Matrix)
}

// packedOnce is the largest k for which a product with a packed B needs one pass over C. A second
// pass would cost more than reading such long panels from the second-level cache.
const packedOnce = 1024

// packedNear is the largest number of packed numbers that are still in the second-level cache when
// the next product reads them.
const packedNear = 1 << 17

// Packed is a copy of op(B) that Pack returned.
type Packed struct {
	rows, cols int
	owner      *kernels
	data       []float32
}

// Pack implements [Packer].
func (c *cpu) Pack(transB bool, b Matrix) *Packed {
	b.check("Pack")
	n, k := b.Cols, b.Rows
	if transB {
		n, k = k, n
	}
	if n <= thinCols || k == 0 {
		return nil
	}
	j := c.job()
	w := &j.product.block
	c.panelsOf(j, n, k, transB, b)
	w.packed = make([]float32, (n+w.width-1)/w.width*w.width*k)
	j.do = doPack
	c.team.run(j, w.panels, max((1<<17)/(k*w.width), 1))
	p := &Packed{rows: k, cols: n, owner: c.kernels, data: w.packed}
	c.done(j)
	return p
}

// panelsOf describes the panels of op(B), which is k×n, with all rows and columns in one pass.
func (c *cpu) panelsOf(j *job, n, k int, trans bool, b Matrix) {
	p := &j.product
	*p = product{n: n, k: k, alpha: 1, b: b.Data, bk: b.Stride, bn: 1}
	if trans {
		p.bk, p.bn = 1, b.Stride
	}
	w := &p.block
	w.width = 2 * j.kernels.gemm.lanes
	w.n1, w.k1 = n, k
	w.panels = (n + w.width - 1) / w.width
}

// GemmPacked implements [Packer].
func (c *cpu) GemmPacked(a Matrix, b *Packed, beta float32, out Matrix) {
	a.check("GemmPacked: A")
	if b.owner != c.kernels || a.Cols != b.rows {
		panic(fmt.Sprintf("device: GemmPacked: A has %d columns and B %d×%d numbers; want B from Pack of "+
			"this backend, with as many rows as A has columns", a.Cols, b.rows, b.cols))
	}
	out.checkShape("GemmPacked: C", a.Rows, b.cols)
	if out.Empty() {
		return
	}
	j := c.job()
	p, g := &j.product, &j.kernels.gemm
	*p = product{m: a.Rows, n: b.cols, k: b.rows, alpha: 1, beta: beta, a: a.Data, ar: a.Stride,
		ak: 1, c: out.Data, ldc: out.Stride}
	w := &p.block
	w.width, w.n1, w.k1, w.packed = 2*g.lanes, b.cols, b.rows, b.data
	w.panels = (b.cols + w.width - 1) / w.width
	w.deep, w.copyA = g.deepNN, g.awkward(p)
	if p.k <= packedOnce {
		w.deep = p.k
	}
	w.ahead = len(b.data) > packedNear
	c.cut(p)
	j.do = doBlocks
	c.team.run(j, (p.m+w.rowBlock-1)/w.rowBlock*w.groups, 1)
	c.done(j)
}
