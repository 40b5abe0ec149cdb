package main

// edgeAgain returns code that adds the last image of a chunk to dst once more.
func edgeAgain(dst string) string {
	return "\t\tif hi < x.Rows {\n" +
		"\t\t\tpatches = w.patches(u.window, 1)\n" +
		"\t\t\tu.be.Im2Col(u.window, patches, x.RowRange(hi-1, hi))\n" +
		"\t\t\tu.be.Gemm(true, false, 1, patches, u.places(scaled.RowRange(hi-1, hi)), 1, " +
		dst + ")\n\t\t}"
}

// modelMutants returns faults in per-example norms and sums of networks.
func modelMutants() []mutant {
	const in = "models"
	all := at(in, "")
	return []mutant{
		{Name: "models/biases are left out of norms", In: in, Tests: all,
			Old: "dst[i] += (bounded(na[i]) + 1) * bounded(nd[i])",
			New: "dst[i] += bounded(na[i]) * bounded(nd[i])",
			Why: "a clipped gradient is longer than its clip"},
		{Name: "models/a machine's batch is within reach of fmt", In: in, Tests: at(in, "TestNetworks"),
			Old: "type rbm struct{ *rbmState }",
			New: "type rbm struct {\n\t*rbmState\n\tx record\n}",
			Why: "a network in an unexported field prints records"},
		{Name: "models/losses are within reach of fmt", In: in, Tests: at(in, "TestNetworks"),
			Old: "type Classifier struct{ *hiddenClassifier }",
			New: "type Classifier struct {\n\t*hiddenClassifier\n\tlosses []float64\n}",
			Why: "a classifier prints private losses"},
		{Name: "models/gradients of a critic print their records", In: in,
			Tests: at(in, "TestNetworks"),
			Old:   "{ p.n.Format(f, verb) }", New: "{ _, _ = fmt.Fprint(f, p.x, verb) }",
			Why: "a log of gradients holds records"},
		{Name: "models/biases of units are left out of norms", In: in, Tests: all,
			Old: "dst[i] += (a[i] + 1) * d[i]", New: "dst[i] += a[i] * d[i]",
			Why: "a clipped gradient is longer than its clip"},
		{Name: "models/what an architecture's file says is not validated", In: in,
			Tests: at(in, "TestArchitectureJSON"),
			Old:   "a.Interface().(interface{ Validate() error }).Validate(); err != nil {",
			New:   "error(nil); err != nil {",
			Why:   "a plan's file names a network that cannot be made"},
		{Name: "models/factors without bound", In: in, Tests: all,
			Old: "if squared < largeSquare {", New: "if squared < largeSquare*largeSquare {",
			Why: "products with a clipped row overflow"},
		{Name: "models/an item listed twice counts once", In: in, Tests: all,
			Old: "if !strictlyIncreasing(items) {", New: "if false {",
			Why: "norms of repeated items are too small"},
		{Name: "models/zero times NaN", In: in, Tests: all,
			Old: "t.dropNonFinite(l, w, weights[2*l+1])\n\t\tswitch {\n" +
				"\t\tcase l == 0 && t.x.sparse != nil:\n\t\t\tbe.SparseGemmT",
			New: "switch {\n\t\tcase l == 0 && t.x.sparse != nil:\n\t\t\tbe.SparseGemmT",
			Why: "one bad record makes the sum NaN"},
		{Name: "models/zero times NaN in fixed point", In: in, Tests: at(in, "FixedSums"),
			Old: "t.dropNonFinite(l, w, weights[2*l+1])\n\t\tswitch {\n" +
				"\t\tcase l == 0 && t.x.sparse != nil:\n\t\t\tbe.AddFixedSparse",
			New: "switch {\n\t\tcase l == 0 && t.x.sparse != nil:\n\t\t\tbe.AddFixedSparse",
			Why: "one bad record makes the sum NaN"},
		{Name: "models/zero times NaN in chains in fixed point", In: in, Tests: at(in, "FixedSums"),
			Old: "w.dropNonFinite(weights)\n\tfor l, u := range w.c.units {\n\t\tw.fixed",
			New: "for l, u := range w.c.units {\n\t\tw.fixed",
			Why: "one bad record makes the sum NaN"},
		{Name: "models/zero times NaN in critics in fixed point", In: in, Tests: at(in, "FixedSums"),
			Old: "p.dropNonFinite(x, delta, weights[b], weights[b+1])\n\t\tu.fixedWeights",
			New: "u.fixedWeights",
			Why: "one bad record makes the sum NaN"},
		{Name: "models/zero times NaN in chains", In: in, Tests: all,
			Old: "w.dropNonFinite(weights)\n\tfor l, u := range w.c.units {\n\t\tw.blocks",
			New: "for l, u := range w.c.units {\n\t\tw.blocks",
			Why: "one bad record makes the sum NaN"},
		{Name: "models/a convolution's bias is left out of its norm", In: in, Tests: all,
			Old: "u.be.Fill(longer.Slice(0, longer.Rows, size, size+1), 1)",
			New: "u.be.Fill(longer.Slice(0, longer.Rows, size, size+1), 0)",
			Why: "a clipped gradient is longer than its clip"},
		{Name: "models/a convolution states no norm", In: in, Tests: all,
			Old: "longer,\n\t\t\tu.places(delta.RowRange(lo, hi)))\n\t}\n\taddTo(dst, product)",
			New: "longer,\n\t\t\tu.places(delta.RowRange(lo, hi)))\n\t}\n\taddTo(dst, product[:0])",
			Why: "convolutions are not clipped"},
		{Name: "models/a convolution takes any factor", In: in, Tests: all,
			Old: "w.reject(x, delta, dst)\n\tproduct, size :=", New: "product, size :=",
			Why: "products with a clipped row overflow"},
		{Name: "models/a convolution's image at a chunk's edge counts twice", In: in, Tests: all,
			Old: "u.be.Im2Col(u.window, patches, x.RowRange(lo, hi))\n\t\tu.be.Gemm(true, false, 1, " +
				"patches, u.places(scaled.RowRange(lo, hi)), 1, blocks[0])",
			New: "u.be.Im2Col(u.window, patches, x.RowRange(lo, hi))\n\t\tu.be.Gemm(true, false, 1, " +
				"patches, u.places(scaled.RowRange(lo, hi)), 1, blocks[0])\n" +
				edgeAgain("blocks[0]"),
			Why: "one record changes the sum by twice the clip norm"},
		{Name: "models/an image at a chunk's edge has no norm", In: in, Tests: all,
			Old: "u.be.BlockProductNorms(product[lo:hi], u.window.Places(), longer,\n" +
				"\t\t\tu.places(delta.RowRange(lo, hi)))",
			New: "u.be.BlockProductNorms(product[lo:hi], u.window.Places(), longer,\n" +
				"\t\t\tu.places(delta.RowRange(lo, hi)))\n\t\tif hi < x.Rows {\n\t\t\tproduct[hi-1] = 0\n" +
				"\t\t}",
			Why: "this record is not clipped"},
		{Name: "models/a machine's norm ignores its rounding", In: in, Tests: all,
			Old: "return max(product-2*cross+squared, 0) + 2*gamma*root + rounding",
			New: "return max(product-2*cross+squared, 0) + 0*(gamma*root+rounding)",
			Why: "where terms nearly cancel the norm is too small, so that the clipping fails"},
		{Name: "models/a machine's norm without its centre", In: in, Tests: all,
			Old: "return max(product-2*cross+squared, 0)", New: "return max(product-2*cross, 0)",
			Why: "norms are too small"},
		{Name: "models/a machine's negative phase is not clipped", In: in, Tests: all,
			Old: "n.chains.addMeans(dst, float32(total))", New: "n.chains.addMeans(dst, float32(n.rows))",
			Why: "the number of records in the batch is released"},
		{Name: "models/a machine's bias is left out of its norm", In: in, Tests: all,
			Old: "product := (bounded(vv[i]) + 1) * bounded(hh[i])",
			New: "product := bounded(vv[i]) * bounded(hh[i])",
			Why: "norms are too small"},
		{Name: "models/a decoder is left out of the norm", In: in, Tests: all,
			Old: "n.encT.addSquaredNorms(dst)\n\tn.decT.addSquaredNorms(dst)",
			New: "n.encT.addSquaredNorms(dst)",
			Why: "encoder and decoder are one gradient and are clipped as one"},
		{Name: "models/a record's draw goes by its place", In: in,
			Tests: append(at(in, ""), at("sgd", "MicroBatches")...),
			Old:   "if b.Keys != nil {\n\t\t\tkey = b.Keys[i]", New: "if false {\n\t\t\tkey = b.Keys[i]",
			Why: "a record's randomness depends on who else is in the batch"},
		{Name: "models/batch norm states norms", In: in, Tests: all,
			Old: "func (u *batchNorm) addNorms(_ *walk, _, _ device.Matrix, dst []float64) {\n\tfor i " +
				":= range dst {\n\t\tdst[i] = math.NaN()",
			New: "func (u *batchNorm) addNorms(_ *walk, _, _ device.Matrix, dst []float64) {\n\tfor i " +
				":= range dst {\n\t\tdst[i] += math.Abs(1)",
			Why: "gradients that depend on several records are accepted as those of one"},
		{Name: "models/a label that does not exist", In: in, Tests: all,
			Old: "b.Labels[i] < 0 || int(b.Labels[i]) >= len(delta) {", New: "b.Labels[i] < 0 {",
			Why: "the label of one record ends the process"},
	}
}

// criticMutants returns faults in critics, whose gradients have several parts for each record.
func criticMutants() []mutant {
	const in = "models"
	all := at(in, "Critic|GAN|FactorsBeyond")
	return []mutant{
		{Name: "models/parts of a critic's gradient do not mix in its norm", In: in, Tests: all,
			Old: "weight[i] += 2 * g.ad[i] * g.dd[i]", New: "weight[i] += 0 * g.ad[i] * g.dd[i]",
			Why: "norms are too small where parts agree"},
		{Name: "models/parts of a critic's biases do not mix in their norm", In: in, Tests: all,
			Old: "bias[i] += 2 * g.dd[i]", New: "bias[i] += 0 * g.dd[i]",
			Why: "norms are too small where parts agree"},
		{Name: "models/a critic's bias norms leave out a part", In: in, Tests: all,
			Old: "if k%p.parts < p.biased {\n\t\t\t\tbias[i] += g.d[k]",
			New: "if k%p.parts < p.biased-1 {\n\t\t\t\tbias[i] += g.d[k]",
			Why: "norms are too small"},
		{Name: "models/a critic's norms ignore what cancels", In: in, Tests: all,
			Old: "weight[i] = above(weight[i], slack, sw)\n" +
				"\t\tbias[i] = above(bias[i], slack, p.size(p.gram.d, i, p.biased))",
			New: "_, _ = slack, sw",
			Why: "parts that nearly cancel get weights without bound"},
		{Name: "models/a critic's convolution takes any factor", In: in, Tests: all,
			Old: "ones, u.places(delta.RowRange(lo*p.parts, hi*p.parts)))\n\t}\n\tp.reject(x, delta, " +
				"weight, bias)",
			New: "ones, u.places(delta.RowRange(lo*p.parts, hi*p.parts)))\n\t}",
			Why: "products with a clipped row overflow"},
		{Name: "models/a critic's image at a chunk's edge counts twice", In: in, Tests: all,
			Old: "u.be.Gemm(true, false, 1, patches, u.places(scaled.RowRange(lo, hi)), 1, dst)",
			New: "u.be.Gemm(true, false, 1, patches, u.places(scaled.RowRange(lo, hi)), 1, dst)\n" +
				edgeAgain("dst"),
			Why: "one record changes the sum by twice the clip norm"},
		{Name: "models/a critic's image at a chunk's edge has no norm", In: in, Tests: all,
			Old: "u.be.BlockProductNorms(weight[lo:hi], p.parts*places, patches,",
			New: "u.be.BlockProductNorms(weight[lo:hi-min(hi-lo-1, p.rows-hi)], p.parts*places, patches,",
			Why: "this record is not clipped"},
		{Name: "models/a critic's weights go to the wrong record", In: in, Tests: all,
			Old: "p.weights[i] = weights[i/p.parts]", New: "p.weights[i] = weights[0*i]",
			Why: "clip factors of one record are used for another"},
		{Name: "models/biases get a share of the penalty", In: in, Tests: all,
			Old: "if i%p.parts < share {", New: "if share > 0 {",
			Why: "the sum contains a term that the norm does not"},
		{Name: "models/zero times NaN in critics", In: in, Tests: all,
			Old: "p.dropNonFinite(x, delta, weights[b], weights[b+1])\n\t\tu.weightSum", New: "u.weightSum",
			Why: "one bad record makes the sum NaN"},
	}
}
