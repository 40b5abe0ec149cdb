package graphical

import (
	"iter"
	"math"
	"slices"
)

// Domain holds the number of values of each attribute.
type Domain []int

// Cells returns the number of cells of the table of some attributes. It is a float64, since it may
// be huge.
func (d Domain) Cells(attributes []int) float64 {
	cells := 1.0
	for _, a := range attributes {
		cells *= float64(d[a])
	}
	return cells
}

// A view maps the cells of a table to the cells of a target table, which has some of the table's
// attributes. In both tables the last attribute varies fastest. Runs of cells are mapped together,
// to one target cell or to a run of target cells of the same length.
type view struct {
	starts []int32 // the first target cell of each block
	times  int     // number of runs of a block; all have the same target cells
	run    int
	kept   bool // whether the cells of a run have separate target cells
	cells  int  // number of cells of the target
}

// newView returns the view from the table of the attributes `from` to the table of the attributes
// `to`, a subset. Both lists are ascending. The view uses the memory, if that is large enough.
func (d Domain) newView(from, to []int, memory ...int32) view {
	strides := make([]int, len(from)) // strides in the target; 0 for an attribute that it lacks
	v := view{cells: 1, run: 1, times: 1}
	for i := len(to) - 1; i >= 0; i-- {
		strides[slices.Index(from, to[i])] = v.cells
		v.cells *= d[to[i]]
	}
	last := len(from)
	if last > 0 {
		v.kept = strides[last-1] > 0
	}
	for ; last > 0 && (strides[last-1] > 0) == v.kept; last-- {
		v.run *= d[from[last-1]]
	}
	for ; last > 0 && v.kept && strides[last-1] == 0; last-- {
		v.times *= d[from[last-1]]
	}
	v.starts = append(slices.Grow(memory[:0], int(d.Cells(from[:last]))), 0)
	for i, a := range from[:last] {
		held := len(v.starts)
		v.starts = v.starts[:held*d[a]]
		for j := held - 1; j >= 0; j-- { // from the end, so that a start is read before it is replaced
			for s, k := v.starts[j], d[a]-1; k >= 0; k-- {
				v.starts[j*d[a]+k] = s + int32(k*strides[i])
			}
		}
	}
	return v
}

// runs returns the first cell and the first target cell of each run.
func (v view) runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		first := 0
		for _, at := range v.starts {
			for range v.times {
				if !yield(first, int(at)) {
					return
				}
				first += v.run
			}
		}
	}
}

// sum sets each target cell of dst to the sum of the table's cells that map to it.
func (v view) sum(dst, table []float64) {
	clear(dst)
	if vectors {
		v.sumVectors(dst, table)
		return
	}
	for _, at := range v.starts {
		block := table[:v.times*v.run]
		table = table[len(block):]
		var sums [4]float64 // four sums, so that an addition does not wait for the previous one
		if v.kept && v.run != 2 {
			for to := dst[at : int(at)+v.run]; len(block) > 0; block = block[len(to):] {
				for k, x := range block[:len(to)] {
					to[k] += x
				}
			}
			continue
		}
		for len(block) >= 4 {
			four := block[:4:4]
			sums[0] += four[0]
			sums[1] += four[1]
			sums[2] += four[2]
			sums[3] += four[3]
			block = block[4:]
		}
		for k, x := range block {
			sums[k] += x
		}
		if v.kept {
			dst[at] += sums[0] + sums[2]
			dst[at+1] += sums[1] + sums[3]
			continue
		}
		dst[at] += sums[0] + sums[1] + (sums[2] + sums[3])
	}
}

// add adds to each cell of the table its target cell in from.
func (v view) add(table, from []float64) {
	for first, at := range v.runs() {
		run := table[first : first+v.run]
		if v.kept {
			for k, x := range from[at : at+len(run)] {
				run[k] += x
			}
			continue
		}
		x := from[at]
		for k := range run {
			run[k] += x
		}
	}
}

// scale sets each cell of dst to the cell of the table times its target cell in by. dst may be the
// table.
func (v view) scale(dst, table, by []float64) {
	if vectors {
		v.scaleVectors(dst, table, by)
		return
	}
	for _, at := range v.starts {
		n := v.times * v.run
		block, to := table[:n], dst[:n]
		table, dst = table[n:], dst[n:]
		if v.kept && v.run != 2 {
			for by := by[at : int(at)+v.run]; len(to) > 0; block, to = block[len(by):], to[len(by):] {
				run, to := block[:len(by)], to[:len(by)]
				for k, x := range by {
					to[k] = run[k] * x
				}
			}
			continue
		}
		x, y := by[at], by[at]
		if v.kept {
			y = by[at+1]
		}
		for len(to) >= 2 && len(block) >= 2 {
			to[0], to[1] = block[0]*x, block[1]*y
			block, to = block[2:], to[2:]
		}
		if len(to) > 0 {
			to[0] = block[0] * x
		}
	}
}

// top sets each target cell of dst to the largest of the table's cells that map to it.
func (v view) top(dst, table []float64) {
	for i := range dst {
		dst[i] = -math.MaxFloat64 // if all are -Inf, none grows
	}
	for first, at := range v.runs() {
		run := table[first : first+v.run]
		if v.kept {
			to := dst[at : at+len(run)]
			for k, x := range run {
				to[k] = max(to[k], x)
			}
			continue
		}
		dst[at] = max(dst[at], slices.Max(run))
	}
}

// grow sets each cell of the table to exp(c − t), where c is the cell and t its target cell in top.
func (v view) grow(table, top []float64) {
	for first, at := range v.runs() {
		for k := range v.run {
			t := at
			if v.kept {
				t += k
			}
			table[first+k] = math.Exp(table[first+k] - top[t])
		}
	}
}

// cellsOf returns, for each target cell, the cells of the table that map to it, in the order of the
// table.
func (v view) cellsOf() [][]int32 {
	out, each := make([][]int32, v.cells), len(v.starts)*v.times*v.run/max(v.cells, 1)
	for i := range out {
		out[i] = make([]int32, 0, each)
	}
	for first, at := range v.runs() {
		for k := range v.run {
			to := at
			if v.kept {
				to += k
			}
			out[to] = append(out[to], int32(first+k))
		}
	}
	return out
}
