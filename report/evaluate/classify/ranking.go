package classify

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// Ranking measures how well scores rank the records of one class above all others.
type Ranking struct {
	// ROC is the area under the receiver operating characteristic. Of all pairs of a record of the
	// class and another record, it is the fraction in which the first has the larger score. Ties
	// count half.
	ROC float64 `json:"roc_auc"`
	// PRC is the average precision, the sum over thresholds of the precision times the increase in
	// recall, without interpolation.
	PRC float64 `json:"average_precision"`
}

// Rank computes the areas under the curves from scores and from whether each record is of the
// class. If all records are of one kind, ROC is ½ and PRC the share of the class.
//
// Errors: *[param.Error] if the lengths differ or a number is NaN.
func Rank(scores []float64, positive []bool) (Ranking, error) {
	if len(scores) != len(positive) {
		return Ranking{}, param.New("classify.Rank positive", "more or fewer values than scores",
			"one value for each score")
	}
	if slices.ContainsFunc(scores, math.IsNaN) {
		return Ranking{}, param.New("classify.Rank scores", "NaN", "numbers")
	}
	return rank(scores, positive), nil
}

func rank(scores []float64, positive []bool) Ranking {
	var roc, prc float64
	right, wrong := 0, 0
	class, others := ranked(scores, positive)
	eachThreshold(class, others, func(r, w int) {
		roc += float64(w-wrong) * float64(r+right) / 2
		prc += float64(r-right) * float64(r) / float64(r+w)
		right, wrong = r, w
	})
	if right == 0 || wrong == 0 {
		return Ranking{0.5, compare.Share(right, len(scores))}
	}
	return Ranking{roc / (float64(right) * float64(wrong)), prc / float64(right)}
}

// ranked returns the scores of the class and of the others, with opposite signs and in ascending
// order. NaN counts as 0.
func ranked(scores []float64, positive []bool) (class, others []float64) {
	for i, s := range scores {
		if math.IsNaN(s) {
			s = 0
		}
		if positive[i] {
			class = append(class, -s)
		} else {
			others = append(others, -s)
		}
	}
	slices.Sort(class)
	slices.Sort(others)
	return class, others
}

// eachThreshold calls do with the numbers of records of the class and of others at or above each
// distinct score.
func eachThreshold(class, others []float64, do func(right, wrong int)) {
	for i, j := 0, 0; i < len(class) || j < len(others); do(i, j) {
		at := math.Inf(1)
		if i < len(class) {
			at = class[i]
		}
		if j < len(others) {
			at = min(at, others[j])
		}
		for i < len(class) && class[i] == at {
			i++
		}
		for j < len(others) && others[j] == at {
			j++
		}
	}
}

// rankClasses returns the ranking of the second of two classes, or the mean over the classes of
// each against the rest.
func rankClasses(scores []float64, labels []int32, classes int) Ranking {
	n := len(labels)
	column, positive := make([]float64, n), make([]bool, n)
	if classes == 2 {
		for i, l := range labels {
			column[i], positive[i] = scores[2*i+1]-scores[2*i], l == 1
		}
		return rank(column, positive)
	}
	var mean Ranking
	ranked := 0.0
	for c := range classes {
		count := 0
		for i, l := range labels {
			column[i], positive[i] = scores[i*classes+c], int(l) == c
			if positive[i] {
				count++
			}
		}
		if count == 0 || count == n {
			continue
		}
		r := rank(column, positive)
		mean.ROC, mean.PRC, ranked = mean.ROC+r.ROC, mean.PRC+r.PRC, ranked+1
	}
	if ranked == 0 {
		return Ranking{0.5, 0}
	}
	return Ranking{mean.ROC / ranked, mean.PRC / ranked}
}
