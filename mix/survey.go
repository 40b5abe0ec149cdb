package mix

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/counts"
)

// A survey is what released rows say of records: class means, and a covariance of sums. Sums are
// rows times the degree, less the degree times the centre.
type survey struct {
	model  *Model
	shares []float64
	means  [][]float64   // of every class, in the records' coordinates
	within *mat.SymDense // covariance of sums that is left once the classes' means are taken out
	noise  float64       // variance of the noise in a coordinate of a sum
	spread float64       // how many records' covariances a sum holds
}

func newSurvey(m *Model) *survey {
	s := &survey{model: m, noise: m.work.std * m.work.std}
	switch c := m.work.config; {
	case c.Schema.Classes() == 0:
		s.whole()
	case c.ByClass:
		s.byClass()
	default:
		s.regress()
	}
	there := 0.0
	for class, mean := range s.means {
		there += s.shares[class] * tidy(m.work.config, mean)
	}
	s.spread *= there
	return s
}

// left is the part of a record's variance that its mixture shows, one less the probability of
// being drawn: what a binomial or a subset varies by.
func (s *survey) left() float64 { return math.Max(1-s.model.work.config.rate(), 1e-3) }

// sums reads some rows as deviations from a centre. Rows may come out of any file: what is not
// finite counts as nothing, and the rest stays far from overflow.
func (s *survey) sums(of []int, center []float32) (x device.Matrix, mean []float64) {
	rows, degree := s.model.rows, float64(s.model.work.degree())
	n := len(of)
	x, mean = device.HostMatrix(n, rows.dim, make([]float32, n*rows.dim)), make([]float64, rows.dim)
	for i, t := range of {
		dst := x.Row(i)
		for j, v := range rows.Features(t) {
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

// whole surveys records without labels. How many a mixture holds is not released: the degree
// stands for it, and levels of a table are rescaled by their sum.
func (s *survey) whole() {
	m := s.model
	held := float64(m.work.degree())
	x, sum := s.sums(m.of(0), m.center(0))
	s.within = (&estimator{model: m, be: device.CPU()}).covariance(x)
	s.takeMean(s.within, sum, held)
	s.spread = held * s.left()
	mean := (&estimator{model: m}).mean(sum, m.center(0), held, m.rows.Len())
	s.means = [][]float64{s.shrunk(mean, math.Sqrt(s.noise/float64(m.rows.Len()))/held)}
	s.shares = []float64{1}
}

// byClass surveys every class by its own mixtures, and pools what varies within classes.
func (s *survey) byClass() {
	m, e := s.model, &estimator{model: s.model, be: device.CPU()}
	classes, total, there := m.rows.Classes(), 0.0, 0
	held, of := make([]float64, classes), make([][]int, classes)
	for class := range classes {
		of[class] = m.of(class)
		held[class] = within(e.held(class, of[class]), 1e-3, 1e12)
		total += held[class]
		there += min(len(of[class]), 1)
	}
	s.spread = total / float64(classes) * s.left()
	s.within = mat.NewSymDense(m.rows.dim, nil)
	for class, rows := range of {
		x, sum := s.sums(rows, m.center(class))
		if len(rows) > 0 { // those of a class may all be lost
			own := e.covariance(x)
			s.takeMean(own, sum, held[class])
			own.ScaleSym(1/float64(there), own)
			s.within.AddSym(s.within, own)
		}
		mean := e.mean(sum, m.center(class), held[class], len(rows))
		std := math.Sqrt(s.noise/float64(len(rows))) / held[class]
		s.means = append(s.means, s.shrunk(mean, std))
		s.shares = append(s.shares, held[class]/total)
	}
}

// takeMean takes out of a covariance what sums vary by because their number of records does: a
// binomial number, each with the mean. Subsets are all of one size.
func (s *survey) takeMean(covariance *mat.SymDense, sum []float64, held float64) {
	if _, fixed := s.model.work.config.Sampling.(WithoutReplacement); fixed {
		return
	}
	covariance.SymRankOne(covariance, -s.left()/held, mat.NewVecDense(len(sum), sum))
}

// regress surveys mixtures of all classes.
func (s *survey) regress() {
	m, e := s.model, &estimator{model: s.model, be: device.CPU()}
	counts, label := e.labels()
	shares, total := shares(label)
	x, sum := s.sums(m.of(0), m.center(0))
	means, inverse := regression(s.cross(x, sum, label), counts, sum, label)
	for class := range shares {
		mean := mat.Col(nil, class, means)
		for j, v := range m.center(0) {
			mean[j] += float64(v)
		}
		std := math.Sqrt(s.noise * math.Max(inverse.At(class, class), 0) / float64(m.rows.Len()))
		s.means = append(s.means, s.shrunk(mean, std))
	}
	s.shares, s.spread = shares, math.Max(total, 1)*s.left()
	s.within = e.covariance(x)
	var half, between mat.Dense
	half.Mul(means, counts)
	between.Mul(&half, means.T())
	for i := range m.rows.dim {
		for j := i; j < m.rows.dim; j++ {
			if v := (between.At(i, j) + between.At(j, i)) / 2; !math.IsNaN(v) && !math.IsInf(v, 0) {
				s.within.SetSym(i, j, s.within.At(i, j)-v)
			}
		}
	}
}

// cross is the covariance of sums and noisy counts.
func (s *survey) cross(x device.Matrix, sum, label []float64) *mat.Dense {
	degree, n := float64(s.model.work.degree()), float64(x.Rows)
	out := mat.NewDense(x.Cols, len(label), nil)
	for t := range x.Rows {
		y := s.model.rows.Labels(t)
		for j, v := range x.Row(t) {
			d, dst := (float64(v)-sum[j])/n, out.RawRowView(j)
			for c, w := range y {
				dst[c] += d * (float64(w)*degree - label[c])
			}
		}
	}
	return out
}

// regression finds the mean record of every class: a sum is on average M·N, with N the number of
// records of every class, of which the noisy label Y is seen. So M = E[X·Yᵀ]·(E[Y·Yᵀ] − s²I)⁻¹.
// Second moments are not centred: the mean of all mixtures says as much of M as their deviations
// do, and where every mixture has one size deviations alone leave a direction open.
//
// Shapes: cross is the covariance of X and Y, counts that of N; sum and label are the means of X
// and Y.
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

// invert is the inverse of a matrix with as much of a ridge as it takes.
func invert(s *mat.SymDense) *mat.Dense {
	n := s.SymmetricDim()
	for ridge := 1e-9; ridge < 1; ridge *= 10 {
		var out mat.Dense
		if out.Inverse(s) == nil {
			return &out
		}
		addIdentity(s, ridge*math.Abs(mat.Trace(s)))
	}
	return mat.NewDense(n, n, nil) // rows that no run releases: every class has the mean of none
}

// shrunk takes noise out of the frequencies of items, most of which are rare: half of those that
// are hardly ever there would come out negative, and clamping them would make sets too long.
func (s *survey) shrunk(mean []float64, std float64) []float64 {
	for j, v := range mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			mean[j] = 0
		}
	}
	if !s.model.work.config.Schema.Sparse() || math.IsNaN(std) || math.IsInf(std, 0) {
		return mean
	}
	return counts.Shrink(mean, std)
}

// tidy makes noisy means those that records can have, in place: in [0, 1], and levels of a column
// adding up to one. Their sum before that tells how much of a record is there, on average, where
// a wrong guess at the number of records or the clip norm left more or less than one.
func tidy(c Config, mean []float64) (whole float64) {
	levels := 0
	blocks := blocksOf(c.Schema)
	for _, b := range blocks {
		if b.kind == levelBlock {
			levels++
			for _, v := range mean[b.offset : b.offset+b.width] {
				whole += v
			}
		}
	}
	if whole /= math.Max(float64(levels), 1); !(whole > 0.1 && whole < 10) {
		whole = 1
	}
	for j := range mean {
		mean[j] = within(mean[j]/whole, 0, 1)
	}
	for _, b := range blocks {
		if b.kind == levelBlock {
			simplex(mean[b.offset : b.offset+b.width])
		}
	}
	return whole
}

// simplex is the nearest vector of shares.
func simplex(p []float64) {
	y := make([]float32, len(p))
	for j, v := range p {
		y[j] = float32(v)
	}
	toShares(y)
	for j, v := range y {
		p[j] = float64(v)
	}
	counts.Normalise(p)
}

// variances are those of every coordinate of a record within its class. A choice has the variance
// of its mean. A number's is seen under the noise; as far as noise hides it, a third of the
// largest that its mean allows stands for it, which is that of evenly spread numbers.
func (s *survey) variances(blocks []block) []float64 {
	out := make([]float64, s.within.SymmetricDim())
	for _, b := range blocks {
		for j := b.offset; j < b.offset+b.width; j++ {
			for class, mean := range s.means {
				out[j] += s.shares[class] * mean[j] * (1 - mean[j])
			}
			if b.coordinate(j) != numberBlock {
				continue
			}
			seen := s.within.At(j, j)
			guess, most := out[j]/3, out[j]
			miss := 2 / float64(s.model.rows.Len()) * seen * seen / s.spread / s.spread
			doubt := guess * guess
			out[j] = guess
			if miss+doubt > 0 && !math.IsInf(miss, 0) {
				out[j] = ((seen-s.noise)/s.spread*doubt + guess*miss) / (miss + doubt)
			}
			out[j] = within(out[j], 1e-4*most, 0.95*most)
		}
	}
	return out
}

// center of a part, nil where none was released.
func (m *Model) center(part int) []float32 {
	if m.centers == nil {
		return nil
	}
	return m.centers[part]
}
