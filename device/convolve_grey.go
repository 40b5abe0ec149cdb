package device

// This file implements convolutions of images with one channel. The vectors of its products run
// along a line of pixels.

// greyLines describes how the patches of one line of places are stored. The places are divided into
// panels. For each number of a patch, a panel holds the values of that number at all places of the
// panel.
type greyLines struct {
	lanes, width, panels int
}

func (w *Window) greyLines(g *gemmKernels) greyLines {
	_, across := w.Grid()
	width := 2 * g.lanes
	return greyLines{g.lanes, width, (across + width - 1) / width}
}

// panel returns the first place of panel i and the place after its last one, the number of its
// vectors, and the mask of the last vector.
func (l greyLines) panel(i, across int) (n0, n1, vecs int, mask *int32) {
	n0 = i * l.width
	n1 = min(n0+l.width, across)
	vecs = (n1 - n0 + l.lanes - 1) / l.lanes
	if missing := vecs*l.lanes - (n1 - n0); missing > 0 {
		mask = edge(missing, l.lanes)
	}
	return n0, n1, vecs, mask
}

// lower fills a panel with the patches of line y, from place n0 on.
func (w *Window) lower(g *gemmKernels, dst, framed []float32, y, n0, vecs int, mask *int32) {
	_, line := w.framed()
	for dy := range w.Size {
		g.packRows[vecs](w.Size, &framed[(y+dy)*line+n0], 4, &dst[dy*w.Size*vecs*g.lanes], mask)
	}
}

func doConvolveGrey(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	size, _ := w.framed()
	l, maps, patch := w.greyLines(g), j.b.Cols, w.Patch()
	spare := j.owner.buffer(size + (patch+maps+1)*l.width)
	framed, lowered := (*spare)[:size], (*spare)[size:][:patch*l.width]
	out := (*spare)[size+patch*l.width:][:maps*l.width]
	weights := leftOperand{j.c.Data, 1, j.c.Stride}
	if j.flat {
		weights = leftOperand{j.c.Data, j.c.Stride, 1}
	}
	clear(framed)
	for i := lo; i < hi; i++ {
		w.frame(framed, j.a.Row(i))
		for y := range down {
			for q := range l.panels {
				n0, n1, vecs, mask := l.panel(q, across)
				wide := vecs * l.lanes
				w.lower(g, lowered, framed, y, n0, vecs, mask)
				weights.column(g, maps, patch, &lowered[0], 4*wide, out, wide, vecs, 0, nil)
				turn(g, out, wide, maps, n1-n0, j.b.Data[((i*down+y)*across+n0)*j.b.Stride:], j.b.Stride)
			}
		}
	}
	j.owner.panels.put(spare)
}

// turn writes the transpose of src, which has rows rows of cols numbers, to dst.
func turn(g *gemmKernels, src []float32, stride, rows, cols int, dst []float32, to int) {
	r := 0
	for ; r+8 <= rows && cols >= 8; r += 8 {
		g.packColumns(cols/8, &src[r*stride], 4*stride, &dst[r], 4*to)
		if cols%8 != 0 { // transpose the last eight columns, some of them a second time
			g.packColumns(1, &src[r*stride+cols-8], 4*stride, &dst[(cols-8)*to+r], 4*to)
		}
	}
	for ; r < rows; r++ {
		for c, v := range src[r*stride:][:cols] {
			dst[c*to+r] = v
		}
	}
}

func doSpreadGrey(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	l, maps, patch := w.greyLines(g), j.a.Cols, w.Patch()
	before, left, after, right := w.margins()
	rows, line := before+down+after, left+across+right
	plane := rows * line
	spare := j.owner.buffer(patch*plane + maps*l.width + l.width)
	planes, turned := (*spare)[:patch*plane], (*spare)[patch*plane:][:maps*l.width]
	weights := leftOperand{j.c.Data, 1, j.c.Stride}
	if j.flat {
		weights = leftOperand{j.c.Data, j.c.Stride, 1}
	}
	clear(planes)
	for i := lo; i < hi; i++ {
		for y := range down {
			for q := range l.panels {
				n0, n1, vecs, mask := l.panel(q, across)
				wide := vecs * l.lanes
				if mask != nil {
					clear(turned[:maps*wide])
				}
				turn(g, j.a.Data[((i*down+y)*across+n0)*j.a.Stride:], j.a.Stride, n1-n0, maps, turned, wide)
				weights.column(g, patch, maps, &turned[0], 4*wide, planes[(before+y)*line+left+n0:], plane,
					vecs, 0, mask)
			}
		}
		w.raiseGrey(j.kernels, planes, plane, line, j.b.Row(i))
	}
	j.owner.panels.put(spare)
}

// raiseGrey sums up vectors of pixels, for several lines at a time.
func (w *Window) raiseGrey(k *kernels, planes []float32, plane, line int, image []float32) {
	before, left, _, _ := w.margins()
	last := w.Size*w.Size - 1
	sum := pixelSum{na: w.Size, nb: w.Size, stepA: line - w.Size*plane, stepB: 1 - plane,
		stepX: line, stepDst: w.Width, lanes: 8}
	for x := 0; x < w.Width; x += 8 {
		x = min(x, w.Width-8)
		top, first := w.Pad-w.Size+1+before, x+w.Pad-w.Size+1+left
		sum.run(k, w.Height, planes, last*plane+top*line+first, image[x:])
	}
}

func doAddConvolvedGrey(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	size, _ := w.framed()
	l, maps, patch := w.greyLines(g), j.b.Cols, w.Patch()
	spare := j.owner.buffer(size + patch*l.width + l.width*(maps+l.width))
	framed, lowered := (*spare)[:size], (*spare)[size:][:patch*l.width]
	values := (*spare)[size+patch*l.width:]
	clear(framed)
	for part := lo; part < hi; part++ {
		sums := j.c.Row(part)
		n := j.a.Rows
		for i := part * n / j.block; i < (part+1)*n/j.block; i++ {
			w.frame(framed, j.a.Row(i))
			for y := range down {
				for q := range l.panels {
					n0, n1, vecs, mask := l.panel(q, across)
					w.lower(g, lowered, framed, y, n0, vecs, mask)
					from := j.b.Data[((i*down+y)*across+n0)*j.b.Stride:]
					addLine(g, lowered, vecs*l.lanes, patch, n1-n0, from, j.b.Stride, maps, values, sums)
				}
			}
		}
	}
	j.owner.panels.put(spare)
}

// addLine adds the contribution of one panel of places of a line to the sums.
func addLine(g *gemmKernels, lowered []float32, wide, patch, places int, m []float32, stride,
	maps int, values, sums []float32) {
	rows := leftOperand{lowered, wide, 1}
	for m0 := 0; m0 < maps; m0 += 2 * g.lanes {
		m1 := min(m0+2*g.lanes, maps)
		vecs := (m1 - m0 + g.lanes - 1) / g.lanes
		cols := vecs * g.lanes
		b, bk, mask := &m[m0], 4*stride, (*int32)(nil)
		if m1-m0 != cols {
			mask = edge(cols-(m1-m0), g.lanes)
			g.packRows[vecs](places, b, bk, &values[0], mask)
			b, bk = &values[0], 4*cols
		}
		rows.column(g, patch, places, b, bk, sums[m0:], maps, vecs, 1, mask)
	}
}
