package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// SumSensitivity is the L2 sensitivity of a sum of records clipped to norm clip:
// the record's own norm if it comes or goes, twice that if it is replaced.
func SumSensitivity(r accountant.Relation, clip float64) float64 {
	if r == accountant.ReplaceOne {
		return 2 * clip
	}
	return clip
}

// HistogramSensitivity is the L2 sensitivity of counts in which each record
// counts once: 1, or √2 if it may move from one cell to another.
func HistogramSensitivity(r accountant.Relation) float64 {
	if r == accountant.ReplaceOne {
		return math.Sqrt2
	}
	return 1
}

// ClipFactor is the factor that brings a row of the given squared norm to norm
// clip or less. It aims 2^-20 below, so that a row whose coordinates are then
// rounded to float32 still has norm at most clip. A row whose norm is not finite
// gets 0.
func ClipFactor(squaredNorm, clip float64) float64 {
	if !(squaredNorm >= 0) || math.IsInf(squaredNorm, 0) || !(clip > 0) {
		return 0
	}
	norm := math.Sqrt(squaredNorm)
	target := clip * (1 - 0x1p-20)
	if norm <= target {
		return 1
	}
	return target / norm
}
