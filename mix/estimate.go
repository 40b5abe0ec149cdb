package mix

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
)

// estimator reads moments off released rows. Everything is in units of sums: a row times the
// degree, moved back to the centre.
type estimator struct {
	model *Model
	be    device.Backend
	basis *basis
}

// coefficients are some rows as sums of deviations from a centre, in the basis, with their column
// means in the records' own coordinates.
func (e *estimator) coefficients(of []int, center []float32) (u device.Matrix, mean []float64) {
	rows, degree := e.model.rows, float32(e.model.work.degree())
	dim, n := rows.Dim(), len(of)
	mean = make([]float64, dim)
	k := e.basis.rows.Rows
	u = device.HostMatrix(n, k, make([]float32, n*k))
	const chunk = 1024
	x := device.HostMatrix(chunk, dim, make([]float32, chunk*dim))
	for lo := 0; lo < n; lo += chunk {
		now := min(chunk, n-lo)
		for i := range now {
			dst := x.Row(i)
			for j, v := range rows.Features(of[lo+i]) {
				if center != nil {
					v -= center[j]
				}
				dst[j] = v * degree
				mean[j] += float64(dst[j])
			}
		}
		e.be.Gemm(false, true, 1, x.RowRange(0, now), e.basis.rows, 0, u.RowRange(lo, lo+now))
	}
	for j := range mean {
		mean[j] /= float64(max(n, 1))
	}
	return u, mean
}

// covariance of the rows of u, which are centred in place.
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
			// rows may come out of any file
			if v := float64(g.Data[i*k+j]); !math.IsNaN(v) && !math.IsInf(v, 0) {
				s.SetSym(i, j, v)
			}
		}
	}
	return s
}

// byClass reads every class off its own mixtures.
func (e *estimator) byClass(out *Moments) {
	classes := e.model.rows.Classes()
	noise := e.model.work.std * e.model.work.std
	each, held, total := make([]*mat.SymDense, classes), make([]float64, classes), 0.0
	count := make([]int, classes)
	for class := range classes {
		var mean []float64
		rows := e.model.of(class)
		each[class], mean, held[class] = e.class(class, rows)
		count[class] = len(rows)
		out.means = append(out.means, mean)
		total += held[class]
	}
	average := total / float64(classes)
	common := spikes(pool(each, count, held, noise, average), noise, e.model.rows.Len()).over(average)
	for class := range classes {
		own := spikes(each[class], noise, count[class]).over(held[class])
		out.factors = append(out.factors, own.beside(common, e.basis.rows.Rows))
		out.weights = append(out.weights, held[class]/total)
	}
}

// class gives the covariance of one class's mixtures, its mean record, and how many records a
// mixture holds.
func (e *estimator) class(class int, rows []int) (s *mat.SymDense, mean []float64, held float64) {
	m := e.model
	center := m.center(class)
	u, sum := e.coefficients(rows, center)
	held = e.held(class, rows)
	s = e.covariance(u)
	// a Poisson sum also varies by its number of records, each of which carries the mean
	if center == nil {
		subtractMean(s, e.inBasis(sum), held)
	}
	return s, e.mean(sum, center, held, len(rows)), held
}

// pool is the average covariance of single records, put back among the noise of a sum of average
// size. Classes of which interruptions left no rows say nothing.
func pool(each []*mat.SymDense, count []int, held []float64, noise, average float64) *mat.SymDense {
	there := 0
	for _, n := range count {
		there += min(n, 1)
	}
	pooled := mat.NewSymDense(each[0].SymmetricDim(), nil)
	part := mat.NewSymDense(each[0].SymmetricDim(), nil)
	for class, s := range each {
		if count[class] == 0 {
			continue
		}
		part.CopySym(s)
		addIdentity(part, -noise)
		part.ScaleSym(average/held[class]/float64(there), part)
		pooled.AddSym(pooled, part)
	}
	addIdentity(pooled, noise)
	return pooled
}

// held is how many records of its class a mixture holds on average, by the noisy counts.
func (e *estimator) held(class int, rows []int) float64 {
	m, sum := e.model, 0.0
	for _, t := range rows {
		sum += float64(m.rows.Labels(t)[class])
	}
	return max(sum/float64(max(len(rows), 1))*float64(m.work.degree()), 1e-3*float64(m.work.degree()))
}

// mean of a class, in the records' coordinates: the released centre, moved by what the mixtures say
// in proportion to how well they know.
func (e *estimator) mean(sum []float64, center []float32, held float64, count int) []float64 {
	weight := 1.0
	w := e.model.work
	if center != nil {
		n, degree := w.config.Sampling.public()
		ofMixtures := w.std * w.std / float64(count) / held / held
		size := held / float64(degree) * float64(n) / float64(w.config.parts())
		std := w.config.Centers.NoiseMultiplier *
			w.config.centerGeometry().centerSensitivity(w.config.Budget.Relation)
		ofCenter := std * std / size / size
		weight = ofCenter / (ofCenter + ofMixtures)
	}
	out := make([]float64, len(sum))
	for j, v := range sum {
		out[j] = weight * v / held
		if center != nil {
			out[j] += float64(center[j])
		}
	}
	return out
}

func (e *estimator) inBasis(mean []float64) []float64 {
	out := make([]float64, e.basis.rows.Rows)
	for k := range out {
		for j, v := range e.basis.rows.Row(k) {
			out[k] += float64(v) * mean[j]
		}
	}
	return out
}

// subtractMean takes λ·μμᵀ = (λμ)(λμ)ᵀ/λ out of a covariance.
func subtractMean(s *mat.SymDense, sum []float64, held float64) {
	s.SymRankOne(s, -1/held, mat.NewVecDense(len(sum), sum))
}

func addIdentity(s *mat.SymDense, v float64) {
	for i := range s.SymmetricDim() {
		s.SetSym(i, i, s.At(i, i)+v)
	}
}

// spectrum is the part of a covariance that stands out of white noise.
type spectrum struct {
	vectors *mat.Dense // one a column
	values  []float64
}

// spikes estimates the covariance above noise·I of rows whose sample covariance is s. A direction
// of excess x (in units of the noise) shows as an eigenvalue (1+x)(1+γ/x), γ = dimension ÷ rows, if
// x > √γ, and not at all otherwise.
func spikes(s *mat.SymDense, noise float64, rows int) spectrum {
	var eigen mat.EigenSym
	n := s.SymmetricDim()
	if !eigen.Factorize(s, true) {
		return spectrum{}
	}
	var all mat.Dense
	eigen.VectorsTo(&all)
	gamma := float64(n) / float64(max(rows, 1))
	// the largest of noise alone scatters about its limit
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

// over divides by the number of records in a sum.
func (s spectrum) over(held float64) spectrum {
	for i := range s.values {
		s.values[i] /= held
	}
	return s
}

// factor is F with F Fᵀ the spectrum's covariance.
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

// beside is a factor of this covariance plus the other's in the directions that this one does not
// hold.
func (s spectrum) beside(o spectrum, dim int) *mat.Dense {
	own, rest := s.factor(), o.factor()
	switch {
	case own == nil && rest == nil:
		return mat.NewDense(dim, 1, nil) // nothing can be told from noise: the class's mean
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
