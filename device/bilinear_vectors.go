package device

// This file implements bilinear interpolation with vector instructions, for images whose number of
// channels is a multiple of eight. The results have the same bits as the results of doBilinear and
// doBilinearGradient.

func doBilinearVectors(j *job, lo, hi int) {
	m := j.window.Image
	c, line := m.Channels, m.Width*m.Channels
	spare := j.owner.buffer(line)
	mixed := (*spare)[:line]
	for i := lo; i < hi; i++ {
		large, small := j.a.Row(i), j.b.Row(i)
		for y := range 2 * m.Height {
			j.kernels.between(line/8, &small[y/2*line], &small[farther(y, m.Height)*line], 32, &mixed[0],
				32)
			widen(j.kernels, large[2*y*line:][:2*line], mixed, c, m.Width)
		}
	}
	j.owner.panels.put(spare)
}

// widen interpolates a line of pixels to twice its length.
func widen(k *kernels, to, line []float32, c, width int) {
	last := (width - 1) * c
	for v := 0; v < c; v += 8 {
		k.between(1, &line[v], &line[v], 0, &to[v], 0)
		k.between(1, &line[last+v], &line[last+v], 0, &to[2*last+c+v], 0)
		if width > 1 {
			k.between(width-1, &line[c+v], &line[v], 4*c, &to[2*c+v], 8*c)
			k.between(width-1, &line[v], &line[c+v], 4*c, &to[c+v], 8*c)
		}
	}
}

func doBilinearGradientVectors(j *job, lo, hi int) {
	m := j.window.Image
	c, line := m.Channels, m.Width*m.Channels
	spare := j.owner.buffer(2 * m.Height * line)
	mixed := (*spare)[:2*m.Height*line]
	for i := lo; i < hi; i++ {
		large, small := j.a.Row(i), j.b.Row(i)
		for y := range 2 * m.Height {
			narrowLine(j.kernels, mixed[y*line:][:line], large[2*y*line:][:2*line], c, m.Width)
		}
		for y := range m.Height {
			above, below := max(2*y-1, 0)*line, min(2*y+2, 2*m.Height-1)*line
			j.kernels.apart(line/8, &mixed[above], &mixed[2*y*line], &mixed[(2*y+1)*line], &mixed[below],
				32, &small[y*line], 32)
		}
	}
	j.owner.panels.put(spare)
}

// narrowLine is the transpose of widen.
func narrowLine(k *kernels, to, line []float32, c, width int) {
	for v := 0; v < c; v += 8 {
		for _, x := range [2]int{0, width - 1} {
			before, after := max(2*x-1, 0)*c, min(2*x+2, 2*width-1)*c
			k.apart(1, &line[before+v], &line[2*x*c+v], &line[(2*x+1)*c+v], &line[after+v], 0, &to[x*c+v], 0)
		}
		if width > 2 {
			k.apart(width-2, &line[c+v], &line[2*c+v], &line[3*c+v], &line[4*c+v], 8*c, &to[c+v], 4*c)
		}
	}
}
