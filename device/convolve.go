package device

// Convolver is a backend that multiplies the patches of images without storing all of them.
//
// Its methods have the effect of Im2Col, Gemm and Col2Im in sequence. If a method has no faster
// algorithm for the given window and weights, it changes nothing and returns false.
//
// Guarantee: the results for an image depend on that image only. Sums over images do not depend on
// the number of workers.
type Convolver interface {
	// Convolve sets dst to P op(W), where the rows of P are the patches of the images in src.
	//
	// Shapes: src is images×Len, op(W) is Patch×maps, dst is (images·Places)×maps.
	Convolve(w Window, transW bool, src, weights, dst Matrix) bool
	// Spread sets every pixel of the images in dst to the sum of its values in the patches src·op(W).
	// It is the transpose of Convolve.
	//
	// Shapes: src is (images·Places)×maps, op(W) is maps×Patch, dst is images×Len.
	Spread(w Window, transW bool, src, weights, dst Matrix) bool
	// AddConvolved adds PᵀM to dst, or MᵀP if transposed is set. The rows of P are the patches of the
	// images, and the rows of m belong to the same places.
	//
	// Shapes: images is images×Len, m is (images·Places)×maps, dst is Patch×maps, or maps×Patch if
	// transposed.
	AddConvolved(w Window, transposed bool, images, m, dst Matrix) bool
}

// Products read the images in place, surrounded by a frame of zeros. For windows of stride 1, sums
// over images and layers with few maps read a copy instead (see convolve_lines.go). Spread has an
// algorithm of its own for images of one channel (see convolve_grey.go).

// convolves reports whether there is a fast algorithm for a window.
func (c *cpu) convolves(w Window, maps int) bool {
	if maps <= thinCols || w.Places() == 0 || w.Stride > w.Size {
		return false
	}
	if w.Channels == 1 {
		return w.Stride == 1 && w.Size > 1 && w.Width >= 8 && maps <= 64
	}
	return w.Channels >= thinCols && w.Channels*w.Size >= 12
}

// framed returns the length of an image with its frame, and the length of a line of this image,
// both in numbers.
func (w *Window) framed() (size, line int) {
	line = (w.Width + 2*w.Pad) * w.Channels
	return (w.Height + 2*w.Pad) * line, line
}

// frame copies an image into dst, inside its frame. The margins must be zero already.
func (w *Window) frame(dst, image []float32) {
	_, line := w.framed()
	own := w.Width * w.Channels
	for y := range w.Height {
		copy(dst[(y+w.Pad)*line+w.Pad*w.Channels:][:own], image[y*own:])
	}
}

// margins returns the numbers of additional places that would still see a pixel of the image.
// before and after count the places above and below a column of places. left and right count the
// places beside a line of places.
func (w *Window) margins() (before, left, after, right int) {
	down, across := w.Grid()
	before = max((w.Size-1-w.Pad)/w.Stride, 0)
	return before, before, max((w.Height-1+w.Pad)/w.Stride-(down-1), 0),
		max((w.Width-1+w.Pad)/w.Stride-(across-1), 0)
}

// packWeights copies op(W), a k×n matrix, into panels that all images share.
func (c *cpu) packWeights(j *job, n, k int, transW bool, weights Matrix) *[]float32 {
	c.panelsOf(j, n, k, transW, weights)
	b := &j.product.block
	buffer := c.buffer((n + b.width) * k)
	b.packed = *buffer
	doPack(j, 0, b.panels)
	return buffer
}

// images distributes n images among the workers. Each image takes the given number of
// multiply-adds.
func (c *cpu) images(j *job, do func(j *job, lo, hi int), n, products int) {
	c.rows(j, do, n, max(products/8, 1))
}

// Convolve implements [Convolver]. It reads the patches in place.
func (c *cpu) Convolve(w Window, transW bool, src, weights, dst Matrix) bool {
	w.check("Convolve")
	src.checkShape("Convolve", src.Rows, w.Len())
	dst.checkShape("Convolve", src.Rows*w.Places(), dst.Cols)
	weights.checkTurned("Convolve", transW, w.Patch(), dst.Cols)
	ok := c.convolves(w, dst.Cols)
	if !ok || dst.Empty() {
		return ok
	}
	c.convolveImages(w, transW, src, weights, dst.Cols, dst.Data, w.Places()*dst.Stride, dst.Stride)
	return true
}

// convolveImages convolves the images in src. The results of image i start at number i·apart of
// dst, and those of its places are stride numbers apart.
func (c *cpu) convolveImages(w Window, transW bool, src, weights Matrix, maps int, dst []float32,
	apart, stride int) {
	do, l := doConvolve, lineCopy{group: 1, line: w.Size * w.Channels}
	if lanes := c.kernels.gemm.lanes; stride == maps && maps%lanes != 0 {
		group := w.group(maps, 2*lanes)
		if lines, ok := w.lineCopy(group); ok && (group > 1 || w.Channels == 1) {
			do, l = doConvolveLines, lines
		}
	}
	j := c.job()
	cols := l.group * maps
	room := c.buffer(w.Size * l.line * cols)
	m, trans := w.grouped(l, transW, weights, maps, *room)
	buffer := c.packWeights(j, cols, w.Size*l.line, trans, m)
	c.panels.put(room)
	j.a, j.window, j.block = src, w, l.group
	j.b = Matrix{Rows: src.Rows, Cols: apart, Stride: stride, Data: dst}
	c.images(j, do, src.Rows, w.Places()*w.Patch()*maps)
	c.panels.put(buffer)
	c.done(j)
}

func doConvolve(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	size, line := w.framed()
	spare := j.owner.buffer(size)
	framed := (*spare)[:size]
	clear(framed)
	for i := lo; i < hi; i++ {
		w.frame(framed, j.a.Row(i))
		for q := range j.product.block.panels {
			b := j.product.panelOf(g, q)
			for y := range down {
				c := j.b.Data[i*j.b.Cols+y*across*j.b.Stride+b.n0:]
				for dy := range w.Size {
					rows := leftOperand{framed[(y*w.Stride+dy)*line:], w.Stride * w.Channels, 1}
					at := dy * w.Size * w.Channels
					rows.column(g, across, w.Size*w.Channels, &b.data[at*b.wide], 4*b.wide, c, j.b.Stride,
						b.vecs, min(dy, 1), b.mask)
				}
			}
		}
	}
	j.owner.panels.put(spare)
}

// packedPanel is a panel of packed weights: its first column, the number of its vectors, its width
// in numbers, and the mask of the last vector.
type packedPanel struct {
	n0, vecs, wide int
	data           []float32
	mask           *int32
}

func (p *product) panelOf(g *gemmKernels, i int) packedPanel {
	w := &p.block
	n0, n1, vecs := w.panel(i, g.lanes)
	b := packedPanel{n0: n0, vecs: vecs, wide: vecs * g.lanes, data: w.packed[i*w.width*p.k:]}
	if n1-n0 != b.wide {
		b.mask = edge(b.wide-(n1-n0), g.lanes)
	}
	return b
}

// Spread implements [Convolver]. It adds up the patches of an image immediately after computing
// them.
func (c *cpu) Spread(w Window, transW bool, src, weights, dst Matrix) bool {
	w.check("Spread")
	dst.checkShape("Spread", dst.Rows, w.Len())
	src.checkShape("Spread", dst.Rows*w.Places(), src.Cols)
	weights.checkTurned("Spread", transW, src.Cols, w.Patch())
	ok := c.convolves(w, src.Cols)
	if p := w.patches(); !ok || p.rows*p.line > mostPatches {
		return false
	}
	if dst.Empty() || c.spreadLines(w, transW, src, weights, dst) {
		return true
	}
	j := c.job()
	j.a, j.b, j.c, j.window = src, dst, weights, w
	work := w.Places() * w.Patch() * src.Cols
	if w.Channels == 1 {
		c.spreadGrey(j, transW, work)
	} else {
		buffer := c.packWeights(j, w.Patch(), src.Cols, transW, weights)
		c.images(j, doSpread, dst.Rows, work)
		c.panels.put(buffer)
	}
	c.done(j)
	return true
}

// mostPatches is the largest number of values in the patches of one image that fits into the
// second-level cache.
const mostPatches = 1 << 19

// patchRows describes how the patches of one image are stored: in the order of places, row by row,
// with margins of zeros.
type patchRows struct {
	rows, line, place int // number of rows; numbers in a row; numbers at a place
	origin            int // index of the first number of the first place
}

func (w *Window) patches() patchRows {
	down, across := w.Grid()
	before, left, after, right := w.margins()
	p := patchRows{rows: before + down + after, place: w.Patch()}
	p.line = (left + across + right) * p.place
	p.origin = before*p.line + left*p.place
	return p
}

// clearMargins clears the margins around the places.
func (p patchRows) clearMargins(patches []float32, down, across int) {
	first, own := p.origin/p.line, across*p.place
	left := p.origin - first*p.line
	clear(patches[:first*p.line])
	for y := first; y < first+down; y++ {
		row := patches[y*p.line:][:p.line]
		clear(row[:left])
		clear(row[left+own:])
	}
	clear(patches[(first+down)*p.line : p.rows*p.line])
}

func doSpread(j *job, lo, hi int) {
	w, g, k := &j.window, &j.kernels.gemm, j.product.k
	down, across := w.Grid()
	p := w.patches()
	spare := j.owner.buffer(p.rows * p.line)
	patches := (*spare)[:p.rows*p.line]
	p.clearMargins(patches, down, across)
	for i := lo; i < hi; i++ {
		for q := range j.product.block.panels {
			b := j.product.panelOf(g, q)
			for y := range down {
				rows := leftOperand{j.a.Data[(i*down+y)*across*j.a.Stride:], j.a.Stride, 1}
				rows.column(g, across, k, &b.data[0], 4*b.wide, patches[p.origin+y*p.line+b.n0:], p.place,
					b.vecs, 0, b.mask)
			}
		}
		w.raise(j.kernels, p, patches, j.b.Row(i))
	}
	j.owner.panels.put(spare)
}

// raise sets every pixel to the sum of its values in the patches, in the order of the places.
func (w *Window) raise(k *kernels, p patchRows, patches, image []float32) {
	c, s := w.Channels, w.Stride
	for y := range w.Height {
		first := ceilDiv(y+w.Pad-w.Size+1, s)
		last := (y + w.Pad) / s
		for phase := range min(s, w.Width) {
			left := ceilDiv(phase+w.Pad-w.Size+1, s)
			sum := pixelSum{na: last - first + 1, nb: (phase+w.Pad)/s - left + 1,
				stepA: p.line - s*w.Size*c, stepB: p.place - s*c, stepX: p.place, stepDst: s * c}
			dy, dx := y+w.Pad-first*s, phase+w.Pad-left*s
			from := p.origin + first*p.line + left*p.place + (dy*w.Size+dx)*c
			n := (w.Width - phase + s - 1) / s
			for at := 0; at < c; at += 8 {
				sum.lanes = min(8, c-at)
				sum.run(k, n, patches, from+at, image[(y*w.Width+phase)*c+at:])
			}
		}
	}
}

func ceilDiv(a, b int) int {
	if a <= 0 {
		return -(-a / b)
	}
	return (a + b - 1) / b
}

// AddConvolved implements [Convolver]. It adds up the images in a few parts. The number and the
// sizes of the parts do not depend on the number of workers.
func (c *cpu) AddConvolved(w Window, transposed bool, images, m, dst Matrix) bool {
	w.check("AddConvolved")
	images.checkShape("AddConvolved", images.Rows, w.Len())
	m.checkShape("AddConvolved", images.Rows*w.Places(), m.Cols)
	dst.checkTurned("AddConvolved", transposed, w.Patch(), m.Cols)
	ok := c.convolves(w, m.Cols)
	if !ok || m.Empty() {
		return ok
	}
	j := c.job()
	size := w.Patch() * m.Cols
	l, lines := w.lineCopy(w.group(m.Cols, sumLanes))
	var room *[]float32
	if lines {
		size = w.Size * l.line * l.group * m.Cols
		if l.group > 1 {
			room, m = c.flatten(m)
		}
	}
	parts := min(sumParts, images.Rows)
	buffer := c.buffer(parts * size)
	sums := (*buffer)[:parts*size]
	clear(sums)
	j.a, j.b, j.window, j.block = images, m, w, parts
	j.c = HostMatrix(parts, size, sums)
	j.do = doAddConvolved
	if lines {
		j.do = doAddConvolvedLines
	}
	c.team.run(j, parts, 1)
	for part := 1; part < parts; part++ {
		c.kernels.axpy(1, sums[part*size:][:size], sums[:size])
	}
	if lines && l.group > 1 {
		folded := c.buffer(w.Patch() * m.Cols)
		clear((*folded)[:w.Patch()*m.Cols])
		w.foldGroups(l, *folded, sums[:size], m.Cols)
		addTurned(dst, (*folded)[:w.Patch()*m.Cols], m.Cols, transposed)
		c.panels.put(folded)
	} else {
		addTurned(dst, sums[:size], m.Cols, transposed)
	}
	c.panels.put(buffer)
	if room != nil {
		c.panels.put(room)
	}
	c.done(j)
	return true
}

// sumParts is the largest number of parts in which images are added up.
const sumParts = 8

// addTurned adds the matrix sums, which has cols columns, or its transpose to dst.
func addTurned(dst Matrix, sums []float32, cols int, transposed bool) {
	for i := range dst.Rows {
		row := dst.Row(i)
		if !transposed {
			for k, v := range sums[i*cols:][:cols] {
				row[k] += v
			}
			continue
		}
		for k := range row {
			row[k] += sums[k*cols+i]
		}
	}
}

func doAddConvolved(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	size, line := w.framed()
	maps, places := j.b.Cols, down*across
	panels := (maps + 2*g.lanes - 1) / (2 * g.lanes)
	packed := panels * 2 * g.lanes
	spare := j.owner.buffer(size + places*packed + 2*g.lanes)
	framed, values := (*spare)[:size], (*spare)[size:][:places*packed]
	clear(framed)
	for part := lo; part < hi; part++ {
		sums := j.c.Row(part)
		n := j.a.Rows
		for i := part * n / j.block; i < (part+1)*n/j.block; i++ {
			w.frame(framed, j.a.Row(i))
			for q := range panels {
				n0 := q * 2 * g.lanes
				n1 := min(n0+2*g.lanes, maps)
				vecs := (n1 - n0 + g.lanes - 1) / g.lanes
				wide := vecs * g.lanes
				var mask *int32
				b, bk := &j.b.Data[i*places*j.b.Stride+n0], 4*j.b.Stride
				step := j.b.Stride
				from := j.b.Data[i*places*j.b.Stride+n0:]
				if n1-n0 != wide {
					mask = edge(wide-(n1-n0), g.lanes)
					g.packRows[vecs](places, b, bk, &values[0], mask)
					from, step, bk = values, wide, 4*wide
				}
				for y := range down {
					b := &from[y*across*step]
					for dy := range w.Size {
						rows := leftOperand{framed[(y*w.Stride+dy)*line:], 1, w.Stride * w.Channels}
						rows.column(g, w.Size*w.Channels, across, b, bk, sums[dy*w.Size*w.Channels*maps+n0:],
							maps, vecs, 1, mask)
					}
				}
			}
		}
	}
	j.owner.panels.put(spare)
}
