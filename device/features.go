package device

// FeatureSlopes is a backend that goes back from cosines and sines without computing them again.
type FeatureSlopes interface {
	// CosSinSlopes turns features, the dst of CosSin, into derivatives by src: the left half of row i
	// becomes cos∘b − sin∘a, where row i/each of pulls, the derivative by the features, is [a | b].
	// The right half is scratch then.
	//
	// Shapes: features is rows×2n, pulls has 2n columns and a row for every each rows of features.
	CosSinSlopes(features, pulls Matrix, each int)
}

// CosSinSlopes goes back row by row.
func (c *cpu) CosSinSlopes(features, pulls Matrix, each int) {
	features.check("CosSinSlopes")
	if each < 1 || features.Cols%2 != 0 {
		panic("device: CosSinSlopes: features come in pairs, and rows in groups of at least one")
	}
	pulls.checkShape("CosSinSlopes", (features.Rows+each-1)/each, features.Cols)
	if features.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.block = features, pulls, each
	c.rows(j, doCosSinSlopes, features.Rows, 2*features.Cols)
	c.done(j)
}

func doCosSinSlopes(j *job, lo, hi int) {
	n := j.a.Cols / 2
	for i := lo; i < hi; i++ {
		row, pull := j.a.Row(i), j.b.Row(i/j.block)
		cos, sin := row[:n], row[n:]
		j.kernels.mul(sin, sin, pull[:n])
		j.kernels.mul(cos, cos, pull[n:])
		j.kernels.sub(cos, cos, sin)
	}
}
