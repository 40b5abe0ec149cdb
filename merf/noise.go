package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// noise says how the noise of one release is divided between sums and counts.
type noise struct {
	sum    float64 // standard deviation on each coordinate of each class's sum
	count  float64 // standard deviation on each count; 0 if no counts are released
	effect float64 // worst-case norm of neighbours' difference ÷ standard deviation
}

// widen multiplies the standard deviations by f. The effect is then no longer valid.
func (n *noise) widen(f float64) {
	n.sum, n.count = f*n.sum, f*n.count
}

// bounds holds the sensitivities of features: the largest norm B of a record's features, and the
// largest distance Δ between those of two records.
type bounds struct {
	norm, change float64
	dim          int
	rows         int // largest number of rows of one person; 1 for records
}

// slack bounds, relative to B, the increase of the distance of two rows by reading a row as
// float32, scaling it into the ball of radius B and rounding it toward zero on the grid of the sum.
// Each row is scaled by its own factor between 1 − 2⁻¹⁹ and 1, which moves it by at most 2⁻¹⁹·B,
// and its coordinates have the errors of float32 arithmetic. Norms need no slack: clipping comes
// after the arithmetic, and rounding toward zero makes no row longer.
const slack = 0x1p-17

// held returns bounds for the rows as they are added, on a grid no coarser than the given one. Each
// row of a person is rounded separately.
func (b bounds) held(grid float64) bounds {
	b.change = min(2*b.norm, b.change+slack*b.norm+
		float64(max(b.rows, 1))*grid*math.Sqrt(float64(b.dim)))
	return b
}

// spread returns standard deviations for which the whole release has noise multiplier z, that
// is effect 1/z, with the fraction share of the squared effect spent on counts.
//
// What is released is one vector: for every class c the sum S_c of its records' features, with
// noise of standard deviation s on each coordinate, and its count n_c, with noise s_c. Classes are
// disjoint, so a record is in one S_c.
//
// Add or remove: the record's class gains or loses φ(x), of norm at most B, and 1:
//
//	μ² = B²/s² + 1/s_c².
//
// Replace one: either the class stays and one sum changes by φ(x) − φ(x′), of norm at most Δ, or
// the class changes too, and two sums change by at most B each and two counts by 1 each:
//
//	μ² = max(Δ²/s², 2B²/s² + 2/s_c²).
//
// A person with several rows adds a mean of such vectors, over the classes of the rows, with
// weights that add up to 1 exactly, and so exceeds neither bound: see records.RowsOf.
//
// With one class only the first case occurs, and the number of records, which all neighbours share,
// is public. If Δ² > 2B², noise that covers the first case leaves room in the second, and counts
// cost nothing up to that.
//
// A record may be labelled in one data set and unlabelled in another: an unlabelled record is read
// as one of the declared unknown class, so it is in exactly one class, too.
func spread(r accountant.Relation, b bounds, classes int, z, share float64) noise {
	if r == accountant.AddOrRemoveOne {
		return measured(r, b, classes, noise{sum: b.norm * z / math.Sqrt(1-share),
			count: z / math.Sqrt(share)})
	}
	b = b.held(mechanism.GridFor(2 * b.norm * z))
	if classes == 1 {
		return measured(r, b, classes, noise{sum: max(b.change, b.norm) * z})
	}
	n := noise{sum: z * max(b.change, math.Sqrt2*b.norm/math.Sqrt(1-share))}
	left := 1/(z*z) - 2*b.norm*b.norm/(n.sum*n.sum)
	n.count = math.Sqrt(2 / left)
	return measured(r, b, classes, n)
}

// measured computes the effect of given standard deviations.
func measured(r accountant.Relation, b bounds, classes int, n noise) noise {
	sum, count := b.norm/n.sum, 0.0
	if n.count > 0 {
		count = 1 / n.count
	}
	n.effect = math.Hypot(sum, count)
	if r == accountant.ReplaceOne {
		n.effect = max(b.change/n.sum, sum)
		if classes > 1 {
			n.effect = max(n.effect, math.Sqrt2*math.Hypot(sum, count))
		}
	}
	return n
}

// DefaultCountShare returns the default fraction of the squared effect spent on counts: the one
// that minimises the expected squared error of a class's mean. Dividing a noisy sum of dim
// coordinates by a noisy count errs by about (dim·s² + B²·s_c²)/n², and B²·dim/(1−a) + B²/a is
// least at a = 1/(1+√dim). It is never less than one hundredth, which makes sums half a percent
// noisier at most: proportions of small classes rest on counts alone.
func DefaultCountShare(dim int) float64 {
	return max(1/(1+math.Sqrt(float64(dim))), leastCountShare)
}

const leastCountShare = 0.01
