package device

// thinCols is the largest number of columns of a result for which the thin kernels are used. With
// so few columns, a panel of B would be mostly padding.
const thinCols = 4

// thinKernel multiplies rows of A by a few columns; internal/asmgen/thin.go documents its
// arguments. Strides are in bytes.
type thinKernel func(tiles, k int, a *float32, ar int, b *float32, bk int, c *float32, cr, add int)

// thinRows holds the number of rows of a tile, by its number of columns.
var thinRows = [thinCols + 1]int{1: 4, 2: 4, 3: 3, 4: 2}

// dots reports whether p has so few columns that its elements are computed as dot products. The
// answer must not depend on the number of rows, because the bits of a row must not depend on other
// rows.
func (g *gemmKernels) dots(p *product) bool { return p.n <= thinCols && !p.transA }

// turned reports whether p has few columns and a transposed A. Then Cᵀ = op(B)ᵀ op(A)ᵀ has few
// rows, and A in its stored order serves as the panels. An element is one chain over k, as in other
// products.
func (g *gemmKernels) turned(p *product) bool {
	return p.n <= thinCols && p.transA && p.m >= 2*g.lanes && p.alpha == 1
}

// thinDots computes a product with few columns as dot products of rows.
func (c *cpu) thinDots(j *job) {
	p := &j.product
	depth := (p.k + 7) &^ 7
	buffer := c.buffer(depth * p.n)
	p.block.packed = *buffer
	for n := range p.n {
		column := p.block.packed[n*depth:][:depth]
		from := n * p.bn
		for k := range p.k {
			column[k] = p.b[from]
			from += p.bk
		}
		clear(column[p.k:])
	}
	if p.alpha != 1 {
		j.kernels.scale(p.alpha, p.block.packed[:p.n*depth])
	}
	j.do = doThinDots
	c.team.run(j, p.m, max((1<<19)/(p.k*p.n), 4)&^3)
	c.panels.put(buffer)
}

func doThinDots(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	depth := (p.k + 7) &^ 7
	add := 1
	if p.beta == 0 {
		add = 0
	} else if p.beta != 1 {
		for i := lo; i < hi; i++ {
			j.kernels.scale(p.beta, p.c[i*p.ldc:][:p.n])
		}
	}
	rows := thinRows[p.n]
	if tiles := (hi - lo) / rows; tiles > 0 {
		g.thinMany[p.n](tiles, p.k, &p.a[lo*p.ar], 4*p.ar, &p.block.packed[0], 4*depth, &p.c[lo*p.ldc],
			4*p.ldc, add)
		lo += tiles * rows
	}
	if lo < hi {
		g.thinOne[p.n](hi-lo, p.k, &p.a[lo*p.ar], 4*p.ar, &p.block.packed[0], 4*depth, &p.c[lo*p.ldc],
			4*p.ldc, add)
	}
}

// thinTurned computes the transposed product into a buffer.
func (c *cpu) thinTurned(j *job) {
	p, g := &j.product, &j.kernels.gemm
	buffer := c.buffer((p.m + 2*g.lanes) * p.n)
	p.block.packed = *buffer
	j.do = doThinTurned
	step := 2 * g.lanes
	c.team.run(j, p.m, max((1<<19)/(p.k*p.n)/step*step, step))
	c.panels.put(buffer)
}

func doThinTurned(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	for i := lo; i < hi; {
		vecs := 2
		if hi-i < 2*g.lanes {
			vecs = 1
		}
		rows := vecs * g.lanes
		at := min(i, p.m-rows) // the last tile may repeat rows of the previous tile
		out := p.block.packed[i*p.n:][:rows*p.n]
		add := 0
		if p.beta != 0 {
			add = 1
			p.turnIn(out, at, i, rows)
		}
		g.tile[p.n][vecs](1, p.k, &p.b[0], 4*p.bn, 4*p.bk, &p.a[at], 4*p.ak, &out[0], 4*rows, add, nil)
		p.turnOut(out, at, i, rows)
		i = at + rows
	}
}

// turnIn writes β C into out, column by column. Rows before i belong to another call and start at
// zero.
func (p *product) turnIn(out []float32, at, i, rows int) {
	clear(out)
	for n := range p.n {
		column := out[n*rows:][:rows]
		for r := i - at; r < rows; r++ {
			column[r] = p.beta * p.c[(at+r)*p.ldc+n]
		}
	}
}

// turnOut writes the rows from row i on to C.
func (p *product) turnOut(out []float32, at, i, rows int) {
	for n := range p.n {
		to := i*p.ldc + n
		for _, v := range out[n*rows:][i-at : rows] {
			p.c[to] = v
			to += p.ldc
		}
	}
}
