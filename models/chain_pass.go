package models

import "github.com/seed7ba64551/privgen/device"

// A walk is one pass of a batch through a chain. It holds the inputs and deltas of every unit;
// together these are the per-example gradients. It also holds scratch memory for all units.
type walk struct {
	c        *chain
	be       device.Backend
	trains   bool // batch norm uses the moments of the batch, not the running average
	rows     int
	capacity int
	x        device.Matrix
	outBuf   []device.Matrix
	deltaBuf []device.Matrix
	outs     []device.Matrix // outBuf cut to rows
	deltas   []device.Matrix
	// dx receives the derivative with respect to the input; the zero Matrix if it is not wanted
	dx    device.Matrix
	stats []device.Matrix // moments and their gradients, for batch norm only

	flat   device.Matrix // lowered images of a chunk
	copies device.Matrix // a delta or an input, scaled
	blocks []device.Matrix
	fixed  []device.FixedBlock
	one    device.Params // the gradient of one record, if blocks are distinguished
	na, nd []float64
	np     []float64
	host   []float32 // factors of rows, before they are copied to the device
}

func newWalk(c *chain, trains bool) *walk {
	n := len(c.units)
	w := &walk{c: c, be: c.be, trains: trains, outBuf: make([]device.Matrix, n),
		deltaBuf: make([]device.Matrix, n),
		outs:     make([]device.Matrix, n), deltas: make([]device.Matrix, n),
		stats: make([]device.Matrix, n)}
	for l, u := range c.units {
		if b, ok := u.(*batchNorm); ok {
			w.stats[l] = c.be.New(batchNormStats, b.channels)
		}
	}
	return w
}

// resize makes room for the given number of rows, so steady training allocates nothing. The first
// call of lastDelta makes room for deltas.
func (w *walk) resize(rows int) {
	if rows > w.capacity {
		w.capacity = roomFor(rows)
		for l, u := range w.c.units {
			w.outBuf[l], w.deltaBuf[l] = w.be.New(w.capacity, u.out()), device.Matrix{}
		}
		w.na, w.nd, w.np = make([]float64, w.capacity), make([]float64, w.capacity),
			make([]float64, w.capacity)
		w.copies = device.Matrix{}
	}
	w.rows = rows
	for l := range w.outs {
		w.outs[l] = w.outBuf[l].RowRange(0, rows)
	}
}

// forget clears everything that the last forward pass computed from its rows.
func (w *walk) forget() {
	w.x = device.Matrix{}
	for _, out := range w.outBuf {
		w.be.Fill(out, 0)
	}
	w.be.Fill(w.flat, 0)
}

func (w *walk) last() device.Matrix { return w.outs[len(w.outs)-1] }

// lastDelta returns the matrix for the derivative with respect to the chain's output. The caller
// fills it before backward.
func (w *walk) lastDelta() device.Matrix {
	for l, u := range w.c.units {
		if w.deltaBuf[l].Rows < w.capacity {
			w.deltaBuf[l] = w.be.New(w.capacity, u.out())
		}
		w.deltas[l] = w.deltaBuf[l].RowRange(0, w.rows)
	}
	return w.deltas[len(w.deltas)-1]
}

func (w *walk) input(l int) device.Matrix {
	if l == 0 {
		return w.x
	}
	return w.outs[l-1]
}

// forward runs the chain and keeps every unit's output.
func (w *walk) forward(r record, rows int) {
	w.resize(rows)
	w.x = r.dense
	if rows == 0 {
		return
	}
	for l, u := range w.c.units {
		u.forward(w, l, w.input(l), w.outs[l])
	}
}

// backward propagates the last delta back to the first unit, and to the input if dx is set.
func (w *walk) backward() {
	if w.rows == 0 {
		return
	}
	for l := len(w.c.units) - 1; l >= 0; l-- {
		dx := w.dx
		if l > 0 {
			dx = w.deltas[l-1]
		}
		w.c.units[l].backward(w, l, w.input(l), w.outs[l], w.deltas[l], dx)
	}
}

func (w *walk) addSquaredNorms(dst []float64) {
	if w.rows == 0 {
		return
	}
	for l, u := range w.c.units {
		u.addNorms(w, w.input(l), w.deltas[l], dst[:w.rows])
	}
}

// addWeightedSum adds Σ wᵢ gᵢ to the chain's blocks of dst; nil weights mean that all weights are
// 1.
func (w *walk) addWeightedSum(dst device.Params, first int, weights []float32) {
	if w.rows == 0 {
		return
	}
	w.dropNonFinite(weights)
	for l, u := range w.c.units {
		w.blocks = w.blocks[:0]
		for k := w.c.blocks[l]; k < w.c.blocks[l+1]; k++ {
			w.blocks = append(w.blocks, dst.Block(first+k))
		}
		u.addSum(w, l, w.input(l), w.deltas[l], weights, w.blocks)
	}
}

// dropNonFinite does for chains what trace.dropNonFinite does for stacks.
func (w *walk) dropNonFinite(weights []float32) {
	for i, wi := range weights {
		if wi != 0 {
			continue
		}
		for l := range w.deltas {
			clearNonFinite(w.be, w.input(l).RowRange(i, i+1), w.na[:1])
			clearNonFinite(w.be, w.deltas[l].RowRange(i, i+1), w.na[:1])
		}
	}
}

// bounds returns the squared norms of the rows of x and delta, or NaN for norms that are too large.
func (w *walk) bounds(x, delta device.Matrix) (a, d []float64) {
	a, d = w.na[:w.rows], w.nd[:w.rows]
	w.be.RowSquaredNorms(a, x)
	w.be.RowSquaredNorms(d, delta)
	for i := range a {
		a[i], d[i] = bounded(a[i]), bounded(d[i])
	}
	return a, d
}

// reject sets the norms of records with too large factors to NaN, by adding 0·NaN. Other norms do
// not change.
func (w *walk) reject(x, delta device.Matrix, dst []float64) {
	a, d := w.bounds(x, delta)
	for i := range dst {
		dst[i] += 0 * (a[i] + d[i])
	}
}

// scaled returns m with its rows multiplied by weights, in scratch memory that the next call
// reuses. It returns m itself if weights is nil.
func (w *walk) scaled(m device.Matrix, weights []float32) device.Matrix {
	if weights == nil {
		return m
	}
	c := w.spare(m.Rows, m.Cols)
	w.be.Apply(device.Identity, c, m)
	w.be.ScaleRows(c, weights)
	return c
}

// spare returns a matrix in the scratch memory of scaled. The number of rows must be at most the
// walk's capacity.
func (w *walk) spare(rows, cols int) device.Matrix {
	if w.copies.Cols < w.capacity*cols {
		w.copies = w.be.New(1, w.capacity*cols)
	}
	return w.copies.Slice(0, 1, 0, rows*cols).Reshape(rows, cols)
}

// chunkEnd returns the end of the chunk of rows that begins at lo.
func chunkEnd(window device.Window, lo, rows int) int { return min(lo+chunkRows(window), rows) }

// chunkRows returns the number of images whose patches together have about chunkNumbers numbers.
func chunkRows(window device.Window) int {
	return max(chunkNumbers/max(window.Places()*window.Patch(), 1), 1)
}

// patches returns scratch memory for the patches of the given number of images.
func (w *walk) patches(window device.Window, images int) device.Matrix {
	return w.scratch(rowsFor(window), images*window.Places(), window.Patch())
}

// rowsFor returns the largest number of patches in a chunk.
func rowsFor(window device.Window) int { return chunkRows(window) * window.Places() }

// scratch returns scratch memory for a rows×cols matrix. If it must allocate, it makes room for at
// least `most` rows.
func (w *walk) scratch(most, rows, cols int) device.Matrix {
	if w.flat.Cols < rows*cols {
		w.flat = w.be.New(1, max(most, rows)*cols)
	}
	return w.flat.Slice(0, 1, 0, rows*cols).Reshape(rows, cols)
}
