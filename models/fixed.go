package models

import "github.com/seed7ba64551/privgen/device"

// FixedGradients are gradients whose weighted sum can be computed in fixed point. One record
// changes the sum by integers that depend on this record alone, whatever the other records and
// their order. If gradients do not implement this interface, private training adds them record by
// record. This costs a pass over all parameters for each record.
type FixedGradients interface {
	Gradients
	// FixedForm states how the sum rounds a record's gradient. It returns the zero FixedForm if no
	// fixed-point sum is available, for example on a backend that is not a device.FixedSummer.
	FixedForm() FixedForm
	// AddFixedSum adds Σ wᵢ gᵢ to dst, with the rules of AddWeightedSum.
	//
	// Guarantee: the vector added for record i is a function of gᵢ and wᵢ alone. Suppose that wᵢ is
	// odd (see device.Odd) and at most C/‖gᵢ‖, where C is the clip norm for which dst.Chain was
	// computed. Then each element of the vector differs from the element of wᵢgᵢ by at most Terms/2
	// units.
	AddFixedSum(dst device.Fixed, weights []float32)
}

// FixedBlockGradients are FixedGradients that distinguish the blocks of Params.
type FixedBlockGradients interface {
	FixedGradients
	BlockGradients
	// AddFixedBlockSums adds Σ weights[b][i]·gᵢ to block b of dst, with the rules of AddFixedSum and
	// AddBlockSums.
	AddFixedBlockSums(dst device.Fixed, weights [][]float32)
}

// FixedFinisher are FixedGradients with a part of the sum that is computed once, after all records
// of a step. Private training calls StartFixedSum before the first AddFixedSum of a step and
// FinishFixedSum after the last.
type FixedFinisher interface {
	FixedGradients
	StartFixedSum()
	// FinishFixedSum adds to dst the part that depends on all calls of AddFixedSum since
	// StartFixedSum.
	FinishFixedSum(dst device.Fixed)
}

// FixedForm states how a sum in fixed point rounds one record's gradient.
type FixedForm struct {
	// Terms is the largest number of products rounded for one element of one record's gradient.
	Terms int
	// Reach bounds the partial sums of one record's terms. No partial sum, in any order of the terms,
	// exceeds dst.Limit, even if the terms cancel. dst.Limit is Reach times the clip norm. Records
	// that would exceed this limit get a smaller weight.
	Reach int
}

// Fixed reports whether a sum in fixed point is available.
func (f FixedForm) Fixed() bool { return f.Terms > 0 }

// Worst returns a form that bounds gradients of either form.
func (f FixedForm) Worst(g FixedForm) FixedForm {
	if !f.Fixed() || !g.Fixed() {
		return FixedForm{}
	}
	return FixedForm{max(f.Terms, g.Terms), max(f.Reach, g.Reach)}
}

// fixedForm returns form if the backend computes sums in fixed point, and the zero FixedForm
// otherwise.
func fixedForm(be device.Backend, form FixedForm) FixedForm {
	if _, ok := device.FixedSums(be); !ok {
		return FixedForm{}
	}
	return form
}

// oneTerm is the form of dense layers, in which a record adds one product to each element. It is
// also the form of layers whose gradients are computed record by record.
var oneTerm = FixedForm{Terms: 1, Reach: 1}

// within returns weight, or a smaller weight if terms of the given size would exceed limit. The
// weight scales the record's whole row, so the norm of the row only decreases.
func within(weight float32, size, limit float64) float32 {
	if float64(weight)*size <= limit {
		return weight
	}
	return device.Odd(float32(limit / size))
}

// addFixedSum is addWeightedSum in fixed point.
func (t *trace) addFixedSum(dst device.Fixed, first int, weights []float32) {
	t.addFixedBlockSums(dst, first, t.forAll(weights))
}

// addFixedBlockSums is addFixedSum with separate weights for every block.
func (t *trace) addFixedBlockSums(dst device.Fixed, first int, weights [][]float32) {
	be, ok := device.FixedSums(t.s.be)
	if !ok || t.rows == 0 {
		return
	}
	for l := range t.deltas {
		weight, bias := dst.Block(first+2*l), dst.Block(first+2*l+1)
		delta, w := t.deltas[l], weights[2*l]
		t.dropNonFinite(l, w, weights[2*l+1])
		switch {
		case l == 0 && t.x.sparse != nil:
			be.AddFixedSparse(t.x.sparse, t.odd(be, l, delta, w), weight)
		case t.input(l).Cols <= delta.Cols:
			be.AddFixedProduct(t.odd(be, l, t.input(l), w), delta, weight)
		default:
			be.AddFixedProduct(t.input(l), t.odd(be, l, delta, w), weight)
		}
		be.AddFixedRows(weights[2*l+1], delta, bias)
	}
}

// odd is like scaled, but its result can be a factor of AddFixedProduct.
func (t *trace) odd(be device.FixedSummer, l int, m device.Matrix, w []float32) device.Matrix {
	c := t.scaleBuf[l].Slice(0, t.rows, 0, m.Cols)
	be.ScaleOdd(c, m, w)
	return c
}

// FixedForm has one term for each element.
func (n *vae) FixedForm() FixedForm { return fixedForm(n.be, oneTerm) }

// AddFixedSum adds Σ wᵢ gᵢ to dst.
func (n *vae) AddFixedSum(dst device.Fixed, weights []float32) {
	n.encT.addFixedSum(dst, 0, weights)
	n.decT.addFixedSum(dst, 2*n.enc.layers(), weights)
}

// addFixedSum is addWeightedSum in fixed point.
func (w *walk) addFixedSum(dst device.Fixed, first int, weights []float32) {
	be, ok := device.FixedSums(w.be)
	if !ok || w.rows == 0 {
		return
	}
	w.dropNonFinite(weights)
	for l, u := range w.c.units {
		w.fixed = w.fixed[:0]
		for k := w.c.blocks[l]; k < w.c.blocks[l+1]; k++ {
			w.fixed = append(w.fixed, dst.Block(first+k))
		}
		if u, ok := u.(fixedUnit); ok {
			u.addFixed(be, w, w.input(l), w.deltas[l], weights, w.fixed)
		}
	}
}

// fixedForm returns the form of the chain: one term for each element if every unit with parameters
// has a sum in fixed point.
func (w *walk) fixedForm() FixedForm {
	for l, u := range w.c.units {
		if _, ok := u.(fixedUnit); !ok && w.c.blocks[l+1] > w.c.blocks[l] {
			return FixedForm{}
		}
	}
	return fixedForm(w.be, oneTerm)
}

func (t *trace) fixedForm() FixedForm { return fixedForm(t.s.be, oneTerm) }

// A fixedUnit has a sum in fixed point.
type fixedUnit interface {
	addFixed(be device.FixedSummer, w *walk, x, delta device.Matrix, weights []float32,
		blocks []device.FixedBlock)
}

// FixedForm has one term for each element.
func (n *classifierGradients) FixedForm() FixedForm { return n.pass.fixedForm() }

// AddFixedSum adds Σ wᵢ gᵢ to dst.
func (n *classifierGradients) AddFixedSum(dst device.Fixed, weights []float32) {
	n.pass.addFixedSum(dst, 0, weights)
}

func (u *denseUnit) addFixed(be device.FixedSummer, w *walk, x, delta device.Matrix,
	weights []float32, blocks []device.FixedBlock) {
	if u.width <= u.wide {
		be.AddFixedProduct(w.odd(be, x, weights), delta, blocks[0])
	} else {
		be.AddFixedProduct(x, w.odd(be, delta, weights), blocks[0])
	}
	be.AddFixedRows(weights, delta, blocks[1])
}

// odd is like scaled, but its result can be a factor of AddFixedProduct.
func (w *walk) odd(be device.FixedSummer, m device.Matrix, weights []float32) device.Matrix {
	c := w.spare(m.Rows, m.Cols)
	be.ScaleOdd(c, m, weights)
	return c
}

// addFixed computes each record's gradient before rounding it, because the terms of different
// places may cancel.
func (u *convUnit) addFixed(be device.FixedSummer, w *walk, x, delta device.Matrix,
	weights []float32, blocks []device.FixedBlock) {
	places := u.window.Places()
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		be.Im2Col(u.window, patches, x.RowRange(lo, hi))
		be.AddFixedBlocks(weights[lo:hi], places, patches, u.places(delta.RowRange(lo, hi)),
			blocks[0])
	}
	w.addFixedBias(be, places, u.places(delta), weights, blocks[1])
}

func (u *transposedUnit) addFixed(be device.FixedSummer, w *walk, x, delta device.Matrix,
	weights []float32, blocks []device.FixedBlock) {
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		be.Im2Col(u.window, patches, delta.RowRange(lo, hi))
		be.AddFixedBlocks(weights[lo:hi], u.window.Places(), u.places(x.RowRange(lo, hi)), patches,
			blocks[0])
	}
	w.addFixedBias(be, u.window.Height*u.window.Width, u.pixels(delta), weights, blocks[1])
}

// addFixedBias adds, for each record, the weighted sum of its rows of m.
func (w *walk) addFixedBias(be device.FixedSummer, rows int, m device.Matrix, weights []float32,
	block device.FixedBlock) {
	ones := w.scratch(1, rows, 1)
	be.Fill(ones, 1)
	for i := range weights {
		be.AddFixedBlocks(weights[i:i+1], rows, ones, m.RowRange(i*rows, (i+1)*rows), block)
	}
}
