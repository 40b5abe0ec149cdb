package devicetest

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func (x *bench) image() device.Image {
	return device.Image{Height: x.r.IntN(9), Width: x.r.IntN(9), Channels: 1 + x.r.IntN(5)*x.r.IntN(5)}
}

func testWindows(t *testing.T, b device.Backend) {
	x := newBench(t, b, 12)
	for range 150 {
		w := device.Window{Image: x.image(), Size: 1 + x.r.IntN(5), Stride: 1 + x.r.IntN(3),
			Pad: x.r.IntN(4)}
		x.window(w, x.size(12))
	}
	x.window(device.Window{Image: device.Image{Height: 28, Width: 28, Channels: 1}, Size: 5, Stride: 2,
		Pad: 2}, 70)
	x.window(device.Window{Image: device.Image{Height: 14, Width: 15, Channels: 32}, Size: 3,
		Stride: 1, Pad: 1}, 9)
}

// window checks Im2Col and Col2Im against their definitions, pixel by pixel.
func (x *bench) window(w device.Window, images int) {
	x.t.Helper()
	places := w.Places()
	src, dst := x.matrix(images, w.Len()), x.matrix(images*places, w.Patch())
	x.b.Im2Col(w, dst.m, src.m)
	dst.want(x, "Im2Col", func(i, j int) (float64, float64) {
		if at, inside := pixel(w, i%places, j); inside {
			return src.at(i/places, at), 0
		}
		return 0, 0
	})
	src.unchanged(x, "Im2Col")

	patches, back := x.matrix(images*places, w.Patch()), x.matrix(images, w.Len())
	sums, sizes := make([]float64, images*w.Len()), make([]float64, images*w.Len())
	for i := range images * places {
		for j := range w.Patch() {
			if at, inside := pixel(w, i%places, j); inside {
				sums[i/places*w.Len()+at] += patches.at(i, j)
				sizes[i/places*w.Len()+at] += abs(patches.at(i, j))
			}
		}
	}
	x.b.Col2Im(w, back.m, patches.m)
	back.want(x, "Col2Im", func(i, j int) (float64, float64) {
		return sums[i*w.Len()+j], rounding(w.Size*w.Size, sizes[i*w.Len()+j])
	})
	patches.unchanged(x, "Col2Im")
}

// pixel returns the position in the image of number j of the patch at a place, and reports whether
// the position is inside the image.
func pixel(w device.Window, place, j int) (at int, inside bool) {
	_, across := w.Grid()
	y := place/across*w.Stride - w.Pad + j/(w.Size*w.Channels)
	x := place%across*w.Stride - w.Pad + j/w.Channels%w.Size
	inside = y >= 0 && y < w.Height && x >= 0 && x < w.Width
	return (y*w.Width+x)*w.Channels + j%w.Channels, inside
}

func testUpSampling(t *testing.T, b device.Backend) {
	x := newBench(t, b, 13)
	for range 100 {
		m, images := x.image(), x.size(9)
		x.upSample(m, images)
	}
}

// upSample compares UpSample and UpSampleGradient with their definitions: a matrix of weights and
// its transpose.
func (x *bench) upSample(m device.Image, images int) {
	x.t.Helper()
	large := m.Doubled()
	small, big := x.matrix(images, m.Len()), x.matrix(images, large.Len())
	back, delta := x.matrix(images, m.Len()), x.matrix(images, large.Len())
	value, backward := make([]float64, images*large.Len()), make([]float64, images*m.Len())
	size := make([]float64, images*m.Len())
	for to := range large.Len() {
		for from := range m.Len() {
			weight := spread(m, to, from)
			if weight == 0 {
				continue
			}
			for i := range images {
				value[i*large.Len()+to] += weight * small.at(i, from)
				backward[i*m.Len()+from] += weight * delta.at(i, to)
				size[i*m.Len()+from] += weight * abs(delta.at(i, to))
			}
		}
	}
	x.b.UpSample(m, big.m, small.m)
	big.want(x, "UpSample", func(i, j int) (float64, float64) {
		return value[i*large.Len()+j], rounding(4, 10)
	})
	small.unchanged(x, "UpSample")
	x.b.UpSampleGradient(m, back.m, delta.m)
	back.want(x, "UpSampleGradient", func(i, j int) (float64, float64) {
		return backward[i*m.Len()+j], rounding(16, size[i*m.Len()+j])
	})
	delta.unchanged(x, "UpSampleGradient")
}

// spread returns the weight of number from of an image in number to of the doubled image.
func spread(m device.Image, to, from int) float64 {
	c := m.Channels
	if to%c != from%c {
		return 0
	}
	to, from = to/c, from/c
	return line(to/(2*m.Width), from/m.Width, m.Height) *
		line(to%(2*m.Width), from%m.Width, m.Width)
}

// line returns the weight in one direction. Pixel p of the original image has its centre at
// position p, and pixel `to` of the doubled image has its centre at position to/2 − ¼.
func line(to, from, n int) float64 {
	at, weight := float64(to)/2-0.25, 0.0
	for p := -1; p <= n; p++ {
		if min(max(p, 0), n-1) == from { // positions beyond an edge have the value of the edge pixel
			weight += max(1-abs(at-float64(p)), 0)
		}
	}
	return weight
}

func testNormalize(t *testing.T, b device.Backend) {
	x := newBench(t, b, 14)
	for range 60 {
		x.normalize(x.size(60), x.size(90))
	}
	x.normalize(3000, 7)
}

func (x *bench) normalize(rows, cols int) {
	x.t.Helper()
	const eps = 1e-3
	src := x.filled(rows, cols, func() float64 { return 2 + 3*x.r.NormFloat64() })
	stats, gain, shift := x.matrix(2, cols), x.matrix(1, cols), x.matrix(1, cols)
	mean, scale := make([]float64, cols), make([]float64, cols)
	for j := range cols {
		mean[j], scale[j] = moments(src, j, eps)
	}
	x.b.Moments(stats.m, src.m, eps)
	stats.want(x, "Moments", func(i, j int) (float64, float64) {
		if i == 0 {
			return mean[j], rounding(0, abs(mean[j]))
		}
		return scale[j], rounding(0, scale[j])
	})
	src.unchanged(x, "Moments")
	hat := func(i, j int) float64 { return (src.at(i, j) - mean[j]) * scale[j] }
	// The relative error of the rounded mean is 2⁻²⁴. The error of x̂ that it causes is the error of
	// the mean times the scale.
	hatError := func(i, j int) float64 {
		return 8 * unit * (abs(hat(i, j)) + (abs(mean[j])+abs(src.at(i, j)))*scale[j])
	}
	dst := x.matrix(rows, cols)
	value := func(i, j int) (float64, float64) {
		v := gain.at(0, j)*hat(i, j) + shift.at(0, j)
		return v, abs(gain.at(0, j))*hatError(i, j) + rounding(0, abs(v)+abs(shift.at(0, j)))
	}
	x.b.Normalize(dst.m, src.m, stats.m, gain.m, shift.m)
	dst.want(x, "Normalize", value)
	x.normalizeGradient(src, stats, gain, scale, hat, hatError)
	x.b.Normalize(src.m, src.m, stats.m, gain.m, shift.m)
	src.want(x, "Normalize in place", value)
}

func moments(m *view, j int, eps float64) (mean, scale float64) {
	n, spread := float64(max(m.rows, 1)), 0.0
	for i := range m.rows {
		mean += m.at(i, j) / n
	}
	for i := range m.rows {
		spread += (m.at(i, j) - mean) * (m.at(i, j) - mean) / n
	}
	return mean, 1 / sqrt(spread+float64(float32(eps)))
}

func (x *bench) normalizeGradient(src, stats, gain *view, scale []float64, hat,
	hatError func(i, j int) float64) {
	x.t.Helper()
	rows, cols := src.rows, src.cols
	delta, dGain, dShift := x.matrix(rows, cols), x.matrix(1, cols), x.matrix(1, cols)
	x.b.NormalizeGradient(delta.m, src.m, stats.m, gain.m, dGain.m, dShift.m)
	along, total, size, off := make([]float64, cols), make([]float64, cols), make([]float64, cols),
		make([]float64, cols)
	for i := range rows {
		for j := range cols {
			d := delta.at(i, j)
			along[j] += d * hat(i, j)
			total[j] += d
			size[j] += abs(d)
			off[j] += abs(d) * (hatError(i, j) + unit*abs(hat(i, j)))
		}
	}
	dGain.want(x, "NormalizeGradient: gain", func(_, j int) (float64, float64) {
		return along[j], off[j] + rounding(0, abs(along[j]))
	})
	dShift.want(x, "NormalizeGradient: shift", func(_, j int) (float64, float64) {
		return total[j], rounding(0, size[j])
	})
	n := float64(max(rows, 1))
	delta.want(x, "NormalizeGradient", func(i, j int) (float64, float64) {
		inner := delta.at(i, j) - total[j]/n - hat(i, j)*along[j]/n
		terms := abs(delta.at(i, j)) + abs(total[j])/n + abs(hat(i, j)*along[j])/n
		bound := rounding(4, terms) + (hatError(i, j)*abs(along[j])+abs(hat(i, j))*off[j])/n
		return gain.at(0, j) * scale[j] * inner, abs(gain.at(0, j)) * scale[j] * bound
	})
	src.unchanged(x, "NormalizeGradient")
}

func testBlocks(t *testing.T, b device.Backend) {
	x := newBench(t, b, 15)
	for range 120 {
		x.blocks(x.size(12), x.size(30), x.size(40), x.size(40))
	}
	x.blocks(40, 196, 25, 16)
	x.blocks(3, 16, 576, 100)
	x.blocks(30, 1, 70, 9)
}

func (x *bench) blocks(blocks, block, in, out int) {
	x.t.Helper()
	a, d := x.matrix(blocks*block, in), x.matrix(blocks*block, out)
	if x.r.IntN(3) == 0 && blocks > 0 && block > 0 && in > 0 && out > 0 { // rows that cancel
		for j := range in {
			a.host[j] = a.host[(block-1)*in+j]
		}
		for j := range out {
			d.host[j] = -d.host[(block-1)*out+j]
		}
		a, d = x.of(blocks*block, in, a.host), x.of(blocks*block, out, d.host)
	}
	norms := x.poisoned(blocks)
	x.b.BlockProductNorms(norms, block, a.m, d.m)
	for i := range norms {
		want, size := productNorm(a, d, i, block)
		e := 2 * unit * float64(max(block, in, out)+10)
		if norms[i] < want*(1-1e-12) || norms[i] > want+4*e*size*size {
			x.t.Fatalf("BlockProductNorms: got %v, want %v or at most %v more (%d rows, %d×%d)", norms[i], want,
				4*e*size*size, block, in, out)
		}
	}
	a.unchanged(x, "BlockProductNorms")
	d.unchanged(x, "BlockProductNorms")
}

// productNorm returns ‖AᵢᵀDᵢ‖², and Σ‖a‖‖d‖ over the rows of the block.
func productNorm(a, d *view, i, block int) (square, size float64) {
	for k := range a.cols {
		for l := range d.cols {
			g := 0.0
			for r := i * block; r < (i+1)*block; r++ {
				g += a.at(r, k) * d.at(r, l)
			}
			square += g * g
		}
	}
	for r := i * block; r < (i+1)*block; r++ {
		size += sqrt(a.rowSquare(r) * d.rowSquare(r))
	}
	return square, size
}

// testBlockNaN checks the norms of blocks if one number is not finite. The norm of its block must
// be infinite or NaN, and the other norms must be finite.
func testBlockNaN(t *testing.T, b device.Backend) {
	x := newBench(t, b, 16)
	for _, s := range [][3]int{{4, 100, 100}, {50, 5, 5}} { // one shape for each algorithm
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			a, d := x.matrix(3*s[0], s[1]), x.matrix(3*s[0], s[2])
			a.host[s[0]*s[1]+3] = bad
			a = x.of(3*s[0], s[1], a.host)
			norms := x.poisoned(3)
			b.BlockProductNorms(norms, s[0], a.m, d.m)
			if !(norms[0] <= math.MaxFloat64 && norms[2] <= math.MaxFloat64) || norms[1] <= math.MaxFloat64 {
				t.Fatalf("norms %v: only the second block holds %v", norms, bad)
			}
		}
	}
}
