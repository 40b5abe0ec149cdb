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
	order := make([]int, len(scores))
	total := 0
	for i, p := range positive {
		order[i] = i
		if p {
			total++
		}
	}
	if total == 0 || total == len(scores) {
		return Ranking{0.5, compare.Share(total, len(scores))}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return areas(order, scores, positive, total)
}

// areas computes the areas under both curves, one threshold after the other.
func areas(order []int, scores []float64, positive []bool, total int) Ranking {
	var roc, prc float64
	right, wrong := 0, 0
	for lo := 0; lo < len(order); {
		hi, before, ties := lo, right, wrong
		for ; hi < len(order) && scores[order[hi]] == scores[order[lo]]; hi++ {
			if positive[order[hi]] {
				right++
			} else {
				wrong++
			}
		}
		roc += float64(wrong-ties) * float64(right+before) / 2
		prc += float64(right-before) * float64(right) / float64(right+wrong)
		lo = hi
	}
	negative := len(order) - total
	return Ranking{roc / (float64(total) * float64(negative)), prc / float64(total)}
}

// rankClasses returns the ranking of the second of two classes, or the mean over the classes of
// each against the rest.
func rankClasses(scores []float64, labels []int32, classes int) Ranking {
	n := len(labels)
	column, positive := make([]float64, n), make([]bool, n)
	if classes == 2 {
		for i, l := range labels {
			column[i], positive[i] = scores[2*i+1]-scores[2*i], l == 1
			if math.IsNaN(column[i]) {
				column[i] = 0
			}
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
