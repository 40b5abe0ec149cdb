package privacytest

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// mostCorrelated bounds the outputs whose correlations are measured.
const mostCorrelated = 100

// directions returns scores along the linear discriminants of two data sets (Fisher 1936), which
// are combinations of the outputs with much difference and little noise. If the noise of several
// outputs cancels in a combination of them, no single output shows it. The first score assumes the
// noise of the first data set, and the second score the noise of the second one.
func directions(a, b [][]float64, dim int) []score {
	dim = min(dim, mostCorrelated)
	x, y := matrixOf(a, dim), matrixOf(b, dim)
	list := discriminant("the likelihood direction", x, y)
	return append(list, discriminant("the likelihood direction given D1", y, x)...)
}

// matrixOf returns the outputs as rows. Outputs that are missing or not finite are zero.
func matrixOf(outs [][]float64, dim int) *mat.Dense {
	m := mat.NewDense(len(outs), dim, nil)
	for i, o := range outs {
		for j, v := range o[:min(len(o), dim)] {
			if v-v == 0 {
				m.Set(i, j, v)
			}
		}
	}
	return m
}

func discriminant(name string, x, y *mat.Dense) []score {
	_, dim := x.Dims()
	var noise mat.SymDense
	stat.CovarianceMatrix(&noise, x, nil)
	mean, shift := make([]float64, dim), make([]float64, dim)
	for j := range mean {
		mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
		shift[j] = stat.Mean(mat.Col(nil, j, y), nil) - mean[j]
		// The ridge is far below noise and above rounding errors, so directions without noise dominate.
		noise.SetSym(j, j, noise.At(j, j)*(1+1e-10)+1e-300)
	}
	var c mat.Cholesky
	var direction mat.VecDense
	if !c.Factorize(&noise) {
		return nil
	}
	// The error is a bad condition, which is what the score looks for.
	_ = c.SolveVecTo(&direction, mat.NewVecDense(dim, shift))
	return []score{{name, func(o []float64) float64 {
		s := 0.0
		for j, v := range o[:min(len(o), dim)] {
			s += direction.AtVec(j) * (v - mean[j])
		}
		return s
	}}}
}
