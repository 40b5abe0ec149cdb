package device

// longRows is the largest number of rows of a result for which there are kernels with long tiles.
const longRows = 2

// longLeast is the smallest number of columns of a result with long tiles that is worth giving to
// another worker.
const longLeast = 64

// few reports whether the result has so few rows that a tile can be long, and B can be read in
// place. A usual tile would read only 32 numbers of every row of B at a time, and would have few
// independent chains of additions.
func (g *gemmKernels) few(p *product) bool {
	return p.m <= longRows && p.n > thinCols && p.bn == 1 && p.alpha == 1 && g.long[p.m][1] != nil
}

// few computes a product with few rows. An element is one chain over k, as in other products.
func (c *cpu) few(j *job) {
	p := &j.product
	j.do = doFew
	c.team.run(j, p.n, max((1<<19)/(p.k*p.m)/longLeast, 1)*longLeast)
}

func doFew(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	add := 1
	if p.beta == 0 {
		add = 0
	} else if p.beta != 1 {
		for i := range p.m {
			j.kernels.scale(p.beta, p.c[i*p.ldc+lo:i*p.ldc+hi])
		}
	}
	g.longTiles(hi-lo, p.m, p.k, p.a, p.ar, p.ak, p.b[lo:], p.bk, p.c[lo:], p.ldc, add)
}

// longTiles computes a product of few rows and the given number of columns. Strides are in numbers.
func (g *gemmKernels) longTiles(cols, rows, k int, a []float32, ar, ak int, b []float32, bk int,
	c []float32, cr, add int) {
	for at := 0; at < cols; {
		left := (cols - at + g.lanes - 1) / g.lanes
		tiles := (left + g.lanes/2 - 1) / (g.lanes / 2)
		vecs := (left + tiles - 1) / tiles
		for g.long[rows][vecs] == nil {
			vecs--
		}
		var mask *int32
		if over := at + vecs*g.lanes - cols; over > 0 {
			mask = edge(over, g.lanes)
		}
		g.long[rows][vecs](1, k, &a[0], 4*ar, 4*ak, &b[at], 4*bk, &c[at], 4*cr, add, mask)
		at += vecs * g.lanes
	}
}

// doLongTurned computes rows lo to hi−1 of a product with few columns and a transposed A, as
// columns of the transposed product.
func doLongTurned(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	out := p.block.packed[lo*p.n : hi*p.n]
	add := 0
	if p.beta != 0 {
		add = 1
		p.turnIn(out, lo, lo, hi-lo)
	}
	g.longTiles(hi-lo, p.n, p.k, p.b, p.bn, p.bk, p.a[lo:], p.ak, out, hi-lo, add)
	p.turnOut(g, out, lo, lo, hi-lo)
}

// outerDeep is the largest number of columns of A for which there are outer kernels.
const outerDeep = 2

// outerNear is the largest number of packed numbers of B that stay in the first-level cache while
// an outer kernel computes rows.
const outerNear = 1 << 12

// outerKernel computes rows of C; internal/asmgen/outer.go documents its arguments. Strides are in
// bytes.
type outerKernel func(rows, vecs int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr,
	add int, mask *int32)

// shallow reports whether A has so few columns that the product mostly writes C.
func (g *gemmKernels) shallow(p *product) bool {
	return p.k <= outerDeep && p.n > thinCols && g.outer[p.k] != nil
}

// shallow computes a product over few terms, row by row. An element is one chain over k, as in
// other products.
func (c *cpu) shallow(j *job) {
	p, g := &j.product, &j.kernels.gemm
	wide := (p.n + g.lanes - 1) / g.lanes * g.lanes
	buffer := c.buffer(p.k * wide)
	p.block.packed, p.block.width = *buffer, wide
	for k := range p.k {
		row, at := p.block.packed[k*wide:][:wide], k*p.bk
		if p.bn == 1 {
			copy(row, p.b[at:][:p.n])
		} else {
			for n := range p.n {
				row[n] = p.b[at]
				at += p.bn
			}
		}
		clear(row[p.n:])
	}
	if p.alpha != 1 {
		j.kernels.scale(p.alpha, p.block.packed[:p.k*wide])
	}
	j.do = doShallow
	c.team.run(j, p.m, max((1<<16)/p.n, 4))
	c.panels.put(buffer)
}

func doShallow(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	add := 1
	if p.beta == 0 {
		add = 0
	} else if p.beta != 1 {
		for i := lo; i < hi; i++ {
			j.kernels.scale(p.beta, p.c[i*p.ldc:][:p.n])
		}
	}
	step := max(outerNear/p.k/g.lanes*g.lanes, g.lanes)
	for n := 0; n < p.n; n += step {
		cols := min(step, p.n-n)
		vecs := (cols + g.lanes - 1) / g.lanes
		var mask *int32
		if over := vecs*g.lanes - cols; over > 0 {
			mask = edge(over, g.lanes)
		}
		g.outer[p.k](hi-lo, vecs, &p.a[lo*p.ar], 4*p.ar, 4*p.ak, &p.block.packed[n],
			4*p.block.width, &p.c[lo*p.ldc+n], 4*p.ldc, add, mask)
	}
}
