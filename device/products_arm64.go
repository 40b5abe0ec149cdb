//go:build !purego

package device

import "unsafe"

// tileOf is the form of a kernel's tile.
type tileOf struct{ rows, vecs int }

// kernel computes full tiles in place and other tiles in a copy, so that memory outside C is not
// accessed.
func (t tileOf) kernel(tiles, k int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr,
	add int, mask *int32) {
	if mask == nil {
		t.whole(tiles, k, a, ar, ak, b, bk, c, cr, add)
		return
	}
	cols, width := genericLanes*(t.vecs-1)+kept(mask), genericLanes*t.vecs
	var tile [6 * 2 * genericLanes]float32
	for range tiles {
		for r := range t.rows {
			copy(tile[r*width:], unsafe.Slice(at(c, r*cr), cols))
		}
		t.whole(1, k, a, ar, ak, b, bk, &tile[0], 4*width, add)
		for r := range t.rows {
			copy(unsafe.Slice(at(c, r*cr), cols), tile[r*width:])
		}
		a, c = at(a, t.rows*ar), at(c, t.rows*cr)
	}
}

// whole calls the assembly by name, so that the compiler sees that no pointer escapes.
func (t tileOf) whole(tiles, k int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr,
	add int) {
	switch t {
	case tileOf{1, 1}:
		gemmNEON_1x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{1, 2}:
		gemmNEON_1x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{2, 1}:
		gemmNEON_2x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{2, 2}:
		gemmNEON_2x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{3, 1}:
		gemmNEON_3x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{3, 2}:
		gemmNEON_3x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{4, 1}:
		gemmNEON_4x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{4, 2}:
		gemmNEON_4x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{5, 1}:
		gemmNEON_5x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{5, 2}:
		gemmNEON_5x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{6, 1}:
		gemmNEON_6x1(tiles, k, a, ar, ak, b, bk, c, cr, add)
	case tileOf{6, 2}:
		gemmNEON_6x2(tiles, k, a, ar, ak, b, bk, c, cr, add)
	default:
		panic("device: no kernel for tiles of this form")
	}
}

// thinOf is the form of a thin kernel's tile.
type thinOf struct{ rows, cols int }

func (t thinOf) kernel(tiles, k int, a *float32, ar int, b *float32, bk int, c *float32, cr,
	add int) {
	whole := k &^ 7
	for range tiles {
		var sums [9][8]float32
		t.eights(whole, a, ar, b, bk, &sums[0][0])
		if whole < k {
			var restA, restB [4][8]float32
			for r := range t.rows {
				copy(restA[r][:], unsafe.Slice(at(a, r*ar), k)[whole:])
			}
			for n := range t.cols {
				copy(restB[n][:], unsafe.Slice(at(b, n*bk), k)[whole:])
			}
			t.eights(8, &restA[0][0], 32, &restB[0][0], 32, &sums[0][0])
		}
		for r := range t.rows {
			out := unsafe.Slice(at(c, r*cr), t.cols)
			for n := range out {
				v := acrossLanes(&sums[r*t.cols+n])
				if add != 0 {
					v += out[n]
				}
				out[n] = v
			}
		}
		a, c = at(a, t.rows*ar), at(c, t.rows*cr)
	}
}

// eights calls the assembly by name; see whole.
func (t thinOf) eights(k int, a *float32, ar int, b *float32, bk int, sums *float32) {
	switch t {
	case thinOf{1, 1}:
		thin1x1NEON(k, a, ar, b, bk, sums)
	case thinOf{4, 1}:
		thin4x1NEON(k, a, ar, b, bk, sums)
	case thinOf{1, 2}:
		thin1x2NEON(k, a, ar, b, bk, sums)
	case thinOf{4, 2}:
		thin4x2NEON(k, a, ar, b, bk, sums)
	case thinOf{1, 3}:
		thin1x3NEON(k, a, ar, b, bk, sums)
	case thinOf{3, 3}:
		thin3x3NEON(k, a, ar, b, bk, sums)
	case thinOf{1, 4}:
		thin1x4NEON(k, a, ar, b, bk, sums)
	case thinOf{2, 4}:
		thin2x4NEON(k, a, ar, b, bk, sums)
	default:
		panic("device: no thin kernel for tiles of this form")
	}
}
