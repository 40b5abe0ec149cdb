package models

import "github.com/seed7ba64551/privgen/device"

// wholes computes the gradients of uses with many rows, record by record, if a gradient has no more
// numbers than the rows that it is the product of. A gradient then is one row, which norms and sums
// only read. The choice depends on public shapes alone.
func (t *pass) wholes() {
	for i, u := range t.list {
		in, out := t.sideWidth(&u, lowerA, u.a), t.sideWidth(&u, lowerD, u.d)
		if u.rows <= few || u.apart || u.mixed || t.rows == 0 ||
			in*out > (u.a.Rows*u.a.Cols+u.d.Rows*u.d.Cols)/t.rows {
			continue
		}
		matrix, bias := t.whole(u.weight, in*out), t.whole(u.bias, out)
		if t.list[i] = matrix; u.weight < 0 {
			t.list[i] = bias
		} else if u.bias >= 0 {
			t.list = append(t.list, bias)
		}
		t.chunks(&u, func(lo, hi int, a, d device.Matrix) {
			t.share(hi-lo, func(i int) {
				d := d.RowRange(i*u.rows, (i+1)*u.rows)
				if u.weight >= 0 {
					to := matrix.d.RowRange(lo+i, lo+i+1).Reshape(in, out)
					t.be.Gemm(true, false, 1, a.RowRange(i*u.rows, (i+1)*u.rows), d, 0, to)
				}
				if u.bias >= 0 {
					t.be.ColSums(nil, d, 0, bias.d.RowRange(lo+i, lo+i+1))
				}
			})
		})
	}
}

// whole returns the use of a block whose gradient is one row of the given width. Its memory is that
// of the input, after that of stack.
func (t *pass) whole(block, width int) use {
	u := use{weight: -1, bias: block, rows: 1}
	if block >= 0 {
		u.d = t.keep(t.g.nodes[0], 2*len(t.g.blocks)+2+block, width)
	}
	return u
}
