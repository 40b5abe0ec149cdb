package device

// tileKernel computes tiles of C, one below the other; internal/asmgen/gemm.go documents its
// arguments. Strides are in bytes.
type tileKernel func(tiles, k int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr int,
	add int, mask *int32)

// gemmKernels holds the micro-kernels for one level of vector instructions.
type gemmKernels struct {
	rows  int               // largest number of rows of a tile
	lanes int               // numbers in a vector
	tile  [15][3]tileKernel // by rows and vectors of the tile
	// packRows copies k rows of one or two vectors, stride bytes apart, to adjacent places.
	packRows [3]func(k int, src *float32, stride int, dst *float32, mask *int32)
	// packColumns transposes eight columns of 8·blocks numbers each.
	packColumns func(blocks int, src *float32, stride int, dst *float32, width int)
	thinOne     [thinCols + 1]thinKernel // by columns, for one row at a time
	thinMany    [thinCols + 1]thinKernel // by columns, for several rows
	thinSix     thinKernel               // for two columns and six rows, or nil
	// splitPairs copies 8·blocks pairs to two slices, and joinPairs copies them back. Both may be
	// nil.
	splitPairs func(blocks int, src, x, y *float32)
	joinPairs  func(blocks int, x, y, dst *float32)
	long       [longRows + 1][9]tileKernel // by rows and vectors of the tile
	outer      [outerDeep + 1]outerKernel  // by columns of A
	deepNN     int                         // part of k in one pass if the rows of A are contiguous
	deepTN     int                         // part of k in one pass if the columns of A are contiguous
	// if columns of A are contiguous and k is larger than copyTN, blocks of A are copied
	copyTN int
}

// blocking describes how a product is divided: B into panels that are two vectors wide, and C into
// blocks of rows by groups of panels.
//
// The division cannot change the bits of the result. The chain of an element over k may be
// interrupted, with its current value stored in C, but it is never reordered.
type blocking struct {
	k0, k1     int // current part of k
	n0, n1     int // current columns
	width      int // columns of a panel
	panels     int
	inPlace    bool // full panels are read in place
	copyA      bool // A is read from a copy of the current block
	ahead      bool // B is packed and does not fit into the second-level cache
	packed     []float32
	deep       int
	rowBlock   int
	panelGroup int
	groups     int
}

const (
	packedSize = 1 << 21 // numbers of B packed at a time: 8 MiB, which fits into the last-level cache
	packedDeep = 1 << 14 // largest part of k packed at a time
	unitFlops  = 1 << 20 // smallest amount of work that is worth giving to another worker
	// inPlaceRows is the largest number of rows of C for which panels of B are read in place.
	// Packing a panel takes about as long as two rows of C, by an estimate.
	inPlaceRows = 256
)

// blocked computes a product with micro-kernels.
func (c *cpu) blocked(j *job) {
	p, g := &j.product, &j.kernels.gemm
	w := &p.block
	w.width = 2 * g.lanes
	w.inPlace = p.bn == 1 && p.alpha == 1 && p.m <= inPlaceRows
	w.deep = g.deepNN
	if p.ak != 1 {
		w.deep = g.deepTN
	}
	if p.origin != 0 {
		w.deep = min(w.deep, p.chain)
	}
	w.copyA = g.awkward(p)
	size := min(packedSize, (p.n+w.width)*min(p.k, packedDeep))
	buffer := c.buffer(size)
	w.packed = *buffer
	for w.n0 = 0; w.n0 < p.n; w.n0 = w.n1 {
		depth := min(p.k, packedDeep)
		w.n1 = min(p.n, w.n0+packedSize/depth/w.width*w.width)
		w.panels = (w.n1 - w.n0 + w.width - 1) / w.width
		c.cut(p)
		for w.k0 = 0; w.k0 < p.k; w.k0 = w.k1 {
			w.k1 = min(p.k, w.k0+depth)
			j.do = doPack
			c.team.run(j, w.panels, max((1<<17)/(depth*w.width), 1))
			j.do = doBlocks
			c.team.run(j, (p.m+w.rowBlock-1)/w.rowBlock*w.groups, 1)
		}
	}
	c.panels.put(buffer)
}

// small computes a product that is too small to share and needs no other form, or returns false. A
// job would take as long as the products of one head of an attention.
func (c *cpu) small(p *product) bool {
	g, w := &c.kernels.gemm, &p.block
	if p.n <= thinCols || p.m <= longRows || p.k <= outerDeep || p.k > smallDeep ||
		p.m*p.n*p.k > unitFlops/2 || p.alpha == 0 || p.beta != 0 && p.beta != 1 || g.awkward(p) {
		return false
	}
	w.n1, w.k1, w.width = p.n, p.k, 2*g.lanes
	var room *[]float32
	if p.bn != 1 || p.alpha != 1 || p.n%g.lanes != 0 {
		room = c.buffer(w.width * p.k)
	}
	for i := 0; i*w.width < p.n; i++ {
		n0, n1, vecs := w.panel(i, g.lanes)
		wide, mask := vecs*g.lanes, (*int32)(nil)
		if n1-n0 < wide {
			mask = edge(wide-(n1-n0), g.lanes)
		}
		b, bk := p.b[n0*p.bn:], 4*p.bk
		if room != nil {
			b, bk = (*room)[:wide*p.k], 4*wide
			p.packPanel(g, b, n0, n1, wide)
			c.kernels.scaleOrClear(p.alpha, b)
		}
		leftOperand{p.a, p.ar, p.ak}.column(g, p.m, p.k, &b[0], bk, p.c[n0:], p.ldc, vecs,
			int(p.beta), mask)
	}
	if room != nil {
		c.panels.put(room)
	}
	return true
}

// smallDeep is the largest k of products that small computes, in one pass.
const smallDeep = 256

// awkward reports whether blocks of A should be copied first, so that their numbers are closer
// together. There are two reasons. Rows (or, if A is transposed, columns) that are multiples of
// half a page apart compete for a few lines of the cache. If A is transposed, a tile of few rows
// reads another page at every step along k.
func (g *gemmKernels) awkward(p *product) bool {
	stride := 4 * max(p.ar, p.ak)
	return (stride%2048 == 0 || p.ak > 1 && p.k > g.copyTN) && p.n > 2*thinCols
}

// buffer takes a slice for the given number of packed numbers from the pool. The slice is so large
// that the runtime aligns it to a cache line.
func (c *cpu) buffer(size int) *[]float32 {
	buffer := c.panels.get()
	if len(*buffer) < size {
		*buffer = make([]float32, max(size, 1<<14))
	}
	return buffer
}

// cut chooses the units of work: a block of rows of A that fits into the second-level cache, times
// enough panels to make a unit worth sharing.
func (c *cpu) cut(p *product) {
	w, tall := &p.block, 42*6 // a multiple of 6 and of 14, the rows of tiles
	blocks := max((p.m+tall/2)/tall, 1)
	if blocks > 1 { // every goroutine gets the same number of blocks
		blocks = (blocks + c.workers - 1) / c.workers * c.workers
	}
	rows := c.kernels.gemm.rows
	w.rowBlock = ((p.m+blocks-1)/blocks + rows - 1) / rows * rows
	blocks = (p.m + w.rowBlock - 1) / w.rowBlock
	flops := 2 * p.m * (w.n1 - w.n0) * p.k
	w.groups = 1
	if c.workers > 1 {
		units := min(flops/unitFlops, 8*c.workers)
		w.groups = min(max((units+blocks-1)/blocks, 1), w.panels)
	}
	w.panelGroup = (w.panels + w.groups - 1) / w.groups
	w.groups = (w.panels + w.panelGroup - 1) / w.panelGroup
}

// panel returns the columns n0 to n1−1 of panel i, and the number of vectors that hold them.
func (w *blocking) panel(i, lanes int) (n0, n1, vecs int) {
	n0 = w.n0 + i*w.width
	n1 = min(n0+w.width, w.n1)
	return n0, n1, (n1 - n0 + lanes - 1) / lanes
}

// doPack copies panels lo to hi−1 of α op(B) into the order in which a kernel reads them. Missing
// columns are zero.
func doPack(j *job, lo, hi int) {
	p, g := &j.product, &j.kernels.gemm
	w := &p.block
	depth := w.k1 - w.k0
	for i := lo; i < hi; i++ {
		n0, n1, vecs := w.panel(i, g.lanes)
		if w.inPlace && n1-n0 == vecs*g.lanes {
			continue
		}
		dst := w.packed[i*w.width*depth:][:depth*vecs*g.lanes]
		p.packPanel(g, dst, n0, n1, vecs*g.lanes)
		if p.alpha != 1 {
			j.kernels.scale(p.alpha, dst)
		}
	}
}

func (p *product) packPanel(g *gemmKernels, dst []float32, n0, n1, width int) {
	k0, depth := p.block.k0, p.block.k1-p.block.k0
	if p.bn == 1 {
		var mask *int32
		if n1-n0 < width {
			mask = edge(width-(n1-n0), g.lanes)
		}
		g.packRows[width/g.lanes](depth, &p.b[k0*p.bk+n0], 4*p.bk, &dst[0], mask)
		return
	}
	if n1-n0 < width {
		clear(dst)
	}
	n, whole := n0, depth&^7
	for ; whole > 0 && n+8 <= n1; n += 8 {
		g.packColumns(depth/8, &p.b[k0+n*p.bn], 4*p.bn, &dst[n-n0], 4*width)
		p.packScalar(dst, n0, n, n+8, whole, width)
	}
	p.packScalar(dst, n0, n, n1, 0, width)
}

// packScalar packs columns lo to hi−1, starting at row from, one number at a time.
func (p *product) packScalar(dst []float32, n0, lo, hi, from, width int) {
	depth := p.block.k1 - p.block.k0
	for n := lo; n < hi; n++ {
		at := (p.block.k0+from)*p.bk + n*p.bn
		for k := from; k < depth; k++ {
			dst[k*width+n-n0] = p.b[at]
			at += p.bk
		}
	}
}

// doBlocks computes units lo to hi−1: blocks of rows by groups of panels.
func doBlocks(j *job, lo, hi int) {
	p := &j.product
	w := &p.block
	for u := lo; u < hi; u++ {
		i0 := u / w.groups * w.rowBlock
		p0 := u % w.groups * w.panelGroup
		doBlock(j, i0, min(i0+w.rowBlock, p.m), p0, min(p0+w.panelGroup, w.panels))
	}
}

func doBlock(j *job, i0, i1, p0, p1 int) {
	p, g := &j.product, &j.kernels.gemm
	w := &p.block
	if w.ahead && j.kernels.ahead != nil {
		g = j.kernels.ahead
	}
	again := 1
	if p.origin != 0 {
		again = p.origin
	}
	add := again
	if w.k0 == 0 {
		if p.beta == 0 {
			add = 0
		} else if p.beta != 1 {
			lo, hi := w.n0+p0*w.width, min(w.n0+p1*w.width, w.n1)
			for i := i0; i < i1; i++ {
				j.kernels.scale(p.beta, p.c[i*p.ldc+lo:i*p.ldc+hi])
			}
		}
	}
	depth := w.k1 - w.k0
	pieces := (depth + w.deep - 1) / w.deep
	deep := (depth + pieces - 1) / pieces
	var spare *[]float32
	if w.copyA {
		spare = j.owner.buffer((i1 - i0 + 16) * (deep + 16))
		defer j.owner.panels.put(spare)
	}
	for k := 0; k < depth; k += deep {
		kn := min(deep, depth-k)
		rows := leftOperand{p.a[i0*p.ar+(w.k0+k)*p.ak:], p.ar, p.ak}
		if w.copyA {
			rows = rows.copied(*spare, i1-i0, kn)
		}
		for i := p0; i < p1; i++ {
			n0, n1, vecs := w.panel(i, g.lanes)
			wide := vecs * g.lanes
			var b *float32
			bk, mask := 4*wide, (*int32)(nil)
			if n1-n0 != wide {
				mask = edge(wide-(n1-n0), g.lanes)
			}
			if w.inPlace && mask == nil {
				b, bk = &p.b[(w.k0+k)*p.bk+n0], 4*p.bk
			} else {
				b = &w.packed[i*w.width*depth+k*wide]
			}
			rows.column(g, i1-i0, kn, b, bk, p.c[i0*p.ldc+n0:], p.ldc, vecs, add, mask)
		}
		add = again
	}
}

// leftOperand is a block of op(A): a slice that begins with its first element, and the distances
// between its rows and between its columns.
type leftOperand struct {
	a      []float32
	ar, ak int
}

// copied copies the block into a buffer, in the same order, and returns the copy.
func (l leftOperand) copied(to []float32, rows, cols int) leftOperand {
	if l.ak == 1 {
		out := leftOperand{to, cols + 16, 1}
		for i := range rows {
			copy(to[i*out.ar:], l.a[i*l.ar:][:cols])
		}
		return out
	}
	out := leftOperand{to, 1, rows + 16}
	for k := range cols {
		copy(to[k*out.ak:], l.a[k*l.ak:][:rows])
	}
	return out
}

// column multiplies rows of the block by one panel.
func (l leftOperand) column(g *gemmKernels, rows, kn int, b *float32, bk int, c []float32, ldc,
	vecs, add int, mask *int32) {
	tiles, tail := rows/g.rows, rows%g.rows
	first := 0
	if tail > 0 && tail < 4 && tiles > 0 {
		// In a tile of few rows, each multiplication waits for the previous one. Two tiles of medium size
		// are faster than a full tile and a small tile.
		tiles--
		tail += g.rows
		first = (tail + 1) / 2
		tail -= first
	}
	i := 0
	if tiles > 0 {
		g.tile[g.rows][vecs](tiles, kn, &l.a[0], 4*l.ar, 4*l.ak, b, bk, &c[0], 4*ldc, add, mask)
		i = tiles * g.rows
	}
	for _, r := range [2]int{first, tail} {
		if r > 0 {
			g.tile[r][vecs](1, kn, &l.a[i*l.ar], 4*l.ar, 4*l.ak, b, bk, &c[i*ldc], 4*ldc, add, mask)
			i += r
		}
	}
}

// edges holds sixteen lanes of −1, which a mask keeps, followed by sixteen lanes of 0, which it
// drops. Every mask is a part of edges, which is never written.
var edges = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// edge returns a mask without the last missing lanes of a vector that has 8 or 16 lanes.
func edge(missing, lanes int) *int32 { return &edges[16-lanes+missing] }
