package marginal

import (
	"math"

	"github.com/seed7ba64551/privgen/records"
)

// valueGrid describes the values that a column of numbers can have, as multiples of a step above
// the lower bound. It is public: it depends on the schema only.
type valueGrid struct {
	last   float64 // number of steps from the lower to the upper bound; 0 if there is no step
	step   float64
	log    float64 // records.Column.LogUnit
	origin float64 // the lower bound in steps; NaN if it is no multiple of the step
}

// gridOf returns the grid of a block of one number of a column.
func gridOf(b records.Block, c records.Column) valueGrid {
	step := c.Step()
	if b.OneHot || b.Part != 0 || !(step > 0) {
		return valueGrid{}
	}
	lo, hi := c.Bounds()
	if math.Abs(lo) >= 1<<53 || math.Abs(hi) >= 1<<53 {
		return valueGrid{} // the bounds of whole numbers this large are rounded
	}
	origin := math.Round(lo / step)
	if math.Abs(lo/step-origin) > 1e-6 {
		origin = math.NaN()
	}
	return valueGrid{math.Round((hi - lo) / step), step, c.LogUnit(), origin}
}

// round returns the roundest of the values from to to−1, in steps above the lower bound: all
// multiples of 1, 2 or 5 times a power of ten of which there are at most the given number. They are
// first, first+every and so on. The result n is 0 if coordinates do not tell the values apart.
func (g valueGrid) round(from, to float64, most int) (first, every float64, n int) {
	first, every = from, 1
	for k := 0; first+float64(most)*every < to; k++ {
		every *= []float64{2, 2.5, 2}[k%3]
		first = math.Ceil((from+g.origin)/every)*every - g.origin
	}
	for ; first+float64(n)*every < to; n++ {
		if k := first + float64(n)*every; g.near(float64(g.at(k))) != k {
			return 0, 0, 0
		}
	}
	return first, every, n
}

// at returns the coordinate that encodes the value k steps above the lower bound.
func (g valueGrid) at(k float64) float32 {
	if g.log > 0 {
		return float32(math.Log1p(k*g.step/g.log) / math.Log1p(g.last*g.step/g.log))
	}
	return float32(k / g.last)
}

// near returns the number of steps from the lower bound to the value nearest to a coordinate.
func (g valueGrid) near(x float64) float64 {
	if g.log > 0 {
		return math.Round(g.log * math.Expm1(x*math.Log1p(g.last*g.step/g.log)) / g.step)
	}
	return math.Round(x * g.last)
}
