package released

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// weighing computes the weights of a pool by coordinate ascent. At the optimum, the weight of a
// record is proportional to exp(Σ λ) over the cells that it is in, and a cell's λ is
// (count − n·p(cell))/std². Every sweep solves these equations for one table after another.
type weighing struct {
	tables []cells
	places [][]int32 // of every table: the cell of every record, -1 for none
	lambda [][]float64
	p      []float64 // weights
	n      float64
}

func newWeighing(pool *records.Frame, tables []cells) *weighing {
	w := &weighing{tables: tables, p: make([]float64, pool.Len())}
	for i := range w.p {
		w.p[i] = 1 / float64(len(w.p))
	}
	for t := range tables {
		at := make([]int32, pool.Len())
		for row := range at {
			at[row] = tables[t].place(pool, row)
		}
		w.places = append(w.places, at)
		w.lambda = append(w.lambda, make([]float64, len(tables[t].counts)))
	}
	return w
}

// total returns the sum of the table whose sum is most precise, of those that count all records; 0
// if there are none.
func (w *weighing) total() (sum float64) {
	best := math.Inf(1)
	for t, table := range w.tables {
		v := table.std * table.std * float64(len(table.counts))
		if v >= best || slices.Contains(w.places[t], -1) {
			continue
		}
		best, sum = v, 0
		for _, n := range table.counts {
			if !math.IsNaN(n) {
				sum += n
			}
		}
	}
	return sum
}

// shares returns the weight of every cell of a table, and that of records in no cell.
func (w *weighing) shares(t int) (cells []float64, rest float64) {
	cells = make([]float64, len(w.tables[t].counts))
	for i, at := range w.places[t] {
		if at < 0 {
			rest += w.p[i]
		} else {
			cells[at] += w.p[i]
		}
	}
	return cells, rest
}

// distance is [Fit].Before or After.
func (w *weighing) distance(t int) (sum float64) {
	shares, _ := w.shares(t)
	for c, p := range shares {
		if n := w.tables[t].counts[c]; !math.IsNaN(n) {
			sum += math.Abs(p-n/w.n) / 2
		}
	}
	return sum
}

// chance is [Fit].Noise: the mean of |noise| is √(2/π) standard deviations.
func (w *weighing) chance(t int) (sum float64) {
	for _, n := range w.tables[t].counts {
		if !math.IsNaN(n) {
			sum += math.Sqrt(2/math.Pi) * w.tables[t].std / w.n / 2
		}
	}
	return sum
}

// errWeights means that a weight is too large or too small for a float64.
var errWeights = fmt.Errorf("%w: no weights of records fit these tables: they contradict each other "+
	"beyond their noise, or their numbers are too large", ErrFormat)

// solve sweeps over the tables until no multiplier changes, or until it has done mostWork.
func (w *weighing) solve(ctx context.Context) error {
	work := len(w.p) * len(w.tables)
	for _, t := range w.tables {
		work += cellWork * len(t.counts)
	}
	for range min(mostSweeps, 1+mostWork/work) {
		largest := 0.0
		for t := range w.tables {
			if err := ctx.Err(); err != nil {
				return err
			}
			largest = max(largest, w.sweep(t))
		}
		if !(largest < math.Inf(1)) {
			return errWeights
		}
		if largest < settled {
			break
		}
	}
	return nil
}

// sweep solves the equations of one table and returns the largest change of a multiplier. With
// λ = μ + shift, a record's new weight is its base times e^μ in a cell, and rest·e^−shift in none.
// The shift is the one with which the weights sum to 1. If all records are in cells, μ is kept,
// since base and weight do not depend on the shift then.
func (w *weighing) sweep(t int) (largest float64) {
	shares, rest := w.shares(t)
	lambda, variance := w.lambda[t], w.tables[t].std*w.tables[t].std
	base := make([]float64, len(shares)) // the shares without this table
	for c, p := range shares {
		base[c] = p * math.Exp(-lambda[c])
	}
	next := make([]float64, len(shares))
	shift := root(func(shift float64) float64 {
		sum := 0.0
		if rest > 0 {
			sum = rest * math.Exp(-shift)
		}
		for c, count := range w.tables[t].counts {
			if math.IsNaN(count) {
				next[c] = -shift
			} else if base[c] > 0 {
				next[c] = multiplier(count-variance*shift, w.n*base[c], variance)
			}
			sum += base[c] * math.Exp(next[c])
		}
		return math.Log(sum)
	})
	factor, outside := make([]float64, len(shares)), math.Exp(-shift)
	for c := range shares {
		factor[c] = math.Exp(next[c] - lambda[c])
		if rest > 0 {
			next[c] += shift
		}
		largest = max(largest, math.Abs(next[c]-lambda[c]))
	}
	w.lambda[t] = next
	for i, at := range w.places[t] {
		if at < 0 {
			w.p[i] *= outside
		} else {
			w.p[i] *= factor[at]
		}
	}
	return largest
}

// root returns a zero of a decreasing function by false position. The last call of f is for it.
func root(f func(float64) float64) (x float64) {
	low, high := math.Inf(-1), math.Inf(1)
	var above, below, last float64 // f at low, at high and at the point before
	for step := 1.0; ; step *= 2 {
		y := f(x)
		if !(math.Abs(y) > 1e-13) || !(step < 1e60) {
			return x
		}
		if y > 0 {
			low, above = x, y
			if last > 0 { // or else the other end would stay for long
				below /= 2
			}
		} else {
			high, below = x, y
			if last < 0 {
				above /= 2
			}
		}
		last = y
		switch {
		case math.IsInf(high, 1):
			x += step
		case math.IsInf(low, -1):
			x -= step
		default:
			x = low + (high-low)*above/(above-below)
		}
	}
}

// multiplier solves variance·λ + share·e^λ = count for λ, by Newton's method. The left side is
// convex and increasing, so that steps from a point right of the solution never pass it.
func multiplier(count, share, variance float64) float64 {
	at := count / variance                         // where the first term alone is the count
	if l := math.Log(share/variance) + at; l > 1 { // near the solution if the second term is larger
		at = math.Log(l * variance / share)
	}
	for range 100 {
		e := share * math.Exp(at)
		step := (variance*at + e - count) / (variance + e)
		at -= step
		if math.Abs(step) <= 1e-12*(1+math.Abs(at)) {
			break
		}
	}
	return at
}
