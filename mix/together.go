package mix

import (
	"gonum.org/v1/gonum/mat"
)

// together reads class means and one covariance off mixtures of all classes.
//
// In units of sums a row is X = M·N + (within classes) + noise, where N counts the records of every
// class, of which the noisy label Y is seen. Regression gives M, and Cov(Y) = Cov(N) + s_Y²·I; what
// Cov(X) has above M·Cov(N)·Mᵀ and the noise is the covariance within classes, as often as there
// are records.
func (e *estimator) together(out *Moments) {
	m := e.model
	classes := m.rows.Classes()
	counts, mean := e.labels()
	center := m.center(0)
	u, sum := e.coefficients(m.of(0), center)
	means, _ := regression(e.cross(center, sum, mean), counts, sum, mean)
	weights, total := shares(mean)
	out.weights = weights
	for class := range classes {
		row := mat.Col(nil, class, means)
		for j, v := range center {
			row[j] += float64(v)
		}
		out.means = append(out.means, row)
	}
	s := e.covariance(u)
	e.within(s, means, counts)
	common := spikes(s, m.work.std*m.work.std, m.rows.Len()).over(max(total, 1))
	for range classes {
		out.factors = append(out.factors, common.beside(spectrum{}, e.basis.rows.Rows))
	}
}

// shares are the parts of noisy counts, clamped at zero, of their total; equal parts if none is
// positive.
func shares(counts []float64) (parts []float64, total float64) {
	for _, n := range counts {
		total += max(n, 0)
	}
	for _, n := range counts {
		part := 1 / float64(len(counts))
		if total > 0 {
			part = max(n, 0) / total
		}
		parts = append(parts, part)
	}
	return parts, total
}

// labels gives the covariance of the counts of every class in a mixture, and what the noisy labels
// average to.
func (e *estimator) labels() (counts *mat.SymDense, mean []float64) {
	m := e.model
	k, n, degree := m.rows.Classes(), m.rows.Len(), float64(m.work.degree())
	mean = make([]float64, k)
	for t := range n {
		for c, v := range m.rows.Labels(t) {
			mean[c] += float64(v) * degree / float64(n)
		}
	}
	counts = mat.NewSymDense(k, nil)
	d := mat.NewVecDense(k, nil)
	for t := range n {
		for c, v := range m.rows.Labels(t) {
			d.SetVec(c, float64(v)*degree-mean[c])
		}
		counts.SymRankOne(counts, 1/float64(n), d)
	}
	_, y := m.work.noise()
	addIdentity(counts, -y*y*degree*degree)
	for c := range k {
		counts.SetSym(c, c, max(counts.At(c, c), 1e-3*degree)) // noise may have left nothing
	}
	return counts, mean
}

// cross is Cov(X, Y).
func (e *estimator) cross(center []float32, sum, mean []float64) *mat.Dense {
	m := e.model
	degree := float64(m.work.degree())
	out := mat.NewDense(m.rows.Dim(), m.rows.Classes(), nil)
	n := float64(m.rows.Len())
	for t := range m.rows.Len() {
		y := m.rows.Labels(t)
		for j, v := range m.rows.Features(t) {
			x := float64(v)
			if center != nil {
				x -= float64(center[j])
			}
			x = (x*degree - sum[j]) / n
			dst := out.RawRowView(j)
			for c, w := range y {
				dst[c] += x * (float64(w)*degree - mean[c])
			}
		}
	}
	return out
}

// within takes M·Cov(N)·Mᵀ out of a covariance in the basis.
func (e *estimator) within(s *mat.SymDense, means *mat.Dense, counts *mat.SymDense) {
	k, classes := e.basis.rows.Rows, e.model.rows.Classes()
	b := mat.NewDense(k, classes, nil)
	for c := range classes {
		b.SetCol(c, e.inBasis(mat.Col(nil, c, means)))
	}
	var half, all mat.Dense
	half.Mul(b, counts)
	all.Mul(&half, b.T())
	for i := range k {
		for j := i; j < k; j++ {
			s.SetSym(i, j, s.At(i, j)-(all.At(i, j)+all.At(j, i))/2)
		}
	}
}
