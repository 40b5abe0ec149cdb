package device

// This file implements convolutions of stride 1 whose windows are copied line by line: for every
// line of the image, the numbers that each window sees of this line are stored next to each other.
// All places of an image then have a uniform distance, so a few long products do all the work. The
// copy fits into the inner caches, because it is Size times as large as the image, not Size² times.
//
// If a place has fewer results than a vector has lanes, a few adjacent places form a group. Their
// results are computed together, from a window that is wider by the additional places; the missing
// weights are zero.

// lineCopy describes the copy of one image.
type lineCopy struct {
	group  int // adjacent places whose results are computed together
	groups int // number of groups of all places
	line   int // numbers that a group sees of one line
	parts  int // number of products for one result
	depth  int // numbers in a product
	step   int // distance between groups
	next   int // distance between parts
}

// sumLanes is the largest number of columns of a group in sums over images. It is the same for all
// levels, because the order of such a sum depends on it.
const sumLanes = 16

// group returns the number of places in a group that has at most the given number of results.
func (w *Window) group(maps, lanes int) int {
	_, across := w.Grid()
	for n := lanes / maps; n > 1; n-- {
		// Missing weights must not cost more than empty lanes would.
		if lanes%(n*maps) == 0 && across%n == 0 && 5*w.Size >= 3*(w.Size+n-1) {
			return n
		}
	}
	return 1
}

// lineCopy returns the form of the copy for groups of the given number of places. It returns false
// if the window has no such copy.
func (w *Window) lineCopy(group int) (l lineCopy, ok bool) {
	down, across := w.Grid()
	if w.Stride != 1 || w.Places() == 0 || w.Channels > 1 && w.Channels*w.Size < 8 {
		return l, false
	}
	l.group = group
	l.groups = down * across / l.group
	l.line = (w.Size + l.group - 1) * w.Channels
	if w.Channels == 1 { // lines are so short that a group has a copy of all its lines
		l.parts, l.depth = 1, w.Size*l.line
		l.step = l.depth
		return l, true
	}
	l.parts, l.depth, l.step = w.Size, l.line, l.line
	l.next = across / l.group * l.line
	return l, true
}

// size returns the length of the copy, with room for seven more numbers that the kernel may write.
func (l *lineCopy) size() int { return l.groups*l.step + (l.parts-1)*l.next + 7 }

// lift fills the copy from an image with its frame. Seven more numbers after the frame must be
// readable.
func (w *Window) lift(k *kernels, l lineCopy, dst, framed []float32) {
	down, across := w.Grid()
	_, line := w.framed()
	across /= l.group
	if l.parts > 1 {
		k.liftLines(down+w.Size-1, across, l.line, framed, line, l.group*w.Channels, dst)
		return
	}
	for y := range down {
		k.liftLines(across, w.Size, l.line, framed[y*line:], l.group*w.Channels, line,
			dst[y*across*l.step:])
	}
}

// liftLines copies pieces of n numbers to adjacent places of dst. It copies `inner` pieces for each
// of `outer` steps in src.
func (k *kernels) liftLines(outer, inner, n int, src []float32, outerStep, innerStep int,
	dst []float32) {
	if k.lift != nil {
		k.lift(outer, inner, (n+7)/8, &src[0], 4*outerStep, 4*innerStep, &dst[0], 4*n)
		return
	}
	for o := range outer {
		for i := range inner {
			copy(dst[:n], src[o*outerStep+i*innerStep:])
			dst = dst[n:]
		}
	}
}

// grouped returns the weights of a group, a matrix with the results of all its places as columns.
// It uses the buffer if there is more than one place. The rows of op(W) belong to the numbers of a
// window.
func (w *Window) grouped(l lineCopy, transW bool, weights Matrix, maps int, buffer []float32) (
	m Matrix, trans bool) {
	if l.group == 1 {
		return weights, transW
	}
	cols := l.group * maps
	m = HostMatrix(w.Size*l.line, cols, buffer[:w.Size*l.line*cols])
	clear(m.Data)
	rowStep, colStep := weights.Stride, 1
	if transW {
		rowStep, colStep = 1, weights.Stride
	}
	line := w.Size * w.Channels
	for place := range l.group {
		for i := range w.Patch() {
			row := m.Row(i/line*l.line + place*w.Channels + i%line)[place*maps:]
			for k := range maps {
				row[k] = weights.Data[i*rowStep+k*colStep]
			}
		}
	}
	return m, false
}

func doConvolveLines(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	l, _ := w.lineCopy(j.block)
	size, _ := w.framed()
	spare := j.owner.buffer(size + 7 + l.size())
	framed, lines := (*spare)[:size+7], (*spare)[size+7:][:l.size()]
	clear(framed)
	for i := lo; i < hi; i++ {
		w.frame(framed, j.a.Row(i))
		w.lift(j.kernels, l, lines, framed)
		for q := range j.product.block.panels {
			b := j.product.panelOf(g, q)
			c := j.b.Data[i*j.b.Cols+b.n0:]
			for part := range l.parts {
				rows := leftOperand{lines[part*l.next:], l.step, 1}
				rows.column(g, l.groups, l.depth, &b.data[part*l.depth*b.wide], 4*b.wide, c,
					l.group*j.b.Stride, b.vecs, min(part, 1), b.mask)
			}
		}
	}
	j.owner.panels.put(spare)
}

// spreadLines computes Spread as a convolution of src with the window turned by 180 degrees.
func (c *cpu) spreadLines(w Window, transW bool, src, weights, dst Matrix) bool {
	down, across := w.Grid()
	turned := Window{Image: Image{down, across, src.Cols}, Size: w.Size, Stride: 1,
		Pad: w.Size - 1 - w.Pad}
	if w.Stride != 1 || turned.Pad < 0 || w.Channels < thinCols {
		return false
	}
	room, flat := c.flatten(src)
	weightRoom := c.buffer(w.Patch() * src.Cols)
	back := HostMatrix(turned.Patch(), w.Channels, (*weightRoom)[:w.Patch()*src.Cols])
	mapStep, step := weights.Stride, 1
	if transW {
		mapStep, step = 1, weights.Stride
	}
	last := w.Size*w.Size - 1
	for at := range last + 1 {
		for m := range src.Cols {
			row := back.Row(at*src.Cols + m)
			for k := range row {
				row[k] = weights.Data[m*mapStep+((last-at)*w.Channels+k)*step]
			}
		}
	}
	images := Matrix{Rows: dst.Rows, Cols: turned.Len(), Stride: turned.Len(), Data: flat.Data}
	c.convolveImages(turned, false, images, back, w.Channels, dst.Data, dst.Stride, w.Channels)
	c.panels.put(weightRoom)
	if room != nil {
		c.panels.put(room)
	}
	return true
}

// flatten returns m without gaps between rows, as a copy in a buffer if it has gaps.
func (c *cpu) flatten(m Matrix) (room *[]float32, flat Matrix) {
	if m.contiguous() {
		return nil, m
	}
	room = c.buffer(m.Rows * m.Cols)
	flat = HostMatrix(m.Rows, m.Cols, (*room)[:m.Rows*m.Cols])
	for i := range m.Rows {
		copy(flat.Row(i), m.Row(i))
	}
	return room, flat
}

// foldGroups adds the sums of groups to sums, which has a row for each number of a window. In a
// group's sums, the weights of the place at position p are p pixels further right.
func (w *Window) foldGroups(l lineCopy, sums, groups []float32, maps int) {
	cols, line := l.group*maps, w.Size*w.Channels
	for i := range w.Patch() {
		to := sums[i*maps:][:maps]
		for place := range l.group {
			from := groups[(i/line*l.line+place*w.Channels+i%line)*cols+place*maps:][:maps]
			for k, v := range from {
				to[k] += v
			}
		}
	}
}

func doAddConvolvedLines(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	maps := j.b.Cols
	l, _ := w.lineCopy(w.group(maps, sumLanes))
	cols := l.group * maps
	size, _ := w.framed()
	panels := (cols + 2*g.lanes - 1) / (2 * g.lanes)
	ragged := cols%g.lanes != 0
	values := 0
	if ragged {
		values = l.groups * 2 * g.lanes
	}
	spare := j.owner.buffer(size + 7 + l.size() + values)
	framed, lines := (*spare)[:size+7], (*spare)[size+7:][:l.size()]
	packed := (*spare)[size+7+l.size():]
	clear(framed)
	for part := lo; part < hi; part++ {
		sums := j.c.Row(part)
		n := j.a.Rows
		for i := part * n / j.block; i < (part+1)*n/j.block; i++ {
			w.frame(framed, j.a.Row(i))
			w.lift(j.kernels, l, lines, framed)
			m := j.b.Data[i*l.groups*l.group*j.b.Stride:]
			for q := range panels {
				n0 := q * 2 * g.lanes
				n1 := min(n0+2*g.lanes, cols)
				vecs := (n1 - n0 + g.lanes - 1) / g.lanes
				b, bk, mask := &m[n0], 4*l.group*j.b.Stride, (*int32)(nil)
				if n1-n0 != vecs*g.lanes {
					mask = edge(vecs*g.lanes-(n1-n0), g.lanes)
					g.packRows[vecs](l.groups, b, bk, &packed[0], mask)
					b, bk = &packed[0], 4*vecs*g.lanes
				}
				for p := range l.parts {
					rows := leftOperand{lines[p*l.next:], 1, l.step}
					rows.column(g, l.depth, l.groups, b, bk, sums[p*l.depth*cols+n0:], cols, vecs, 1, mask)
				}
			}
		}
	}
	j.owner.panels.put(spare)
}
