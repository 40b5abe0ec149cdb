package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// SumSensitivity returns the L2 sensitivity of a sum of records clipped to norm clip: clip if a
// record is added or removed, 2·clip if a record is replaced.
func SumSensitivity(r accountant.Relation, clip float64) float64 {
	if r == accountant.ReplaceOne {
		return 2 * clip
	}
	return clip
}

// HistogramSensitivity returns the L2 sensitivity of counts in which each record counts once. It is
// 1 if a record is added or removed. It is √2 if a record is replaced, because the record may move
// to another cell.
func HistogramSensitivity(r accountant.Relation) float64 {
	if r == accountant.ReplaceOne {
		return math.Sqrt2
	}
	return 1
}

// IsClipNorm reports whether rows of float32 numbers can be clipped to norm x in the arithmetic
// that runs: whether x is in [2^-60, 2^100]. Rounding to a subnormal float32 has a relative error
// above 2^-20, and the squares of much smaller norms are 0, so that rows of thousands of clip norms
// would count as short. Rows near the largest float32 would add up to infinity.
func IsClipNorm(x float64) bool { return x >= 0x1p-60 && x <= 0x1p100 }

// ClipFactor returns the factor that scales a row of the given squared norm to norm clip or less.
// The target norm is clip·(1−2^-20). So a row whose scaled coordinates are rounded to float32 still
// has norm at most clip. For a row whose norm is not finite the factor is 0, and so it is for every
// row if clip is outside the range of [IsClipNorm].
//
// The factor is a float32 number, rounded down. If a caller rounded the factor to a subnormal
// float32 instead, the factor could grow by half.
func ClipFactor(squaredNorm, clip float64) float64 {
	if !(squaredNorm >= 0) || math.IsInf(squaredNorm, 0) || !IsClipNorm(clip) {
		return 0
	}
	norm := math.Sqrt(squaredNorm)
	target := clip * (1 - 0x1p-20)
	if norm <= target {
		return 1
	}
	return float32Below(target / norm)
}

// float32Below returns the largest float32 number that is not above x ≥ 0.
func float32Below(x float64) float64 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}
