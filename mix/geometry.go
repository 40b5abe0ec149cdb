package mix

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// geometry describes the vectors that noise protects: features of norm at most clip, followed by a
// one-hot label of length label. A record is one vector of norm at most norm(). The noise has the
// same standard deviation on all of its coordinates.
type geometry struct {
	clip, label float64
	nonNegative bool // no coordinate of the clipped features is negative
}

func (g geometry) norm() float64 { return math.Hypot(g.clip, g.label) }

// swap returns the largest distance between two records. If no coordinate is negative, x·y ≥ 0, and
// the distance is at most √2·norm. Otherwise the features may point in opposite directions, while
// the labels are at most orthogonal.
func (g geometry) swap() float64 {
	if g.nonNegative {
		return math.Sqrt2 * g.norm()
	}
	return math.Hypot(2*g.clip, math.Sqrt2*g.label)
}

// replaced converts a noise multiplier relative to norm into a multiplier relative to swap.
func (g geometry) replaced(multiplier float64) float64 { return multiplier * g.norm() / g.swap() }

// effect returns the largest distance between the sums of neighbouring data sets, divided by std.
func (g geometry) effect(r accountant.Relation, std float64) float64 {
	if r == accountant.ReplaceOne {
		return g.swap() / std
	}
	return g.norm() / std
}

// labelLength returns the length of a label whose square is the fraction share of a record's
// squared norm.
func labelLength(clip, share float64) float64 { return clip * math.Sqrt(share/(1-share)) }

// bestLabelShare returns the share that minimises the noise in the residual X' − M·Y' of a mixture.
// Linear learners use this residual.
//
// Let the noise on features and labels have standard deviation s, let labels have length λ, and let
// M have k columns of norm at most R. Then the squared length of the noise in the residual is at
// most d·s² + k·R²·s²/λ², where s² is proportional to R² + λ². This bound is smallest at λ² =
// R²·√(k/d).
func bestLabelShare(dim, classes int) float64 {
	ratio := math.Sqrt(float64(classes) / float64(dim))
	return ratio / (1 + ratio)
}
