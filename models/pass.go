package models

import "github.com/seed7ba64551/privgen/device"

// A tape is a pass of a batch through a graph. It holds the values and the derivatives of every
// node, which together determine the per-example gradients.
type tape struct{ *pass }

type pass struct {
	*weights
	g        *graph
	be       device.Backend
	stage    staging
	trains   bool // batch norm uses the moments of the batch, not the running average
	rows     int
	parts    int // rows of each record; 1 except in critics
	biased   int // number of parts, counted from the first, that have a gradient for biases
	capacity int

	x       record // of the first input
	batch   device.Batch
	soft    device.Matrix // class probabilities that replace labels
	losses  []float64
	outBuf  []device.Matrix
	delBuf  []device.Matrix
	outs    []device.Matrix
	wrote   []bool            // a derivative is in place
	kept    [][]device.Matrix // memory of units
	dst     device.Matrix     // memory for the last value of a pass; the zero Matrix if it has its own
	dx      device.Matrix     // receives the derivative with respect to the input, if wanted
	list    []use             // of the last backward pass
	joined  []use
	sets    []device.Sparse // what embeddings have read
	summing sums
	flat    device.Matrix // lowered images of a chunk
	copies  device.Matrix // a delta or an input, scaled
	host    []float32
}

func newPass(be device.Backend, g *graph, w *weights) *tape {
	n := len(g.nodes)
	return &tape{&pass{weights: w, g: g, be: be, stage: newStaging(be), trains: true, parts: 1,
		biased: 1, outBuf: make([]device.Matrix, n), delBuf: make([]device.Matrix, n),
		outs: make([]device.Matrix, n), wrote: make([]bool, n), kept: make([][]device.Matrix, n)}}
}

// roomFor returns a capacity somewhat above rows, because the size of Poisson batches varies. It is
// small for a few rows, which may be wide.
func roomFor(rows int) int {
	step := min(max(rows, 8), 64)
	return (rows + rows/8 + step - 1) / step * step
}

// begin makes room for a batch, so steady training allocates nothing.
func (t *pass) begin(x record, rows int) {
	t.rows, t.x = rows, x
	if rows > t.capacity {
		t.capacity = roomFor(rows)
		clear(t.outBuf)
		clear(t.delBuf)
		clear(t.kept)
		t.copies = device.Matrix{}
	}
	t.set(t.g.nodes[0], x.dense)
}

// set makes m the value of a node.
func (t *pass) set(n *node, m device.Matrix) { t.outs[n.id] = m }

// forward computes the values of nodes lo to hi−1.
func (t *pass) forward(lo, hi int) {
	for _, n := range t.g.nodes[lo:hi] {
		if n.unit == nil {
			continue
		}
		m := &t.outBuf[n.id]
		if n.id == hi-1 && t.dst.Rows > 0 {
			m = &t.dst
		} else if m.Rows == 0 {
			*m = t.be.New(t.capacity, n.width)
		}
		t.outs[n.id] = m.RowRange(0, t.rows)
		if t.rows > 0 {
			n.forward(t, n)
		}
	}
}

// run is a forward pass of a batch through the whole graph.
func (t *pass) run(x record, rows int) {
	t.begin(x, rows)
	t.forward(0, len(t.g.nodes))
}

// forget clears everything that the last forward pass computed from its rows.
func (t *pass) forget() {
	t.x, t.batch = record{}, device.Batch{}
	t.set(t.g.nodes[0], device.Matrix{})
	for _, out := range t.outBuf {
		t.be.Fill(out, 0)
	}
	t.be.Fill(t.flat, 0)
}

func (t *pass) value(n *node) device.Matrix { return t.outs[n.id] }

func (t *pass) last() device.Matrix { return t.value(t.g.last()) }

// operand returns operand k of n.
func (t *pass) operand(n *node, k int) device.Matrix { return t.outs[n.from[k].id] }

// delta returns the derivative with respect to the value of n.
func (t *pass) delta(n *node) device.Matrix {
	if n.over {
		return t.outs[n.id]
	}
	m := &t.delBuf[n.id]
	if m.Rows < t.rows {
		*m = t.be.New(t.capacity, n.width)
	}
	return m.RowRange(0, t.rows)
}

// lastDelta returns the memory for the derivative with respect to the last value. The caller fills
// it before backward.
func (t *pass) lastDelta() device.Matrix { return t.delta(t.g.last()) }

// give returns the memory for the derivative with respect to operand k of n: the zero Matrix if
// nothing depends on it. The caller sets it, or adds to it if add is true.
func (t *pass) give(n *node, k int) (dst device.Matrix, add bool) {
	f := n.from[k]
	switch {
	case f.id == 0:
		return t.dx, false
	case !f.learns:
		return device.Matrix{}, false
	}
	add = t.wrote[f.id]
	t.wrote[f.id] = true
	return t.delta(f), add
}

// pull calls set with memory for the derivative with respect to operand k of n, and adds it up.
func (t *pass) pull(n *node, k int, set func(dst device.Matrix)) {
	dst, add := t.give(n, k)
	if dst.Rows == 0 {
		return
	}
	if !add {
		set(dst)
		return
	}
	sum := t.keep(n, 0, dst.Cols)
	set(sum)
	t.be.Axpy(1, sum, dst)
}

// backward propagates derivatives from the losses, or from the last value, back to the first node.
func (t *pass) backward() {
	clear(t.wrote)
	if t.rows > 0 {
		for id := len(t.g.nodes) - 1; id >= 0; id-- {
			n := t.g.nodes[id]
			if n.unit == nil || !n.learns {
				continue
			}
			if !t.wrote[id] && n != t.g.last() {
				t.be.Fill(t.delta(n), 0) // no loss depends on this value
			}
			n.backward(t, n)
		}
	}
	t.collect()
}

// keep returns memory number k of node n, with one row for each record. Number 0 is for pull.
func (t *pass) keep(n *node, k, cols int) device.Matrix {
	return t.memory(n, k, t.capacity, cols).RowRange(0, t.rows)
}

func (t *pass) memory(n *node, k, rows, cols int) device.Matrix {
	for len(t.kept[n.id]) <= k {
		t.kept[n.id] = append(t.kept[n.id], device.Matrix{})
	}
	m := &t.kept[n.id][k]
	if m.Rows < rows || m.Cols != cols {
		*m = t.be.New(rows, cols)
	}
	return *m
}

// scaled returns m with its rows multiplied by weights, in scratch memory that the next call
// reuses. It returns m itself if weights is nil.
func (t *pass) scaled(m device.Matrix, weights []float32) device.Matrix {
	if weights == nil {
		return m
	}
	c := t.spare(m.Rows, m.Cols)
	t.be.Apply(device.Identity, c, m)
	t.be.ScaleRows(c, weights)
	return c
}

// odd is like scaled, but its result can be a factor of AddFixedProduct.
func (t *pass) odd(be device.FixedSummer, m device.Matrix, weights []float32) device.Matrix {
	c := t.spare(m.Rows, m.Cols)
	be.ScaleOdd(c, m, weights)
	return c
}

// spare returns a matrix in the scratch memory of scaled.
func (t *pass) spare(rows, cols int) device.Matrix {
	if t.copies.Cols < rows*cols {
		t.copies = t.be.New(1, max(t.capacity, rows)*cols)
	}
	return t.copies.Slice(0, 1, 0, rows*cols).Reshape(rows, cols)
}

// chunkNumbers is the number of elements of patches that are computed at a time. They should still
// be in the second-level cache when the product reads them. Patches are several times as large as
// the layer's input and output together, so computing them for each use costs less than storing
// them.
const chunkNumbers = 1 << 17

// chunkEnd returns the end of the chunk of rows that begins at lo.
func chunkEnd(window device.Window, lo, rows int) int { return min(lo+chunkRows(window), rows) }

// chunkRows returns the number of images whose patches together have about chunkNumbers numbers.
func chunkRows(window device.Window) int {
	return max(chunkNumbers/max(window.Places()*window.Patch(), 1), 1)
}

// patches returns scratch memory for the patches of the given number of images.
func (t *pass) patches(window device.Window, images int) device.Matrix {
	return t.scratch(rowsFor(window), images*window.Places(), window.Patch())
}

// rowsFor returns the largest number of patches in a chunk.
func rowsFor(window device.Window) int { return chunkRows(window) * window.Places() }

// scratch returns scratch memory for a rows×cols matrix. If it must allocate, it makes room for at
// least `most` rows.
func (t *pass) scratch(most, rows, cols int) device.Matrix {
	if t.flat.Cols < rows*cols {
		t.flat = t.be.New(1, max(most, rows)*cols)
	}
	return t.flat.Slice(0, 1, 0, rows*cols).Reshape(rows, cols)
}
