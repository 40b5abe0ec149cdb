package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// unitsOf lists the units of a graph.
func unitsOf(g *graph) (list []unit) {
	for _, n := range g.nodes {
		if n.unit != nil {
			list = append(list, n.unit)
		}
	}
	return list
}

// chain64 runs a batch through units in float64, pixel by pixel, from the definitions.
func chain64(units []unit, p []float64, batch [][]float64) [][]float64 {
	for _, u := range units {
		switch u := u.(type) {
		case *denseUnit:
			w, b := p[:u.width*u.wide], p[u.width*u.wide:(u.width+1)*u.wide]
			p = p[len(w)+len(b):]
			batch = each64(batch, func(x []float64) []float64 { return dense64(u, w, b, x) })
		case *convUnit:
			w, b := p[:u.window.Patch()*u.maps], p[u.window.Patch()*u.maps:(u.window.Patch()+1)*u.maps]
			p = p[len(w)+len(b):]
			batch = each64(batch, func(x []float64) []float64 { return conv64(u, w, b, x) })
		case *transposedUnit:
			size := u.window.Patch() * u.maps
			w, b := p[:size], p[size:size+u.window.Channels]
			p = p[len(w)+len(b):]
			batch = each64(batch, func(x []float64) []float64 { return transposed64(u, w, b, x) })
		case *upSampleUnit:
			batch = each64(batch, func(x []float64) []float64 { return upSample64(u, x) })
		case *batchNorm:
			batch = batchNorm64(u, p[:u.channels], p[u.channels:2*u.channels], batch)
			p = p[2*u.channels:]
		}
	}
	return batch
}

func each64(batch [][]float64, f func(x []float64) []float64) [][]float64 {
	out := make([][]float64, len(batch))
	for i, x := range batch {
		out[i] = f(x)
	}
	return out
}

func apply64(f device.Func, x float64) float64 {
	switch f {
	case device.ReLU:
		return max(x, 0)
	case device.LeakyReLU:
		if x < 0 {
			return device.LeakySlope * x
		}
	case device.Tanh:
		return math.Tanh(x)
	case device.Sigmoid:
		return 1 / (1 + math.Exp(-x))
	case device.Softplus:
		return math.Log1p(math.Exp(x))
	}
	return x
}

func dense64(u *denseUnit, w, b, x []float64) []float64 {
	y := make([]float64, u.wide)
	for j := range y {
		sum := b[j]
		for k, v := range x {
			sum += v * w[k*u.wide+j]
		}
		y[j] = apply64(u.f, sum)
	}
	return y
}

// visit calls f for every number of every patch that lies in the image; at is the number's index in
// the image.
func visit(w device.Window, f func(place, patch, at int)) {
	_, across := w.Grid()
	for place := range w.Places() {
		for k := range w.Patch() {
			y := place/across*w.Stride - w.Pad + k/(w.Size*w.Channels)
			x := place%across*w.Stride - w.Pad + k/w.Channels%w.Size
			if y >= 0 && y < w.Height && x >= 0 && x < w.Width {
				f(place, k, (y*w.Width+x)*w.Channels+k%w.Channels)
			}
		}
	}
}

func conv64(u *convUnit, w, b, x []float64) []float64 {
	y := make([]float64, u.out())
	visit(u.window, func(place, k, at int) {
		for m := range u.maps {
			y[place*u.maps+m] += x[at] * w[k*u.maps+m]
		}
	})
	for i := range y {
		y[i] = apply64(u.f, y[i]+b[i%u.maps])
	}
	return y
}

func transposed64(u *transposedUnit, w, b, x []float64) []float64 {
	y := make([]float64, u.out())
	visit(u.window, func(place, k, at int) {
		for m := range u.maps {
			y[at] += x[place*u.maps+m] * w[m*u.window.Patch()+k]
		}
	})
	for i := range y {
		y[i] = apply64(u.f, y[i]+b[i%u.window.Channels])
	}
	return y
}

func upSample64(u *upSampleUnit, x []float64) []float64 {
	m, y := u.image, make([]float64, u.out())
	pixel := func(r, c, k int) float64 {
		return x[(min(max(r, 0), m.Height-1)*m.Width+min(max(c, 0), m.Width-1))*m.Channels+k]
	}
	for i := range y {
		k, c, r := i%m.Channels, i/m.Channels%(2*m.Width), i/m.Channels/(2*m.Width)
		r2, c2 := r/2+2*(r%2)-1, c/2+2*(c%2)-1
		y[i] = .75*(.75*pixel(r/2, c/2, k)+.25*pixel(r/2, c2, k)) +
			.25*(.75*pixel(r2, c/2, k)+.25*pixel(r2, c2, k))
	}
	return y
}

func batchNorm64(u *batchNorm, gain, shift []float64, batch [][]float64) [][]float64 {
	n := float64(len(batch) * u.places)
	mean, spread := make([]float64, u.channels), make([]float64, u.channels)
	for _, x := range batch {
		for i, v := range x {
			mean[i%u.channels] += v / n
		}
	}
	for _, x := range batch {
		for i, v := range x {
			spread[i%u.channels] += (v - mean[i%u.channels]) * (v - mean[i%u.channels]) / n
		}
	}
	return each64(batch, func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			k := i % u.channels
			y[i] = apply64(u.f,
				gain[k]*(v-mean[k])/math.Sqrt(spread[k]+float64(float32(batchNormEps)))+shift[k])
		}
		return y
	})
}

// wide64 converts a row to float64.
func wide64(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// greyBatch returns a batch of images with random grey values and labels.
func greyBatch(rng *rand.Rand, rows, dim, classes int) device.Batch {
	b := binaryBatch(rng, rows, dim, 0)
	for i := range b.Dense.Data {
		b.Dense.Data[i] = float32(rng.Float64())
	}
	for range rows {
		b.Labels = append(b.Labels, int32(rng.IntN(classes)))
	}
	return b
}
