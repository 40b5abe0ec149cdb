package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// noise states how the noise of one release is divided between sums and counts.
type noise struct {
	sum    float64 // standard deviation on each coordinate of each class's sum
	count  float64 // standard deviation on each count; 0 if no counts are released
	effect float64 // largest difference of neighbours' sums and counts, each ÷ its std
}

// widen multiplies the standard deviations by f. The effect is then no longer valid.
func (n *noise) widen(f float64) {
	n.sum, n.count = f*n.sum, f*n.count
}

// bounds holds the bounds on features: the largest norm B of a record's features, and the largest
// distance Δ between the features of two records.
type bounds struct {
	norm, change float64
	dim          int
	rows         int // largest number of rows of one person; 1 for records
}

// slack bounds, relative to B, the amount by which float32 arithmetic and clipping increase the
// distance between two rows. Each row is scaled by its own factor between 1 − 2⁻¹⁹ and 1, which
// moves the row by at most 2⁻¹⁹·B. Its coordinates have the errors of float32 arithmetic. Norms
// need no slack, because rows are clipped after the arithmetic, and rounding toward zero makes no
// row longer.
const slack = 0x1p-17

// held returns bounds for rows after clipping and rounding, on a grid that is not coarser than the
// given one. Each row of a person is rounded separately.
func (b bounds) held(grid float64) bounds {
	b.change = min(2*b.norm, b.change+slack*b.norm+
		float64(max(b.rows, 1))*grid*math.Sqrt(float64(b.dim)))
	return b
}

// spread returns standard deviations for which the whole release has noise multiplier z, that is,
// effect 1/z. Counts use the fraction share of the squared effect.
//
// The release is one vector. For every class c it has the sum S_c of the records' features and the
// count n_c. The noise has standard deviation s on each coordinate of a sum, and s_c on each count.
// Classes are disjoint, so each record is in only one S_c.
//
// Add or remove: the sum of the record's class changes by φ(x), of norm at most B, and the count by
// 1:
//
//	μ² = B²/s² + 1/s_c².
//
// Replace one: if the class does not change, one sum changes by φ(x) − φ(x′), of norm at most Δ. If
// the class changes, two sums change by at most B each, and two counts by 1 each:
//
//	μ² = max(Δ²/s², 2B²/s² + 2/s_c²).
//
// A person with several rows adds a weighted mean of such vectors, in the classes of the rows. The
// weights add up to exactly 1, so the person exceeds neither bound. See records.RowsOf.
//
// If there is only one class, only the first case occurs, and the number of records is public
// because all neighbours have the same number. If Δ² > 2B², noise that suffices for the first case
// is more than the sums need in the second case. The counts use this difference, so they may need
// no additional noise on the sums.
//
// A record may be labelled in one data set and unlabelled in the other. An unlabelled record is
// read as a record of the declared unknown class, so it is also in exactly one class.
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

// measured sets the effect of the given standard deviations.
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

// defaultCountShare returns the default fraction a of the squared effect that counts use. It
// minimises the expected squared error of a class's mean. A noisy sum of dim coordinates divided by
// a noisy count has a squared error of about (dim·s² + B²·s_c²)/n². This error is proportional to
// B²·dim/(1−a) + B²/a, which is smallest at a = 1/(1+√dim). The fraction is at least 0.01, because
// only the counts determine the proportions of small classes. This minimum increases the noise on
// sums by at most half a percent.
func defaultCountShare(dim int) float64 {
	return max(1/(1+math.Sqrt(float64(dim))), leastCountShare)
}

const leastCountShare = 0.01
