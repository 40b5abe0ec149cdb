package models

import "github.com/seed7ba64551/privgen/device"

// wholes computes the gradients of uses with many rows, record by record, if a gradient has no more
// numbers than the rows that it is the product of. A gradient then is one row, which norms and sums
// only read. The choice depends on public shapes alone.
func (t *pass) wholes() {
	for i, u := range t.list {
		in, out := t.sideWidth(&u, lowerA, u.a), t.sideWidth(&u, lowerD, u.d)
		if u.rows <= few || u.apart || u.mixed || u.weight < 0 || t.rows == 0 ||
			in*out > (u.a.Rows*u.a.Cols+u.d.Rows*u.d.Cols)/t.rows {
			continue
		}
		at := 2*len(t.g.blocks) + 2 // memory of the input, after that of stack
		whole := use{weight: -1, bias: u.weight, rows: 1, d: t.keep(t.g.nodes[0], at+u.weight, in*out)}
		shift := use{weight: -1, bias: u.bias, rows: 1}
		if u.bias >= 0 {
			shift.d = t.keep(t.g.nodes[0], at+u.bias, out)
			t.list = append(t.list, shift)
		}
		t.list[i] = whole
		t.chunks(&u, func(lo, hi int, a, d device.Matrix) {
			t.share(hi-lo, func(i int) {
				a, d := a.RowRange(i*u.rows, (i+1)*u.rows), d.RowRange(i*u.rows, (i+1)*u.rows)
				t.be.Gemm(true, false, 1, a, d, 0, whole.d.RowRange(lo+i, lo+i+1).Reshape(in, out))
				if u.bias >= 0 {
					t.be.ColSums(nil, d, 0, shift.d.RowRange(lo+i, lo+i+1))
				}
			})
		})
	}
}
