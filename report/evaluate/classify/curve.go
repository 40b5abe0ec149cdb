package classify

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A ROCPoint is one threshold of a receiver operating characteristic.
type ROCPoint struct {
	FalsePositive float64 `json:"false_positive"` // fraction of the others at or above the threshold
	TruePositive  float64 `json:"true_positive"`  // fraction of the class at or above it
}

// ROCCurve returns the receiver operating characteristic of scores that rank the records of one
// class above all others. The curve goes from (0, 0) to (1, 1), with a point for every distinct
// score. The area under it is the ROC of [Rank].
//
// Errors: *[param.Error] if the lengths differ, a number is NaN, or all records are of one kind.
func ROCCurve(scores []float64, positive []bool) ([]ROCPoint, error) {
	if len(scores) != len(positive) {
		return nil, param.New("classify.ROCCurve positive", "more or fewer values than scores",
			"one value for each score")
	}
	if slices.ContainsFunc(scores, math.IsNaN) {
		return nil, param.New("classify.ROCCurve scores", "NaN", "numbers")
	}
	class, others := ranked(scores, positive)
	if len(class) == 0 || len(others) == 0 {
		return nil, param.New("classify.ROCCurve positive", "records of one kind",
			"records of the class and others")
	}
	curve := []ROCPoint{{}}
	eachThreshold(class, others, func(right, wrong int) {
		curve = append(curve, ROCPoint{float64(wrong) / float64(len(others)),
			float64(right) / float64(len(class))})
	})
	return curve, nil
}
