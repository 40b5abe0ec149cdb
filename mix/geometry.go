package mix

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// geometry describes the vectors that noise protects: features of norm at most clip, followed
// by a one-hot label of length label. A record is one vector of norm at most norm(), and
// noise of one standard deviation covers all of it.
type geometry struct {
	clip, label float64
	nonNegative bool // every coordinate of the clipped features is zero or more
}

func (g geometry) norm() float64 { return math.Hypot(g.clip, g.label) }

// swap returns the largest distance of two records: √2 norms where no coordinate is negative,
// because x·y ≥ 0; otherwise features may be opposite, and labels are orthogonal at worst.
func (g geometry) swap() float64 {
	if g.nonNegative {
		return math.Sqrt2 * g.norm()
	}
	return math.Hypot(2*g.clip, math.Sqrt2*g.label)
}

// replaced turns a noise multiplier relative to the norm into one relative to swap.
func (g geometry) replaced(multiplier float64) float64 { return multiplier * g.norm() / g.swap() }

// effect returns the distance of neighbours' sums ÷ std.
func (g geometry) effect(r accountant.Relation, std float64) float64 {
	if r == accountant.ReplaceOne {
		return g.swap() / std
	}
	return g.norm() / std
}

// labelLength gives the label of a record the part share of the squared norm that the noise has to
// cover.
func labelLength(clip, share float64) float64 { return clip * math.Sqrt(share/(1-share)) }

// bestLabelShare minimises the noise in the residual X' − M·Y' of T mixtures, which a linear
// learner uses.
//
// With one noise s on features and on labels of length λ, a mean M of k columns of norm at most R
// leaves noise of squared length d·s² + k·R²·s²/λ² in it, and s² is proportional to R² + λ². The
// product is smallest at λ² = R²·√(k/d).
func bestLabelShare(dim, classes int) float64 {
	ratio := math.Sqrt(float64(classes) / float64(dim))
	return ratio / (1 + ratio)
}
