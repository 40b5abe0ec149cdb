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

const (
	priorVariance = 0.03 // of each weight, independently
	scoreVariance = 0.2  // of residuals, for the difference between the records and the model
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

// solve returns the mean of the weights given all releases.
func solve(g *mat.SymDense, list []observed) []float64 {
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
	for k := range n {
		precision.SetSym(k, k, precision.At(k, k)+1/priorVariance)
	}
	out := make([]float64, n)
	var w mat.VecDense
	var c mat.Cholesky
	if !c.Factorize(precision) || c.SolveVecTo(&w, right) != nil {
		return out
	}
	for k := range out {
		if out[k] = w.AtVec(k); math.IsNaN(out[k]) || math.Abs(out[k]) > 1e6 {
			out[k] = 0
		}
	}
	return out
}
