package device

// Im2Col copies patches. One worker copies all patches of an image.
func (c *cpu) Im2Col(w Window, dst, src Matrix) {
	c.slide("Im2Col", doIm2Col, w, dst, src)
}

// Col2Im adds up patches.
func (c *cpu) Col2Im(w Window, dst, src Matrix) {
	c.slide("Col2Im", doCol2Im, w, src, dst)
}

func (c *cpu) slide(what string, do func(j *job, lo, hi int), w Window, patches, images Matrix) {
	w.check(what)
	images.checkShape(what, images.Rows, w.Len())
	patches.checkShape(what, images.Rows*w.Places(), w.Patch())
	if images.Empty() && patches.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.window = patches, images, w
	c.rows(j, do, images.Rows, 2*(w.Places()*w.Patch()+w.Len()))
	c.done(j)
}

func doIm2Col(j *job, lo, hi int) {
	w := j.window
	down, across := w.Grid()
	first := (w.Pad + w.Stride - 1) / w.Stride // place of a line whose patch is not left of the image
	for i := lo; i < hi; i++ {
		image, to := j.b.Row(i), i*down*across
		for y := range down {
			top := y*w.Stride - w.Pad
			for x := 0; x < across; x++ {
				left, n := x*w.Stride-w.Pad, 0
				if x == first {
					n = w.inner(j, len(image), top, left)
				}
				if n > 0 {
					line, at := w.Size*w.Channels, (top*w.Width+left)*w.Channels
					j.kernels.lift(n, w.Size, (line+7)/8, &image[at], 4*w.Stride*w.Channels,
						4*w.Width*w.Channels, &j.a.Row(to)[0], 4*line)
					x, to = x+n, to+n
				}
				w.take(j.a.Data[to*j.a.Stride:][:j.a.Cols], image, top, x*w.Stride-w.Pad)
				to++
			}
		}
	}
}

// inner returns how many places of a line, from (top, left) on, the kernel lift may copy: those
// inside an image of the given number of values, but for the last, behind whose patch it would
// write.
func (w *Window) inner(j *job, values, top, left int) int {
	if j.kernels.lift == nil || j.a.Stride != w.Patch() || top < 0 || top+w.Size > w.Height {
		return 0
	}
	read := (w.Size*w.Channels + 7) &^ 7 // from a line of a patch on
	rest := values - ((top+w.Size-1)*w.Width+left)*w.Channels - read
	if rest < 0 {
		return 0
	}
	return min((w.Width-w.Size-left)/w.Stride, 1+rest/(w.Stride*w.Channels))
}

// take copies the patch whose top left corner is at (y, x).
func (w *Window) take(patch, image []float32, y, x int) {
	line, step := w.Size*w.Channels, w.Width*w.Channels
	left, width := clip(x, w.Size, w.Width)
	top, height := clip(y, w.Size, w.Height)
	if width*height < w.Size*w.Size {
		clear(patch)
	}
	left, width = left*w.Channels, width*w.Channels
	for row := top; row < top+height && width > 0; row++ {
		at := (y+row)*step + x*w.Channels + left
		move(patch[row*line+left:], image[at:at+width])
	}
}

// move does the same as copy. It is faster for few numbers, such as a line of a window.
func move(dst, src []float32) {
	if len(src) > 8 {
		copy(dst, src)
		return
	}
	dst = dst[:len(src)]
	//lint:ignore S1001 calling copy costs more than copying these few numbers
	for i, v := range src {
		dst[i] = v
	}
}

func doCol2Im(j *job, lo, hi int) {
	w := j.window
	down, across := w.Grid()
	for i := lo; i < hi; i++ {
		image, from := j.b.Row(i), i*down*across
		clear(image)
		for y := range down {
			for x := range across {
				w.give(j.kernels, j.a.Row(from), image, y*w.Stride-w.Pad, x*w.Stride-w.Pad)
				from++
			}
		}
	}
}

// give adds the patch whose top left corner is at (y, x) to the image.
func (w *Window) give(k *kernels, patch, image []float32, y, x int) {
	line := w.Size * w.Channels
	left, width := clip(x, w.Size, w.Width)
	top, height := clip(y, w.Size, w.Height)
	left, width = left*w.Channels, width*w.Channels
	for row := top; row < top+height && width > 0; row++ {
		at := ((y+row)*w.Width+x)*w.Channels + left
		addTo(k, image[at:at+width], patch[row*line+left:][:width])
	}
}

// addTo adds src to dst, without calling a kernel for few numbers.
func addTo(k *kernels, dst, src []float32) {
	if len(src) > 16 {
		k.axpy(1, src, dst)
		return
	}
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] += v
	}
}

// UpSample doubles the height and width of images.
func (c *cpu) UpSample(m Image, dst, src Matrix) {
	c.scaleImages("UpSample", doBilinear, m, dst, src)
}

// UpSampleGradient is the transpose of UpSample.
func (c *cpu) UpSampleGradient(m Image, dst, src Matrix) {
	c.scaleImages("UpSampleGradient", doBilinearGradient, m, src, dst)
}

func (c *cpu) scaleImages(what string, do func(j *job, lo, hi int), m Image, large,
	small Matrix) {
	m.check(what)
	small.checkShape(what, small.Rows, m.Len())
	large.checkShape(what, small.Rows, 4*m.Len())
	if small.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.window.Image = large, small, m
	c.rows(j, do, small.Rows, 16*m.Len())
	c.done(j)
}

// near and far are the weights, in each direction, of the pixel that contains a point and of the
// nearest other pixel.
const near, far = 0.75, 0.25

// farther returns the second nearest of n pixels to pixel p of the doubled image; the nearest pixel
// is p/2. Pixels at the edges are repeated.
func farther(p, n int) int {
	if p&1 == 0 {
		return max(p/2-1, 0)
	}
	return min(p/2+1, n-1)
}

func doBilinear(j *job, lo, hi int) {
	m := j.window.Image
	if j.kernels.between != nil && m.Channels%8 == 0 {
		doBilinearVectors(j, lo, hi)
		return
	}
	c, line := m.Channels, m.Width*m.Channels
	spare := j.owner.buffer(line)
	mixed := (*spare)[:line]
	for i := lo; i < hi; i++ {
		large, small := j.a.Row(i), j.b.Row(i)
		for y := range 2 * m.Height {
			mix(mixed, small[y/2*line:][:line], small[farther(y, m.Height)*line:][:line])
			to := large[2*y*line:][:2*line]
			for x := range m.Width {
				before, after := farther(2*x, m.Width), farther(2*x+1, m.Width)
				mixPair(to[2*x*c:][:2*c], mixed[x*c:][:c], mixed[before*c:][:c], mixed[after*c:][:c])
			}
		}
	}
	j.owner.panels.put(spare)
}

// mix sets dst to ¾·a + ¼·b.
func mix(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = float32(near*a[i]) + float32(far*b[i])
	}
}

// mixPair sets the first half of dst to ¾·a + ¼·b and the second half to ¾·a + ¼·c.
func mixPair(dst, a, b, c []float32) {
	b, c = b[:len(a)], c[:len(a)]
	first, second := dst[:len(a)], dst[len(a):][:len(a)]
	for i, v := range a {
		v = float32(near * v)
		first[i] = v + float32(far*b[i])
		second[i] = v + float32(far*c[i])
	}
}

func doBilinearGradient(j *job, lo, hi int) {
	m := j.window.Image
	if j.kernels.apart != nil && m.Channels%8 == 0 {
		doBilinearGradientVectors(j, lo, hi)
		return
	}
	c, line := m.Channels, m.Width*m.Channels
	spare := j.owner.buffer(line)
	mixed := (*spare)[:line]
	for i := lo; i < hi; i++ {
		large, small := j.a.Row(i), j.b.Row(i)
		clear(small)
		for y := range 2 * m.Height {
			clear(mixed)
			from := large[2*y*line:][:2*line]
			for x := range 2 * m.Width {
				unmix(from[x*c:][:c], mixed[x/2*c:][:c], mixed[farther(x, m.Width)*c:][:c])
			}
			unmix(mixed, small[y/2*line:][:line], small[farther(y, m.Height)*line:][:line])
		}
	}
	j.owner.panels.put(spare)
}

// unmix adds ¾·src to a and ¼·src to b, which may be the same slice as a.
func unmix(src, a, b []float32) {
	a, b = a[:len(src)], b[:len(src)]
	for i, v := range src {
		a[i] += float32(near * v)
		b[i] += float32(far * v)
	}
}
