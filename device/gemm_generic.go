package device

import (
	"math"
	"unsafe"
)

// genericLanes is the number of float32 numbers in a vector of the kernels that are written in Go
// or for NEON.
const genericLanes = 8

// gemmGeneric returns the portable kernels for products. An element is the same chain of
// multiply-adds as with vector instructions.
func gemmGeneric() gemmKernels {
	g := gemmKernels{rows: 4, lanes: genericLanes, deepNN: 256, deepTN: 256, copyTN: 150,
		packColumns: packColumnsGeneric}
	for vecs := 1; vecs <= 2; vecs++ {
		g.packRows[vecs] = packRowsGeneric(vecs)
		for rows := 1; rows <= g.rows; rows++ {
			g.tile[rows][vecs] = tileGeneric(rows, vecs)
		}
	}
	for cols := 1; cols <= thinCols; cols++ {
		g.thinOne[cols], g.thinMany[cols] = thinGeneric(1, cols), thinGeneric(thinRows[cols], cols)
	}
	return g
}

func at(p *float32, bytes int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), bytes)) }

// kept returns the number of lanes that a mask keeps. These lanes come before all others.
func kept(mask *int32) int {
	if mask == nil {
		return genericLanes
	}
	for i, m := range unsafe.Slice(mask, genericLanes) {
		if m == 0 {
			return i
		}
	}
	return genericLanes
}

// tileGeneric returns a kernel for tiles of the given rows and vectors.
func tileGeneric(rows, vecs int) tileKernel {
	return func(tiles, k int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr, add int,
		mask *int32) {
		cols := genericLanes*(vecs-1) + kept(mask)
		for i := 0; i < tiles*rows; i += 4 {
			p := patch{rows: min(4, tiles*rows-i), k: k, a: at(a, i*ar), ar: ar, ak: ak, bk: bk, bn: 4,
				add: add}
			for n := 0; n < cols; n += 2 {
				p.cols, p.b = min(2, cols-n), at(b, 4*n)
				p.multiply(at(c, i*cr+4*n), cr)
			}
		}
	}
}

// patch is a part of a tile whose sums fit into registers: up to four rows by two columns. Strides
// are in bytes.
type patch struct {
	rows, cols, k       int
	a, b                *float32
	ar, ak, bk, bn, add int
}

// multiply computes a patch of C. The last row and column take the place of missing ones.
func (p *patch) multiply(c *float32, cr int) {
	var sums [8]float64
	origin := uint32(0)
	if p.add > 1 {
		origin = uint32(p.add)
	}
	for i := range sums {
		if from := at(c, min(i/2, p.rows-1)*cr+min(i%2, p.cols-1)*4); p.add == 1 {
			sums[i] = float64(*from)
		} else {
			sums[i] = float64(math.Float32frombits(origin))
		}
	}
	p.along(&sums)
	for r := range p.rows {
		for n := range p.cols {
			to := (*uint32)(unsafe.Pointer(at(c, r*cr+4*n)))
			bits := math.Float32bits(float32(sums[2*r+n]))
			if p.add > 1 {
				bits += *to - origin
			}
			*to = bits
		}
	}
}

// along adds the products to the sums, which are float32 numbers.
func (p *patch) along(sums *[8]float64) {
	last := p.rows - 1
	r0, r1, r2, r3 := p.a, at(p.a, min(1, last)*p.ar), at(p.a, min(2, last)*p.ar), at(p.a, last*p.ar)
	c0, c1, c2, c3, c4, c5, c6, c7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6],
		sums[7]
	ia, ib, bn := 0, 0, p.bn
	for range p.k {
		x, y := float64(*at(p.b, ib)), float64(*at(p.b, ib+bn))
		v := float64(*at(r0, ia))
		s0, s1 := v*x+c0, v*y+c1
		v = float64(*at(r1, ia))
		s2, s3 := v*x+c2, v*y+c3
		v = float64(*at(r2, ia))
		s4, s5 := v*x+c4, v*y+c5
		v = float64(*at(r3, ia))
		s6, s7 := v*x+c6, v*y+c7
		if doubtful(s0) || doubtful(s1) || doubtful(s2) || doubtful(s3) || doubtful(s4) ||
			doubtful(s5) || doubtful(s6) || doubtful(s7) {
			s := [8]float64{c0, c1, c2, c3, c4, c5, c6, c7}
			for i, r := range [4]*float32{r0, r1, r2, r3} {
				v := float64(*at(r, ia))
				s[2*i], s[2*i+1] = toOdd(v*x, s[2*i]), toOdd(v*y, s[2*i+1])
			}
			s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		}
		c0, c1, c2, c3 = float64(float32(s0)), float64(float32(s1)), float64(float32(s2)),
			float64(float32(s3))
		c4, c5, c6, c7 = float64(float32(s4)), float64(float32(s5)), float64(float32(s6)),
			float64(float32(s7))
		ia, ib = ia+p.ak, ib+p.bk
	}
	*sums = [8]float64{c0, c1, c2, c3, c4, c5, c6, c7}
}

// packRowsGeneric returns a function that copies k rows of vecs vectors to adjacent places. Lanes
// that the mask does not keep become zero.
func packRowsGeneric(vecs int) func(k int, src *float32, stride int, dst *float32, mask *int32) {
	width := vecs * genericLanes
	return func(k int, src *float32, stride int, dst *float32, mask *int32) {
		cols := width - genericLanes + kept(mask)
		to := unsafe.Slice(dst, k*width)
		for i := range k {
			row := to[i*width:][:width]
			clear(row[copy(row, unsafe.Slice(at(src, i*stride), cols)):])
		}
	}
}

// packColumnsGeneric transposes eight columns of 8·blocks numbers each.
func packColumnsGeneric(blocks int, src *float32, stride int, dst *float32, width int) {
	wide := width / 4
	to := unsafe.Slice(dst, (8*blocks-1)*wide+8)
	for n := range 8 {
		for k, v := range unsafe.Slice(at(src, n*stride), 8*blocks) {
			to[k*wide+n] = v
		}
	}
}

// thinGeneric returns a thin kernel for tiles of the given rows and columns. The sums of each lane
// are the product of every eighth column of A and every eighth row of B.
func thinGeneric(rows, cols int) thinKernel {
	return func(tiles, k int, a *float32, ar int, b *float32, bk int, c *float32, cr, add int) {
		const step = 4 * genericLanes
		var sums [genericLanes][8]float64
		for i := 0; i < tiles*rows; i += 4 {
			for n := 0; n < cols; n += 2 {
				p := patch{rows: min(4, tiles*rows-i), cols: min(2, cols-n), ar: ar, ak: step, bk: step}
				p.bn = (p.cols - 1) * bk
				sums = [genericLanes][8]float64{}
				for lane := range min(genericLanes, k) {
					p.k, p.a, p.b = (k-lane+7)/8, at(a, i*ar+4*lane), at(b, n*bk+4*lane)
					p.along(&sums[lane])
				}
				p.storeLanes(&sums, k%genericLanes, at(c, i*cr+4*n), cr, add)
			}
		}
	}
}

// storeLanes adds up the lanes of each sum. At the end, vector kernels multiply zeros in the lanes
// from rest on, which turns −0 into 0.
func (p *patch) storeLanes(sums *[genericLanes][8]float64, rest int, c *float32, cr, add int) {
	for r := range p.rows {
		for n := range p.cols {
			var x [genericLanes]float32
			for lane := range x {
				x[lane] = float32(sums[lane][2*r+n])
				if rest > 0 && lane >= rest {
					x[lane] += 0
				}
			}
			to, v := at(c, r*cr+4*n), acrossLanes(&x)
			if add != 0 {
				v += *to
			}
			*to = v
		}
	}
}

// acrossLanes adds up lanes in the same order as the kernels for amd64: first lanes that are four
// apart, then sums that are two apart, then the last two sums.
func acrossLanes(x *[genericLanes]float32) float32 {
	return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}
