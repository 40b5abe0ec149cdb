package models

import "github.com/seed7ba64551/privgen/device"

// AddWeightedSum adds Σ wᵢ gᵢ to dst.
func (t *pass) AddWeightedSum(dst device.Params, weights []float32) {
	t.AddBlockSums(dst, t.forAll(weights))
}

// forAll returns a list that has the same weights for every block.
func (t *pass) forAll(w []float32) [][]float32 {
	list := t.summing.list[:0]
	for range t.g.shapes {
		list = append(list, w)
	}
	t.summing.list = list
	return list
}

// of returns the weights of a use's matrix and bias, which are nil where there is none.
func (u *use) of(weights [][]float32) (weight, bias []float32) {
	if u.weight >= 0 {
		weight = weights[u.weight]
	}
	if u.bias >= 0 {
		bias = weights[u.bias]
	}
	return weight, bias
}

// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (t *pass) AddBlockSums(dst device.Params, weights [][]float32) {
	if t.rows == 0 {
		return
	}
	for i := range t.list {
		u := &t.list[i]
		weight, bias := u.of(weights)
		t.dropNonFinite(u, weight, bias)
		if u.weight >= 0 {
			t.addMatrixSum(u, weight, dst.Block(u.weight))
		}
		if u.bias >= 0 {
			t.addBiasSum(u, bias, dst.Block(u.bias))
		}
	}
}

// addMatrixSum scales a copy of the narrower side, so the pass does not change.
func (t *pass) addMatrixSum(u *use, weights []float32, dst device.Matrix) {
	switch {
	case u.lower == lowerD:
		t.addPatchSum(u, t.scaledRecords(u.d, weights), dst)
	case u.lower == lowerA:
		t.addPatchSum(u, t.scaledRecords(u.d, weights).Reshape(u.d.Rows, u.d.Cols), dst)
	case u.sparse != nil:
		t.be.SparseGemmT(u.sparse, t.scaled(u.d, t.repeat(weights, u.rows, u.rows)), 1, dst)
	case u.a.Cols <= u.d.Cols:
		t.be.Gemm(true, false, 1, t.scaled(u.a, t.repeat(weights, u.rows, u.rows)), u.d, 1, dst)
	default:
		t.be.Gemm(true, false, 1, u.a, t.scaled(u.d, t.repeat(weights, u.rows, u.rows)), 1, dst)
	}
}

// scaledRecords returns m with one row for each row of the pass, scaled.
func (t *pass) scaledRecords(m device.Matrix, weights []float32) device.Matrix {
	m = m.Reshape(t.rows, m.Rows*m.Cols/t.rows)
	return t.scaled(m, t.repeat(weights, t.parts, t.parts))
}

// addPatchSum adds the product of patches with the other side; d is scaled.
func (t *pass) addPatchSum(u *use, d, dst device.Matrix) {
	images, m := u.a, d
	if u.lower == lowerD {
		images, m = d, u.a
	}
	if t.parts == 1 && t.g.joint && addConvolved(t.be, u.window, u.lower == lowerD, images, m, dst) {
		return
	}
	scaled := *u
	scaled.d = d
	t.chunks(&scaled, func(_, _ int, a, d device.Matrix) { t.be.Gemm(true, false, 1, a, d, 1, dst) })
}

// addBiasSum adds up the rows of d. In a critic, whose last parts have no bias, it adds up records
// first and then positions.
func (t *pass) addBiasSum(u *use, weights []float32, dst device.Matrix) {
	dst = dst.Reshape(1, dst.Rows*dst.Cols)
	switch {
	case u.mixed:
		t.be.Axpy(1, u.d, dst)
	case u.d.Rows == t.rows || weights == nil:
		t.be.ColSums(t.repeat(weights, t.parts, t.biased), u.d, 1, dst)
	case t.g.joint:
		t.be.ColSums(nil, t.scaledRecords(u.d, weights).Reshape(u.d.Rows, u.d.Cols), 1, dst)
	default:
		each := u.d.Rows / t.rows
		sum := t.scratch(1, 1, each*u.d.Cols)
		t.be.ColSums(t.repeat(weights, t.parts, t.biased), u.d.Reshape(t.rows, sum.Cols), 0, sum)
		t.be.ColSums(nil, sum.Reshape(each, u.d.Cols), 1, dst)
	}
}

// repeat returns a weight for every row: the record's weight for its first share rows, and zero for
// the other rows.
func (t *pass) repeat(weights []float32, rows, share int) []float32 {
	if weights == nil || rows == 1 {
		return weights
	}
	s := &t.summing
	s.weights = grow(s.weights, t.records()*rows)
	for i := range s.weights {
		s.weights[i] = 0
		if i%rows < share {
			s.weights[i] = weights[i/rows]
		}
	}
	return s.weights
}

// dropNonFinite clears factors that are not finite and belong to records of weight zero. Since
// 0·NaN is not 0, one such record would otherwise spoil the sum. If a delta is not finite, the
// norms of the matrix's and of the bias's gradients are not finite either, so both weights are
// zero.
func (t *pass) dropNonFinite(u *use, weight, bias []float32) {
	for i := range t.records() {
		if weight != nil && weight[i] == 0 {
			t.clearNonFinite(u.a, i)
		}
		if weight != nil && weight[i] == 0 || bias != nil && bias[i] == 0 {
			t.clearNonFinite(u.d, i)
		}
	}
}

// clearNonFinite clears the rows of record i that are not finite.
func (t *pass) clearNonFinite(m device.Matrix, i int) {
	s, each := &t.summing, m.Rows/t.records()
	s.nd = grow(s.nd, 1)
	for k := i * each; k < (i+1)*each; k++ {
		clearNonFinite(t.be, m.RowRange(k, k+1), s.nd)
	}
}

// AddFixedSum adds Σ wᵢ gᵢ to dst.
func (t *pass) AddFixedSum(dst device.Fixed, weights []float32) {
	t.AddFixedBlockSums(dst, t.forAll(weights))
}

// FixedForm has one term for each element, or one for each of a record's few rows.
func (t *pass) FixedForm() FixedForm {
	form := oneTerm
	for i := range t.list {
		switch u := &t.list[i]; {
		case u.mixed:
			return FixedForm{}
		case u.some():
			form = form.Worst(FixedForm{Terms: u.rows, Reach: cancelledReach})
		}
	}
	return fixedForm(t.be, form)
}

// cancelledReach is the FixedForm.Reach of uses with a few rows: rows of a record's gradient that
// cancel may each be larger than the clip norm.
const cancelledReach = 8

// AddFixedBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (t *pass) AddFixedBlockSums(dst device.Fixed, weights [][]float32) {
	be, ok := device.FixedSums(t.be)
	if !ok || t.rows == 0 {
		return
	}
	for i := range t.list {
		u := &t.list[i]
		weight, bias := u.of(weights)
		t.dropNonFinite(u, weight, bias)
		if u.weight >= 0 {
			t.addFixedMatrix(be, u, weight, dst.Block(u.weight))
		}
		if u.bias >= 0 {
			t.addFixedBias(be, u, bias, dst.Block(u.bias))
		}
	}
}

// addFixedMatrix adds a few products one by one. More rows are added up to each record's gradient
// before it is rounded, because the terms of different rows may cancel.
func (t *pass) addFixedMatrix(be device.FixedSummer, u *use, weights []float32,
	dst device.FixedBlock) {
	if u.lower != lowerNone || u.rows > few && !u.apart {
		t.chunks(u, func(lo, hi int, a, d device.Matrix) {
			be.AddFixedBlocks(weights[lo:hi], u.rows, a, d, dst)
		})
		return
	}
	weights = t.repeat(t.within(u, true, weights, u.rows, dst.Limit), u.rows, u.rows)
	switch {
	case u.sparse != nil:
		be.AddFixedSparse(u.sparse, t.odd(be, u.d, weights), dst)
	case u.a.Cols <= u.d.Cols:
		be.AddFixedProduct(t.odd(be, u.a, weights), u.d, dst)
	default:
		be.AddFixedProduct(u.a, t.odd(be, u.d, weights), dst)
	}
}

func (t *pass) addFixedBias(be device.FixedSummer, u *use, weights []float32,
	dst device.FixedBlock) {
	dst.Rows, dst.Cols = 1, dst.Rows*dst.Cols
	if u.lower != lowerNone || u.rows > few {
		step := 1 // in a cache, one record's ones are enough; a device takes all records at once
		if t.stage.remote {
			step = max(len(weights), 1)
		}
		ones := t.ones(u, step)
		for i := 0; i < len(weights); i += step {
			be.AddFixedBlocks(weights[i:i+step], u.rows, ones, u.d.RowRange(i*u.rows, (i+step)*u.rows),
				dst)
		}
		return
	}
	share := t.biasedRows(u)
	weights = t.within(u, false, weights, share, dst.Limit)
	be.AddFixedRows(t.repeat(weights, u.rows, share), u.d, dst)
}

// within returns the weights, reduced where the products of a record's first rows would otherwise
// exceed the limit before they cancel. The weight scales the record's whole row, so the norm of the
// row only decreases.
func (t *pass) within(u *use, product bool, weights []float32, share int, limit float64) []float32 {
	if u.rows == 1 || u.apart {
		return weights
	}
	s := &t.summing
	s.nd = grow(s.nd, u.d.Rows)
	d := s.nd
	t.be.RowSquaredNorms(d, u.d)
	if product {
		s.na = grow(s.na, u.a.Rows)
		t.be.RowSquaredNorms(s.na, u.a)
		for k, a := range s.na {
			d[k] *= a
		}
	}
	s.fewer = grow(s.fewer, t.records())
	for i, w := range weights[:t.records()] {
		if s.fewer[i] = w; w != 0 {
			s.fewer[i] = within(w, sizeOf(d, i, u.rows, share), limit)
		}
	}
	return s.fewer
}
