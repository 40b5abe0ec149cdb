package graphical

import "slices"

// Domain is the number of values of each attribute.
type Domain []int

// Cells returns the size of the table of some attributes, as a float64 since it may be huge.
func (d Domain) Cells(attributes []int) float64 {
	cells := 1.0
	for _, a := range attributes {
		cells *= float64(d[a])
	}
	return cells
}

// sizes returns the numbers of values of the given attributes.
func (d Domain) sizes(attributes []int) []int {
	out := make([]int, len(attributes))
	for i, a := range attributes {
		out[i] = d[a]
	}
	return out
}

// A view maps the cells of a table, the last attribute fastest, to those of a table of some of its
// attributes. Runs of cells are mapped together: to one cell, or to as many in a row.
type view struct {
	starts []int32 // the first target cell of each run
	run    int
	kept   bool // whether a run's cells have separate targets
	cells  int  // of the target
}

// newView returns the view from the attributes from to some of them, to; both ascend.
func (d Domain) newView(from, to []int) view {
	sizes := d.sizes(from)
	strides := make([]int, len(from)) // in the target, 0 for an attribute that it lacks
	v := view{cells: 1, run: 1}
	for i := len(to) - 1; i >= 0; i-- {
		strides[slices.Index(from, to[i])] = v.cells
		v.cells *= d[to[i]]
	}
	last := len(from)
	if last > 0 {
		v.kept = strides[last-1] > 0
	}
	for last > 0 && (strides[last-1] > 0) == v.kept {
		last--
		v.run *= sizes[last]
	}
	v.starts = []int32{0}
	for i := range last {
		next := make([]int32, 0, len(v.starts)*sizes[i])
		for _, s := range v.starts {
			for k := range sizes[i] {
				next = append(next, s+int32(k*strides[i]))
			}
		}
		v.starts = next
	}
	return v
}

// sum adds the cells of a table to the target cells dst.
func (v view) sum(dst, table []float64) {
	clear(dst)
	for i, at := range v.starts {
		run := table[i*v.run : (i+1)*v.run]
		if v.kept {
			to := dst[at : int(at)+len(run)]
			for k, x := range run {
				to[k] += x
			}
			continue
		}
		var sums [4]float64 // apart, so that an addition does not wait for the one before
		for len(run) >= 4 {
			four := run[:4:4]
			sums[0] += four[0]
			sums[1] += four[1]
			sums[2] += four[2]
			sums[3] += four[3]
			run = run[4:]
		}
		for _, x := range run {
			sums[0] += x
		}
		dst[at] += sums[0] + sums[1] + (sums[2] + sums[3])
	}
}

// add adds a multiple of the target's cells to those of the table.
func (v view) add(table, from []float64, times float64) {
	for i, at := range v.starts {
		run := table[i*v.run : (i+1)*v.run]
		if v.kept {
			for k, x := range from[at : int(at)+len(run)] {
				run[k] += times * x
			}
			continue
		}
		x := times * from[at]
		for k := range run {
			run[k] += x
		}
	}
}

// scale multiplies the cells of the table by the target's.
func (v view) scale(table, by []float64) {
	for i, at := range v.starts {
		run := table[i*v.run : (i+1)*v.run]
		if v.kept {
			for k, x := range by[at : int(at)+len(run)] {
				run[k] *= x
			}
			continue
		}
		x := by[at]
		for k := range run {
			run[k] *= x
		}
	}
}

// top sets dst to the largest cell of each target cell.
func (v view) top(dst, table []float64) {
	for i := range dst {
		dst[i] = lowest
	}
	for i, at := range v.starts {
		run := table[i*v.run : (i+1)*v.run]
		if v.kept {
			to := dst[at : int(at)+len(run)]
			for k, x := range run {
				to[k] = max(to[k], x)
			}
			continue
		}
		dst[at] = max(dst[at], slices.Max(run))
	}
}

// grow writes exp(cell − its target's) to dst.
func (v view) grow(dst, table, top []float64) {
	for i, at := range v.starts {
		run, to := table[i*v.run:(i+1)*v.run], dst[i*v.run:(i+1)*v.run]
		if v.kept {
			for k, x := range top[at : int(at)+len(run)] {
				to[k] = exp(run[k] - x)
			}
			continue
		}
		x := top[at]
		for k := range run {
			to[k] = exp(run[k] - x)
		}
	}
}

// cellsOf calls each with the cells of the table that go to each target cell: the order is that of
// the table.
func (v view) cellsOf() [][]int32 {
	out := make([][]int32, v.cells)
	for i, at := range v.starts {
		for k := range v.run {
			to := int(at)
			if v.kept {
				to += k
			}
			out[to] = append(out[to], int32(i*v.run+k))
		}
	}
	return out
}
