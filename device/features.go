package device

import "fmt"

// FeatureSlopes is a backend that computes the derivative of CosSin from the result of CosSin,
// without computing cosines and sines again.
type FeatureSlopes interface {
	// CosSinSlopes replaces features, the result of CosSin, with the derivative with respect to src.
	// Let row i of features be [c | s], and let row i/each of pulls, the derivative with respect to
	// these features, be [a | b]. The left half of row i of features becomes c∘b − s∘a. The right half
	// is undefined afterwards.
	//
	// Shapes: features is rows×2n, pulls is ⌈rows/each⌉×2n.
	CosSinSlopes(features, pulls Matrix, each int)
}

// CosSinSlopes implements [FeatureSlopes].
func (c *cpu) CosSinSlopes(features, pulls Matrix, each int) {
	features.check("CosSinSlopes")
	if each < 1 || features.Cols%2 != 0 {
		panic(fmt.Sprintf("device: CosSinSlopes: %d columns and groups of %d rows; want an even number "+
			"of columns and groups of at least 1 row", features.Cols, each))
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
