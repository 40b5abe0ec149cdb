package marginal

import (
	"math"

	"github.com/seed7ba64551/privgen/records"
)

// valueGrid describes the values that a column of numbers can have, as multiples of a step above
// the lower bound. It is public: it depends on the schema only.
type valueGrid struct {
	last        float64 // number of steps from the lower to the upper bound; 0 if there is no step
	step        float64
	logarithmic bool
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
	return valueGrid{last: math.Round((hi - lo) / step), step: step, logarithmic: c.IsLogarithmic()}
}

// at returns the coordinate that encodes the value k steps above the lower bound.
func (g valueGrid) at(k float64) float32 {
	if g.logarithmic {
		return float32(math.Log1p(k*g.step) / math.Log1p(g.last*g.step))
	}
	return float32(k / g.last)
}

// near returns the number of steps from the lower bound to the value nearest to a coordinate.
func (g valueGrid) near(x float64) float64 {
	if g.logarithmic {
		return math.Round(math.Expm1(x*math.Log1p(g.last*g.step)) / g.step)
	}
	return math.Round(x * g.last)
}
