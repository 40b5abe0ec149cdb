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
	j.do = doThinDots
	grain := max((1<<19)/(p.k*p.n), 4) &^ 3
	if p.bk == 1 && p.alpha == 1 {
		p.block.packed, p.block.deep = p.b, p.bn
		c.team.run(j, p.m, grain)
		return
	}
	buffer := c.buffer(p.k * p.n)
	p.block.packed, p.block.deep = *buffer, p.k
	p.columns(&j.kernels.gemm, p.block.packed)
	if p.alpha != 1 {
		j.kernels.scale(p.alpha, p.block.packed[:p.n*p.k])
	}
	c.team.run(j, p.m, grain)
	c.panels.put(buffer)
}

// columns copies the columns of op(B), one behind the other.
func (p *product) columns(g *gemmKernels, to []float32) {
	whole := 0
	if p.n == 2 && p.bn == 1 && p.bk == 2 && p.k >= 8 && g.splitPairs != nil {
		whole = p.k &^ 7
		g.splitPairs(whole/8, &p.b[0], &to[0], &to[p.k])
	}
	for n := range p.n {
		from := n*p.bn + whole*p.bk
		for k := whole; k < p.k; k++ {
			to[n*p.k+k] = p.b[from]
			from += p.bk
		}
	}
}

func doThinDots(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	b, bk := &p.block.packed[0], 4*p.block.deep
	add := 1
	if p.beta == 0 {
		add = 0
	} else if p.beta != 1 {
		for i := lo; i < hi; i++ {
			j.kernels.scale(p.beta, p.c[i*p.ldc:][:p.n])
		}
	}
	if g.thinSix != nil && p.n == 2 {
		tiles := (hi - lo) / 6
		if (hi-lo)%6 == 2 && tiles > 0 { // 4 and 4 rows are faster than 6, 1 and 1
			tiles--
		}
		if tiles > 0 {
			g.thinSix(tiles, p.k, &p.a[lo*p.ar], 4*p.ar, b, bk, &p.c[lo*p.ldc], 4*p.ldc, add)
			lo += 6 * tiles
		}
	}
	rows := thinRows[p.n]
	if tiles := (hi - lo) / rows; tiles > 0 {
		g.thinMany[p.n](tiles, p.k, &p.a[lo*p.ar], 4*p.ar, b, bk, &p.c[lo*p.ldc], 4*p.ldc, add)
		lo += tiles * rows
	}
	if lo < hi {
		g.thinOne[p.n](hi-lo, p.k, &p.a[lo*p.ar], 4*p.ar, b, bk, &p.c[lo*p.ldc], 4*p.ldc, add)
	}
}

// thinTurned computes the transposed product into a buffer.
func (c *cpu) thinTurned(j *job) {
	p, g := &j.product, &j.kernels.gemm
	buffer := c.buffer((p.m + 2*g.lanes) * p.n)
	p.block.packed = *buffer
	j.do = doThinTurned
	step := 2 * g.lanes
	if p.n <= longRows && g.long[p.n][1] != nil {
		j.do = doLongTurned
		step = longLeast
	}
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
		p.turnOut(g, out, at, i, rows)
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
func (p *product) turnOut(g *gemmKernels, out []float32, at, i, rows int) {
	from := i - at
	if whole := (rows - from) &^ 7; p.n == 2 && p.ldc == 2 && whole > 0 && g.joinPairs != nil {
		g.joinPairs(whole/8, &out[from], &out[rows+from], &p.c[2*i])
		from += whole
	}
	for n := range p.n {
		to := (at+from)*p.ldc + n
		for _, v := range out[n*rows:][from:rows] {
			p.c[to] = v
			to += p.ldc
		}
	}
}
