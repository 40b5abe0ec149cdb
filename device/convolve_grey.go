package device

// spreadGrey computes Spread for images of one channel and windows of stride 1. The vectors of its
// products run along a line of pixels. The product of a line of places has one row for each line of
// the window. Each row is added to the line of pixels that it belongs to.
func (c *cpu) spreadGrey(j *job, transW bool, work int) {
	w, maps := &j.window, j.a.Cols
	room := c.buffer(w.Patch() * maps)
	line := w.Size * maps
	turned := HostMatrix(w.Size, line, (*room)[:w.Size*line])
	mapStep, step := j.c.Stride, 1
	if transW {
		mapStep, step = 1, j.c.Stride
	}
	for dy := range w.Size {
		row := turned.Row(dy)
		for dx := range w.Size {
			for m := range maps {
				row[(w.Size-1-dx)*maps+m] = j.c.Data[m*mapStep+(dy*w.Size+dx)*step]
			}
		}
	}
	j.c = turned
	c.images(j, doSpreadGrey, j.b.Rows, work)
	c.panels.put(room)
}

func doSpreadGrey(j *job, lo, hi int) {
	w, g := &j.window, &j.kernels.gemm
	down, across := w.Grid()
	maps, size, width := j.a.Cols, w.Size, 2*g.lanes
	// A plane is a line of places of one map, with margins. The first number that a pixel needs is at
	// position shift of the plane.
	left := max(size-1-w.Pad, 0)
	shift := left + w.Pad - size + 1
	plane := left + max(across, shift-left+w.Width+size-1)
	panels := (w.Width + width - 1) / width
	line := panels * width
	spare := j.owner.buffer(maps*plane + size*maps*width + (down+size-1)*line)
	planes, lowered := (*spare)[:maps*plane], (*spare)[maps*plane:][:size*maps*width]
	sums := (*spare)[maps*plane+size*maps*width:][:(down+size-1)*line]
	weights := leftOperand{j.c.Data, j.c.Stride, 1}
	clear(planes)
	for i := lo; i < hi; i++ {
		clear(sums)
		for y := range down {
			turn(g, j.a.Data[(i*down+y)*across*j.a.Stride:], j.a.Stride, across, maps, planes[left:], plane)
			for q := range panels {
				n0 := q * width
				n1 := min(n0+width, w.Width)
				vecs := (n1 - n0 + g.lanes - 1) / g.lanes
				wide := vecs * g.lanes
				var mask *int32
				if n1-n0 != wide {
					mask = edge(wide-(n1-n0), g.lanes)
				}
				for dx := range size {
					g.packRows[vecs](maps, &planes[shift+n0+dx], 4*plane, &lowered[dx*maps*wide], mask)
				}
				weights.column(g, size, size*maps, &lowered[0], 4*wide, sums[y*line+n0:], line, vecs, 1, nil)
			}
		}
		image := j.b.Row(i)
		for y := range w.Height {
			copy(image[y*w.Width:][:w.Width], sums[(y+w.Pad)*line:])
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
