package models

import "github.com/seed7ba64551/privgen/device"

// A blockPass treats each parameter block of its gradients separately; see BlockGradients. Blocks
// are numbered from the first block of the pass.
type blockPass interface {
	blockNorms(dst [][]float64)
	addBlockSums(dst device.Params, first int, weights [][]float32)
	addFixedBlockSums(dst device.Fixed, first int, weights [][]float32)
}

// blockNorms sets dst to ‖a‖²·‖δ‖² for weights and ‖δ‖² for biases.
func (t *trace) blockNorms(dst [][]float64) {
	if t.rows == 0 {
		return
	}
	na, nd := t.na[:t.rows], t.nd[:t.rows]
	for l := range t.deltas {
		if l == 0 && t.x.sparse != nil {
			sparseSquaredNorms(na, t.x.sparse)
		} else {
			t.s.be.RowSquaredNorms(na, t.input(l))
		}
		t.s.be.RowSquaredNorms(nd, t.deltas[l])
		for i := range na {
			d := bounded(nd[i])
			dst[2*l][i], dst[2*l+1][i] = bounded(na[i])*d, d
		}
	}
}

// The units of a chain do not treat their blocks separately. So the gradient of each record is
// computed in full, one record at a time, and its blocks are measured and added.

// blockNorms sets dst to the squared norms of the blocks of the gradients that written returns.
func (w *walk) blockNorms(dst [][]float64) {
	for i := range w.rows {
		g := w.written(i)
		for b := range g.Blocks() {
			lo, hi := g.Range(b)
			w.be.RowSquaredNorms(w.na[:1], g.Flat.Slice(0, 1, lo, hi))
			dst[b][i] = bounded(w.na[0])
		}
	}
}

func (w *walk) addBlockSums(dst device.Params, first int, weights [][]float32) {
	w.eachWritten(weights, func(i, b int, row device.Matrix) {
		lo, hi := dst.Range(first + b)
		w.be.Axpy(weights[b][i], row, dst.Flat.Slice(0, 1, lo, hi))
	})
}

func (w *walk) addFixedBlockSums(dst device.Fixed, first int, weights [][]float32) {
	be, ok := device.FixedSums(w.be)
	if !ok {
		return
	}
	w.eachWritten(weights, func(i, b int, row device.Matrix) {
		at := dst.Block(first + b)
		at.Rows, at.Cols = 1, row.Cols
		be.AddFixedRows(weights[b][i:i+1], row, at)
	})
}

// eachWritten calls visit for every pair of a record and a block whose weight is not 0. It passes
// this block of the record's gradient.
func (w *walk) eachWritten(weights [][]float32, visit func(i, b int, row device.Matrix)) {
	for i := range w.rows {
		counts := false
		for b := range weights {
			counts = counts || weights[b][i] != 0
		}
		if !counts {
			continue
		}
		g := w.written(i)
		for b := range g.Blocks() {
			if lo, hi := g.Range(b); weights[b][i] != 0 {
				visit(i, b, g.Flat.Slice(0, 1, lo, hi))
			}
		}
	}
}

// written returns the gradient of record i, in memory that the next call reuses.
func (w *walk) written(i int) device.Params {
	if w.one.Flat.Cols == 0 {
		w.one = device.NewParams(w.be, w.c.shapes("")...)
	}
	w.be.Fill(w.one.Flat, 0)
	alone := *w
	alone.rows, alone.blocks = 1, nil
	alone.x = w.x.RowRange(i, i+1)
	alone.outs, alone.deltas = nil, nil
	for l := range w.outs {
		alone.outs = append(alone.outs, w.outs[l].RowRange(i, i+1))
		alone.deltas = append(alone.deltas, w.deltas[l].RowRange(i, i+1))
	}
	alone.addWeightedSum(w.one, 0, []float32{1})
	w.copies, w.flat = alone.copies, alone.flat // scratch that may have grown
	return w.one
}

// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ in block b.
func (n *classifierGradients) BlockSquaredNorms(dst [][]float64) { n.pass.blockNorms(dst) }

// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (n *classifierGradients) AddBlockSums(dst device.Params, weights [][]float32) {
	n.pass.addBlockSums(dst, 0, weights)
}

// AddFixedBlockSums is AddBlockSums in fixed point.
func (n *classifierGradients) AddFixedBlockSums(dst device.Fixed, weights [][]float32) {
	n.pass.addFixedBlockSums(dst, 0, weights)
}

// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ in block b.
func (n *vae) BlockSquaredNorms(dst [][]float64) {
	n.encT.blockNorms(dst)
	n.decT.blockNorms(dst[2*n.enc.layers():])
}

// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (n *vae) AddBlockSums(dst device.Params, weights [][]float32) {
	enc := 2 * n.enc.layers()
	n.encT.addBlockSums(dst, 0, weights[:enc])
	n.decT.addBlockSums(dst, enc, weights[enc:])
}

// AddFixedBlockSums is AddBlockSums in fixed point.
func (n *vae) AddFixedBlockSums(dst device.Fixed, weights [][]float32) {
	enc := 2 * n.enc.layers()
	n.encT.addFixedBlockSums(dst, 0, weights[:enc])
	n.decT.addFixedBlockSums(dst, enc, weights[enc:])
}
