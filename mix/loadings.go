package mix

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxFactors is the largest number of latent variables of a record.
const maxFactors = 16

// loadings estimates the dependence between coordinates of different blocks. It returns a matrix a
// with one row for each coordinate of a record, such that correlation(i, j) ≈ Σ_k a_ik·a_jk.
//
// The method is a principal factor analysis of the correlations of sums. The dependence within a
// block is known. Every round therefore replaces the correlations within blocks by the correlations
// that the current factors imply. Only factors above the noise level are kept. They are shrunk to
// correct the bias that noise causes, as in [Model.Moments]. Within a factor only the coordinates
// above the noise level are kept.
//
// Source: Harman 1976, chapter 8 (principal factors); Benaych-Georges and Nadakuditi 2011.
func (s *survey) loadings(blocks []block, variance []float64) [][]float64 {
	f := s.factors(blocks, variance)
	const rounds = 60
	for round := range rounds {
		w := f.apply()
		values := f.rotate(w)
		f.accept(values)
		if round < rounds-1 && !f.next(w) {
			break
		}
	}
	return f.result()
}

// factors is the state of an orthogonal iteration.
type factors struct {
	r      *mat.SymDense // correlations of sums; zero within blocks
	blocks []block
	signal []float64   // by coordinate: fraction of a sum's variance due to the records
	v      *mat.Dense  // orthonormal rows
	own    [][]float64 // loadings of the kept factors, by factor and coordinate
	excess []float64   // the variance that each kept factor adds to sums in its direction
	gamma  float64     // coordinates ÷ rows
	rows   float64
}

func (s *survey) factors(blocks []block, variance []float64) *factors {
	n := s.within.SymmetricDim()
	f := &factors{r: mat.NewSymDense(n, nil), blocks: blocks, signal: make([]float64, n),
		rows: float64(s.rows.Len())}
	f.gamma = float64(n) / f.rows
	scale := make([]float64, n)
	for j := range n {
		all := math.Max(s.within.At(j, j), s.noise)
		scale[j] = 1 / math.Sqrt(all)
		f.signal[j] = within(s.spread*variance[j]/all, 0, 1)
	}
	for i := range n {
		for j := i; j < n; j++ {
			f.r.SetSym(i, j, within(s.within.At(i, j)*scale[i]*scale[j], -1, 1))
		}
	}
	for _, b := range blocks {
		for i := b.Offset; i < b.Offset+b.Width; i++ {
			for j := i; j < b.Offset+b.Width; j++ {
				f.r.SetSym(i, j, 0)
			}
		}
	}
	rng := rand.New(rand.NewPCG(0, 0x666163746f72)) // the same start in every process
	f.v = mat.NewDense(min(n, maxFactors), n, nil)
	f.v.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, f.v)
	orthonormal(f.v)
	return f
}

// apply multiplies the vectors by the correlation matrix. Correlations within blocks come from the
// kept factors.
func (f *factors) apply() *mat.Dense {
	out := new(mat.Dense)
	out.Mul(f.v, f.r)
	for i := range f.v.RawMatrix().Rows {
		v, w := f.v.RawRowView(i), out.RawRowView(i)
		for _, b := range f.blocks {
			for _, a := range f.own {
				floats.AddScaled(b.of(w), floats.Dot(b.of(a), b.of(v)), b.of(a))
			}
		}
	}
	return out
}

// rotate rotates the vectors to the principal axes of their span, in descending order of the
// eigenvalues, and returns the eigenvalues. It rotates w, the images of the vectors under apply, in
// the same way.
func (f *factors) rotate(w *mat.Dense) []float64 {
	var vw, q mat.Dense
	vw.Mul(f.v, w.T())
	k, _ := vw.Dims()
	h := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			h.SetSym(i, j, -(vw.At(i, j)+vw.At(j, i))/2) // eigenvalues ascend
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		return nil
	}
	eigen.VectorsTo(&q)
	f.v.Mul(q.T(), mat.DenseCopyOf(f.v))
	w.Mul(q.T(), mat.DenseCopyOf(w))
	values := eigen.Values(nil)
	floats.Scale(-1, values)
	return values
}

// accept keeps the factors above the noise level. A factor of excess x has the eigenvalue
// (1+x)(1+γ/x) − 1.
func (f *factors) accept(values []float64) {
	f.own, f.excess = nil, nil
	edge := (2*math.Sqrt(f.gamma) + f.gamma) * 1.05
	for i, value := range values {
		if !(value > edge) {
			break
		}
		b := value - f.gamma
		x := (b + math.Sqrt(math.Max(0, b*b-4*f.gamma))) / 2
		f.own = append(f.own, scaled(f.v.RawRowView(i), math.Sqrt(x)))
		f.excess = append(f.excess, x)
	}
	for j, signal := range f.signal {
		f.cap(j, most*signal)
	}
}

// most bounds the fraction of a coordinate's variance that factors explain.
const most = 0.9

// cap scales the loadings of a coordinate to a squared length of at most square.
func (f *factors) cap(j int, square float64) {
	sum := 0.0
	for _, a := range f.own {
		sum += a[j] * a[j]
	}
	if sum <= square {
		return
	}
	for _, a := range f.own {
		a[j] *= math.Sqrt(square / sum)
	}
}

// next continues from the result of apply. It returns false if a vector vanishes. Adding the
// vectors themselves increases all eigenvalues by one. Negative eigenvalues of large magnitude then
// do not dominate the iteration.
func (f *factors) next(w *mat.Dense) bool {
	f.v.Add(f.v, w)
	return orthonormal(f.v)
}

// result returns the loadings by coordinate, in standard deviations of records. Each entry has an
// error of about √((1+1/x)/rows) in units of sums; entries below twice this error are set to zero.
func (f *factors) result() [][]float64 {
	for k, a := range f.own {
		noise := 4 * (1 + 1/f.excess[k]) / f.rows
		for j := range a {
			signal := f.signal[j]
			if square := a[j] * a[j]; square > noise && signal > 0 {
				a[j] *= (1 - noise/square) / math.Sqrt(signal)
			} else {
				a[j] = 0
			}
		}
	}
	out := make([][]float64, len(f.signal))
	for j := range out {
		f.cap(j, most)
		out[j] = make([]float64, len(f.own))
		for k, a := range f.own {
			out[j][k] = within(a[j], -1, 1)
		}
	}
	return out
}

// orthonormal makes rows orthonormal, one after another. It returns false if a row vanishes.
func orthonormal(rows *mat.Dense) bool {
	for i := range rows.RawMatrix().Rows {
		v := rows.RawRowView(i)
		for range 2 { // a second time to correct rounding errors
			for k := range i {
				floats.AddScaled(v, -floats.Dot(rows.RawRowView(k), v), rows.RawRowView(k))
			}
		}
		size := math.Sqrt(floats.Dot(v, v))
		if !(size > 1e-100) || math.IsInf(size, 0) {
			return false
		}
		floats.Scale(1/size, v)
	}
	return true
}
