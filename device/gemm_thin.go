package device

// thinCols is the most columns of a result that the thin kernels work out. A panel of B would be mostly padding there.
const thinCols = 4

// thinKernel multiplies rows of A with a few columns; see the generator for its arguments.
type thinKernel func(k int, a *float32, ar int, b, out *float32)

const (
	thinFew  = 8  // rows of a thin kernel
	thinMany = 24 // rows of one that keeps more chains going, for one or two columns
)

// isThin reports whether p has so few columns that the kernels for it are faster. Scaling by α is left to the
// packed path: it belongs to B, which is not always the operand packed here.
func (g *gemmKernels) isThin(p *product) bool {
	if p.n > thinCols || p.alpha != 1 || g.thinFew[p.n] == nil {
		return false
	}
	return p.ak == 1 && p.m >= thinFew || p.ar == 1 && p.m >= 2*g.lanes
}

// thin works out a product with few columns. Lanes are rows of C, so an element is still one chain over k.
func (c *cpu) thin(j *job) {
	p, g := &j.product, &j.kernels.gemm
	depth := (p.k + 7) &^ 7
	buffer := c.buffer(depth*p.n + (p.m+4*g.lanes)*p.n)
	p.block.packed = *buffer
	units := max((1<<18)/(2*p.k*p.n), 1)
	if p.ak == 1 {
		packThin(p, depth)
		j.do = doThinRows
		c.team.run(j, p.m, (units+thinMany-1)/thinMany*thinMany)
	} else {
		j.do = doThinColumns
		step := 2 * g.lanes
		c.team.run(j, p.m, (units+step-1)/step*step)
	}
	c.panels.Put(buffer)
}

// packThin puts the columns of op(B) side by side, with zeros up to depth.
func packThin(p *product, depth int) {
	dst := p.block.packed[:depth*p.n]
	for k := range p.k {
		for n := range p.n {
			dst[k*p.n+n] = p.b[k*p.bk+n*p.bn]
		}
	}
	clear(dst[p.k*p.n:])
}

// doThinRows works out rows lo to hi−1 where A's rows are contiguous: lanes come from transposing.
func doThinRows(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	sums := p.block.packed[(p.k+7)&^7*p.n:]
	for i := lo; i < hi; {
		rows, kernel := thinFew, g.thinFew[p.n]
		if hi-i >= thinMany && g.thinMany[p.n] != nil {
			rows, kernel = thinMany, g.thinMany[p.n]
		}
		at := min(i, p.m-rows) // the last rows are done along with some that are done already
		out := sums[i*p.n:][:rows*p.n]
		p.thinStart(out, at, i, rows)
		kernel(p.k, &p.a[at*p.ar], 4*p.ar, &p.block.packed[0], &out[0])
		p.thinFinish(out, at, i, rows)
		i = at + rows
	}
}

// doThinColumns works out rows lo to hi−1 where A's columns are contiguous: Cᵀ = op(B)ᵀ op(A)ᵀ has few rows and
// reads A as a panel where it lies.
func doThinColumns(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	sums := p.block.packed[(p.k+7)&^7*p.n:]
	for i := lo; i < hi; {
		vecs := 2
		if hi-i < 2*g.lanes {
			vecs = 1
		}
		rows := vecs * g.lanes
		at := min(i, p.m-rows)
		out := sums[i*p.n:][:rows*p.n]
		add := 0
		if p.beta != 0 {
			add = 1
			p.thinStart(out, at, i, rows)
		}
		g.tile[p.n][vecs](1, p.k, &p.b[0], 4*p.bn, 4*p.bk, &p.a[at], 4*p.ak, &out[0], 4*rows, add, nil)
		p.thinFinish(out, at, i, rows)
		i = at + rows
	}
}

// thinStart writes β C, column by column, into out. Rows before i are somebody else's and start from zero.
func (p *product) thinStart(out []float32, at, i, rows int) {
	clear(out)
	if p.beta == 0 {
		return
	}
	for n := range p.n {
		column := out[n*rows:][:rows]
		for r := i - at; r < rows; r++ {
			column[r] = p.beta * p.c[(at+r)*p.ldc+n]
		}
	}
}

// thinFinish writes rows from i on to C.
func (p *product) thinFinish(out []float32, at, i, rows int) {
	for n := range p.n {
		to := i*p.ldc + n
		for _, v := range out[n*rows:][i-at : rows] {
			p.c[to] = v
			to += p.ldc
		}
	}
}
