package tables

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/internal/graphical"
)

// An observed release is a sum of scores in each cell of some tables.
type observed struct {
	from int // the first cell
	sums []float64
	std  float64 // of the noise
}

// A prior is a normal distribution of the independent weights of one table.
type prior struct {
	first, cells int
	variance     float64
}

const (
	priorVariance = 0.03 // at first
	leastVariance = 1e-4
	priorFitted   = 3   // times that the variances are fitted
	scoreVariance = 0.2 // of residuals, for the difference between the records and the model
)

// gram returns the expected number of records in each pair of cells of tables, by rows drawn from
// the model. Each drawn row counts as the given number of records.
func gram(d graphical.Domain, tables [][]int, pool [][]uint16, records float64) *mat.SymDense {
	n := tablesCells(d, tables)
	g := mat.NewSymDense(n, nil)
	counts := g.RawSymmetric()
	cells := make([]int, len(tables))
	for i := range pool[0] {
		group := func(a int) int { return int(pool[a][i]) }
		first := 0
		for k, t := range tables {
			cells[k] = first + tableCell(d, t, group)
			first += tableCells(d, t)
			for _, c := range cells[:k+1] {
				counts.Data[c*counts.Stride+cells[k]] += records
			}
		}
	}
	return g
}

// solve returns the mean of the weights given all releases. It fits the variances of the priors to
// the releases the given number of times, by expectation and maximisation.
func solve(g *mat.SymDense, list []observed, priors []prior, fitted int) []float64 {
	n := g.SymmetricDim()
	precision, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for _, o := range list {
		scaled, y := mat.NewDense(n, len(o.sums), nil), mat.NewVecDense(len(o.sums), nil)
		for k, sum := range o.sums {
			root := 1 / math.Sqrt(o.std*o.std+scoreVariance*g.At(o.from+k, o.from+k))
			y.SetVec(k, sum*root)
			for c := range n {
				scaled.Set(c, k, g.At(c, o.from+k)*root)
			}
		}
		var own mat.SymDense
		own.SymOuterK(1, scaled)
		precision.AddSym(precision, &own)
		var b mat.VecDense
		b.MulVec(scaled, y)
		right.AddVec(right, &b)
	}
	var w mat.VecDense
	for round := 0; ; round++ {
		all := mat.NewSymDense(n, nil)
		all.CopySym(precision)
		for _, p := range priors {
			for k := p.first; k < p.first+p.cells; k++ {
				all.SetSym(k, k, all.At(k, k)+1/p.variance)
			}
		}
		var c mat.Cholesky
		if !c.Factorize(all) || c.SolveVecTo(&w, right) != nil {
			return make([]float64, n)
		}
		if round == fitted {
			break
		}
		var covariance mat.SymDense
		if c.InverseTo(&covariance) != nil {
			break
		}
		for k := range priors {
			priors[k].fit(&w, &covariance)
		}
	}
	out := make([]float64, n)
	for k := range out {
		if out[k] = w.AtVec(k); math.IsNaN(out[k]) || math.Abs(out[k]) > 1e6 {
			out[k] = 0
		}
	}
	return out
}

// fit sets the variance to the expected square of the weights.
func (p *prior) fit(w *mat.VecDense, covariance *mat.SymDense) {
	sum := 0.0
	for k := p.first; k < p.first+p.cells; k++ {
		sum += w.AtVec(k)*w.AtVec(k) + covariance.At(k, k)
	}
	p.variance = max(sum/float64(p.cells), leastVariance)
}
