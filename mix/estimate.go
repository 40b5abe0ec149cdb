package mix

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
)

// estimator estimates moments from released rows. It first converts each row to a sum: the degree
// times the difference between the row and the released centre. All estimates are in units of sums.
type estimator struct {
	*Model
	be    device.Backend
	noise float64 // variance of the noise on one coordinate of a sum
}

// part holds the estimates from the mixtures of one part.
type part struct {
	rows   int
	x      device.Matrix // the sums
	sum    []float64     // their average
	center []float32     // released centre; nil if there is none
	held   float64       // mean number of records in a sum
	mean   []float64     // mean record
}

// part returns the estimates from the mixtures of a part.
func (e *estimator) part(i int) part {
	rows := e.of(i)
	p := part{rows: len(rows), center: e.center(i), held: e.held(i, rows)}
	p.x, p.sum = e.sums(rows, p.center)
	p.mean = e.mean(p)
	return p
}

// center returns the released centre of a part, or nil if there is none.
func (m *Model) center(part int) []float32 {
	if m.centers == nil {
		return nil
	}
	return m.centers[part]
}

// sums converts the given rows to sums, as deviations from a centre, and also returns the mean of
// these sums. Rows may come from any file: NaN counts as zero, and other values are clamped to
// prevent overflow.
func (e *estimator) sums(of []int, center []float32) (x device.Matrix, mean []float64) {
	degree, n, dim := float64(e.work.degree()), len(of), e.rows.dim
	x, mean = device.HostMatrix(n, dim, make([]float32, n*dim)), make([]float64, dim)
	for i, t := range of {
		dst := x.Row(i)
		for j, v := range e.rows.Features(t) {
			d := float64(v)
			if center != nil {
				d -= float64(center[j])
			}
			if d != d {
				d = 0
			}
			d = within(d*degree, -1e12, 1e12)
			dst[j] = float32(d)
			mean[j] += d / float64(n)
		}
	}
	return x, mean
}

// held estimates from the noisy labels how many records a mixture of the class contains on average.
func (e *estimator) held(class int, rows []int) float64 {
	sum, degree := 0.0, float64(e.work.degree())
	for _, t := range rows {
		sum += float64(e.rows.Labels(t)[class])
	}
	return within(sum/float64(max(len(rows), 1))*degree, 1e-3*degree, 1e12)
}

// mean returns the mean record of a part. It is the average of the released centre and the
// mixtures' mean, weighted by their precision.
func (e *estimator) mean(p part) []float64 {
	weight, c := 1.0, e.work.config
	if p.center != nil {
		n, degree := c.Sampling.public()
		ofMixtures := e.noise / float64(p.rows) / p.held / p.held
		size := p.held / float64(degree) * float64(n) / float64(c.parts())
		std := e.work.centerStd()
		ofCenter := std * std / size / size
		weight = ofCenter / (ofCenter + ofMixtures)
	}
	out := make([]float64, len(p.sum))
	for j, v := range p.sum {
		out[j] = weight * v / p.held
	}
	return moved(out, p.center)
}

// moved adds center to mean, in place; center may be nil.
func moved(mean []float64, center []float32) []float64 {
	for j, v := range center {
		mean[j] += float64(v)
	}
	return mean
}

// covariance centres the rows of u in place and returns their covariance.
func (e *estimator) covariance(u device.Matrix) *mat.SymDense {
	k := u.Cols
	sums := device.HostMatrix(1, k, make([]float32, k))
	e.be.ColSums(nil, u, 0, sums)
	for i := range u.Rows {
		row := u.Row(i)
		for j, v := range sums.Data {
			row[j] -= v / float32(u.Rows)
		}
	}
	g := device.HostMatrix(k, k, make([]float32, k*k))
	e.be.Gemm(true, false, 1/float32(max(u.Rows, 1)), u, u, 0, g)
	s := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			s.SetSym(i, j, finite(float64(g.Data[i*k+j])))
		}
	}
	return s
}

// finite returns v, or 0 if v is not finite. Rows may come from any file.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// within clamps x to [lo, hi]; NaN becomes lo.
func within(x, lo, hi float64) float64 {
	if !(x > lo) {
		return lo
	}
	return math.Min(x, hi)
}

// A fit holds the estimates from mixtures of all classes, by regression on their noisy labels. In
// units of sums a row is X = M·N + (deviations within classes) + noise. The vector N has the number
// of records of each class. The noisy label Y is N plus noise, so Cov(Y) = Cov(N) + s_Y²·I.
// Subtracting M·Cov(N)·Mᵀ and the noise from Cov(X) leaves the covariance within classes times the
// number of records.
type fit struct {
	x        device.Matrix // the sums
	counts   *mat.SymDense // Cov(N)
	means    *mat.Dense    // M: deviations from the centre, one column for each class
	inverse  *mat.Dense    // of E[N·Nᵀ]
	records  [][]float64   // mean record of every class
	shares   []float64     // fractions of the classes
	together float64       // mean number of records in a mixture
}

// regress returns the estimates from mixtures of all classes.
func (e *estimator) regress() fit {
	var f fit
	var label, sum []float64
	f.counts, label = e.labels()
	f.x, sum = e.sums(e.of(0), e.center(0))
	f.means, f.inverse = regression(e.cross(f.x, sum, label), f.counts, sum, label)
	for class, n := range label {
		f.records = append(f.records, moved(mat.Col(nil, class, f.means), e.center(0)))
		f.shares = append(f.shares, max(n, 0))
		f.together += max(n, 0)
	}
	defaults.NormaliseCounts(f.shares)
	return f
}

// labels returns the covariance of the class counts in a mixture, and the mean of the noisy
// labels.
func (e *estimator) labels() (counts *mat.SymDense, mean []float64) {
	k, n, degree := e.rows.classes, e.rows.Len(), float64(e.work.degree())
	mean = make([]float64, k)
	for t := range n {
		for c, v := range e.rows.Labels(t) {
			mean[c] += float64(v) * degree / float64(n)
		}
	}
	counts = mat.NewSymDense(k, nil)
	d := mat.NewVecDense(k, nil)
	for t := range n {
		for c, v := range e.rows.Labels(t) {
			d.SetVec(c, float64(v)*degree-mean[c])
		}
		counts.SymRankOne(counts, 1/float64(n), d)
	}
	_, y := e.work.noise()
	addIdentity(counts, -y*y*degree*degree)
	for c := range k {
		counts.SetSym(c, c, max(counts.At(c, c), 1e-3*degree)) // the noise may exceed the variance
	}
	return counts, mean
}

// cross returns the covariance between the sums and the noisy class counts.
func (e *estimator) cross(x device.Matrix, sum, label []float64) *mat.Dense {
	degree, n := float64(e.work.degree()), float64(x.Rows)
	out := mat.NewDense(x.Cols, len(label), nil)
	for t := range x.Rows {
		y := e.rows.Labels(t)
		for j, v := range x.Row(t) {
			d, dst := (float64(v)-sum[j])/n, out.RawRowView(j)
			for c, w := range y {
				dst[c] += d * (float64(w)*degree - label[c])
			}
		}
	}
	return out
}

// regression computes the mean record of every class. Given the vector N of class counts, the mean
// of a sum X is M·N. The noisy label Y is N plus noise. So M = E[X·Yᵀ]·(E[Y·Yᵀ] − s²I)⁻¹. Second
// moments are not centred, because the mean of all mixtures also contains information about M. If
// every mixture has the same size, centred moments leave one direction undetermined.
//
// Shapes: cross is the covariance of X and Y, and counts is the covariance of N; sum and label are
// the means of X and Y.
func regression(cross *mat.Dense, counts *mat.SymDense,
	sum, label []float64) (means, inverse *mat.Dense) {
	x, y := mat.NewVecDense(len(sum), sum), mat.NewVecDense(len(label), label)
	second := mat.NewSymDense(len(label), nil)
	second.SymRankOne(counts, 1, y)
	inverse, means = invert(second), new(mat.Dense)
	var all mat.Dense
	all.Outer(1, x, y)
	all.Add(&all, cross)
	means.Mul(&all, inverse)
	return means, inverse
}

// invert returns the inverse of a matrix plus the smallest ridge that makes it invertible.
func invert(s *mat.SymDense) *mat.Dense {
	n := s.SymmetricDim()
	for ridge := 1e-9; ridge < 1; ridge *= 10 {
		var out mat.Dense
		if out.Inverse(s) == nil {
			return &out
		}
		addIdentity(s, ridge*math.Abs(mat.Trace(s)))
	}
	return mat.NewDense(n, n, nil) // never for rows that a run released; all means become 0
}

// takeBetween subtracts M·Cov(N)·Mᵀ from a covariance.
func takeBetween(s *mat.SymDense, means mat.Matrix, counts *mat.SymDense) {
	var half, all mat.Dense
	half.Mul(means, counts)
	all.Mul(&half, means.T())
	for i := range s.SymmetricDim() {
		for j := i; j < s.SymmetricDim(); j++ {
			s.SetSym(i, j, s.At(i, j)-finite((all.At(i, j)+all.At(j, i))/2))
		}
	}
}

func addIdentity(s *mat.SymDense, v float64) {
	for i := range s.SymmetricDim() {
		s.SetSym(i, i, s.At(i, i)+v)
	}
}
