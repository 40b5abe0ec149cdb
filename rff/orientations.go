package rff

import "math"

// drawing is one worker's scratch memory for images of one size. Records with values that are not
// finite give rows of zeros.
type drawing struct {
	Strokes
	height, width, channels int
	bell                    []float64 // weights of the smoothing
	grey, upright, smooth   []float64
}

func newDrawing(m *strokeMap) *drawing {
	n := m.height * m.width
	d := &drawing{Strokes: m.config, height: m.height, width: m.width, channels: m.in / n,
		bell: bell(m.config.Blur), grey: make([]float64, n), upright: make([]float64, n),
		smooth: make([]float64, n)}
	var total float64
	for _, v := range d.bell {
		total += v
	}
	for i := range d.bell {
		d.bell[i] /= total
	}
	return d
}

// features writes the histograms of one image to out, scaled to norm 1.
func (d *drawing) features(x, out []float32) {
	for i := range d.grey {
		var v float64
		for c := range d.channels {
			v += float64(x[i*d.channels+c])
		}
		d.grey[i] = v / float64(d.channels)
	}
	image := d.grey
	if d.Upright {
		d.straighten()
		image = d.upright
	}
	smooth(d.bell, d.smooth, image, 1, d.width)
	smooth(d.bell, image, d.smooth, d.width, d.height)
	clear(out)
	for y := 1; y < d.height-1; y++ {
		for x := 1; x < d.width-1; x++ {
			at := y*d.width + x
			d.count(out, x, y, image[at+1]-image[at-1], image[at+d.width]-image[at-d.width])
		}
	}
	toUnit(out)
}

// count divides one gradient's length among the two nearest orientations and the four nearest
// cells, and adds the shares to the histograms.
func (d *drawing) count(out []float32, x, y int, gx, gy float64) {
	m := math.Sqrt(gx*gx + gy*gy)
	if !(m > 1e-9 && m < 1e9) {
		return
	}
	turn := math.Atan2(gy, gx) / math.Pi // from -1 to 1
	if turn < 0 {
		turn++
	}
	first, part := split(turn * float64(d.Orientations))
	first %= d.Orientations
	second := (first + 1) % d.Orientations
	row, down := split((float64(y)+0.5)/float64(d.height)*float64(d.Cells) - 0.5)
	column, right := split((float64(x)+0.5)/float64(d.width)*float64(d.Cells) - 0.5)
	for i := range 4 {
		r, c := row+i/2, column+i%2
		if r < 0 || c < 0 || r >= d.Cells || c >= d.Cells {
			continue
		}
		w := m * share(i/2, down) * share(i%2, right)
		cell := out[(r*d.Cells+c)*d.Orientations:]
		cell[first] += float32(w * (1 - part))
		cell[second] += float32(w * part)
	}
}

// split returns the integer part and the fraction of a number.
func split(v float64) (int, float64) {
	whole := math.Floor(v)
	return int(whole), v - whole
}

// share returns the weight of neighbour 0 or 1 for a position that is part of the way from
// neighbour 0 to neighbour 1.
func share(neighbour int, part float64) float64 {
	if neighbour == 0 {
		return 1 - part
	}
	return part
}

// toUnit scales a row to a norm just below 1. Each product has a relative error of at most 2⁻²⁴,
// for which guard allows. A row that is zero or not finite becomes zero.
func toUnit(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square > 0 && square < math.MaxFloat64) {
		clear(v)
		return
	}
	f := (1 - guard) / math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}
