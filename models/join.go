package models

import "github.com/seed7ba64551/privgen/device"

// join makes one use of all uses of the same parameters. The gradient of a record is then one
// product over the rows of all places where a parameter is used, so nothing is lost where they
// agree or cancel.
func (t *pass) join() {
	joined := t.joined[:0]
	for i, u := range t.list {
		same := func(v use) bool { return v.weight == u.weight && v.bias == u.bias }
		first, rows := true, 0
		for k, v := range t.list {
			if same(v) {
				first = first && k >= i
				rows += v.rows
			}
		}
		switch {
		case !first: // part of a use before it
		case rows == u.rows:
			joined = append(joined, u)
		default:
			joined = append(joined, t.stack(u, rows, same))
		}
	}
	t.list, t.joined = joined, t.list
}

// stack copies the rows of uses of the same parameters, so that a record's rows follow each other.
func (t *pass) stack(u use, rows int, same func(use) bool) use {
	n, k := t.g.nodes[0], 2*max(u.weight, u.bias) // memory of the input, which has no other
	in, out := t.sideWidth(&u, lowerA, u.a), t.sideWidth(&u, lowerD, u.d)
	whole := use{weight: u.weight, bias: u.bias, rows: rows, d: t.keep(n, k, rows*out)}
	if u.weight >= 0 {
		whole.a = t.keep(n, k+1, rows*in)
	}
	at := 0
	for i := range t.list {
		v := &t.list[i]
		if !same(*v) || t.rows == 0 {
			continue
		}
		t.chunks(v, func(lo, hi int, a, d device.Matrix) {
			t.place(whole.a, a, lo, hi, at*in)
			t.place(whole.d, d, lo, hi, at*out)
		})
		at += v.rows
	}
	whole.d = whole.d.Reshape(t.rows*rows, out)
	if u.weight >= 0 {
		whole.a = whole.a.Reshape(t.rows*rows, in)
	}
	return whole
}

// sideWidth returns the number of columns of one side.
func (t *pass) sideWidth(u *use, lowered lowering, m device.Matrix) int {
	if u.lower == lowered {
		return u.window.Patch()
	}
	return m.Cols
}

// place copies the rows of records lo to hi−1 into dst, from column at of each record.
func (t *pass) place(dst, rows device.Matrix, lo, hi, at int) {
	if dst.Rows == 0 || rows.Rows == 0 {
		return
	}
	rows = rows.Reshape(hi-lo, rows.Rows*rows.Cols/(hi-lo))
	t.be.Apply(device.Identity, dst.Slice(lo, hi, at, at+rows.Cols), rows)
}
