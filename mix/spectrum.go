package mix

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// spectrum is the part of a covariance that exceeds white noise.
type spectrum struct {
	vectors *mat.Dense // eigenvectors, as columns
	values  []float64
}

// spikes estimates the part of a covariance that exceeds noise·I, from the sample covariance s. Let
// γ = dimension ÷ rows. If a direction's excess x, in units of the noise, is larger than √γ, the
// sample eigenvalue is about (1+x)(1+γ/x). A smaller excess cannot be told from noise.
func spikes(s *mat.SymDense, noise float64, rows int) spectrum {
	var eigen mat.EigenSym
	n := s.SymmetricDim()
	if !eigen.Factorize(s, true) {
		return spectrum{}
	}
	var all mat.Dense
	eigen.VectorsTo(&all)
	gamma := float64(n) / float64(max(rows, 1))
	// The factor 1.02 allows for the random variation of pure noise's largest eigenvalue.
	edge := (1 + math.Sqrt(gamma)) * (1 + math.Sqrt(gamma)) * 1.02
	var out spectrum
	var keep []int
	values := eigen.Values(nil)
	for i := n - 1; i >= 0; i-- {
		r := values[i] / noise
		if !(r > edge) {
			break
		}
		b := r - 1 - gamma
		out.values = append(out.values, noise*(b+math.Sqrt(max(0, b*b-4*gamma)))/2)
		keep = append(keep, i)
	}
	if len(keep) == 0 {
		return spectrum{}
	}
	out.vectors = mat.NewDense(n, len(keep), nil)
	for k, i := range keep {
		for j := range n {
			out.vectors.Set(j, k, all.At(j, i))
		}
	}
	return out
}

// over divides the values by the number of records in a sum.
func (s spectrum) over(held float64) spectrum {
	for i := range s.values {
		s.values[i] /= held
	}
	return s
}

// factor returns F such that F Fᵀ is the spectrum's covariance, or nil if the covariance is zero.
func (s spectrum) factor() *mat.Dense {
	if s.vectors == nil {
		return nil
	}
	f := mat.DenseCopyOf(s.vectors)
	for k, v := range s.values {
		for j := range f.RawMatrix().Rows {
			f.Set(j, k, f.At(j, k)*math.Sqrt(v))
		}
	}
	return f
}

// beside returns a factor of the covariance of s plus the part of o's covariance in the directions
// that s does not contain.
func (s spectrum) beside(o spectrum, dim int) *mat.Dense {
	own, rest := s.factor(), o.factor()
	switch {
	case own == nil && rest == nil:
		return mat.NewDense(dim, 1, nil) // nothing exceeds the noise: draw the class's mean
	case own == nil:
		return rest
	case rest == nil:
		return own
	}
	var along, back mat.Dense
	along.Mul(s.vectors.T(), rest)
	back.Mul(s.vectors, &along)
	rest.Sub(rest, &back)
	var both mat.Dense
	both.Augment(own, rest)
	return &both
}
