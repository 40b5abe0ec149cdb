package main

import (
	"math"

	"github.com/seed7ba64551/privgen/report"
)

// figure is one number of a report, for synthetic and for held-out real records.
type figure struct {
	key, name string
	of        func(*report.Report) (synthetic, held report.Number)
}

var none = report.Number(math.NaN())

// figures returns the main figures, for texts and comparisons.
var figures = []figure{
	{"column_shapes", "column shapes (1 is best)", func(r *report.Report) (a, b report.Number) {
		return quality(r, func(q *report.QualityScores) report.Number { return q.ColumnShapes })
	}},
	{"column_pair_trends", "pair trends, related columns (1)",
		func(r *report.Report) (a, b report.Number) {
			return quality(r, func(q *report.QualityScores) report.Number { return q.ColumnPairTrends })
		}},
	{"all_pairs", "pair trends, all columns (1)", func(r *report.Report) (a, b report.Number) {
		return quality(r, func(q *report.QualityScores) report.Number { return q.AllPairs })
	}},
	{"three_way", "three-way total variation (0)", func(r *report.Report) (a, b report.Number) {
		if r.ThreeWay == nil {
			return none, none
		}
		return r.ThreeWay.Mean.Synthetic, r.ThreeWay.Mean.HeldOut
	}},
	{"query_error", "counting queries, mean error (0)", func(r *report.Report) (a, b report.Number) {
		if r.Queries == nil {
			return none, none
		}
		return r.Queries.Mean.Synthetic, r.Queries.Mean.HeldOut
	}},
	{"discriminator_auc", "told from real, area under ROC (0.5)",
		func(r *report.Report) (a, b report.Number) {
			if r.Propensity == nil {
				return none, none
			}
			return r.Propensity.AUC.Synthetic, r.Propensity.AUC.HeldOut
		}},
	{"accuracy", "classifiers' accuracy, mean (trained on real)", accuracy},
	{"item_error", "item frequencies, mean error (0)", func(r *report.Report) (a, b report.Number) {
		if r.Sets == nil {
			return none, none
		}
		return r.Sets.ItemError.Synthetic, r.Sets.ItemError.HeldOut
	}},
}

func quality(r *report.Report, of func(*report.QualityScores) report.Number) (a, b report.Number) {
	if r.Quality == nil {
		return none, none
	}
	b = none
	if r.Quality.HeldOut != nil {
		b = of(r.Quality.HeldOut)
	}
	return of(&r.Quality.Synthetic), b
}

// accuracy returns the mean accuracies of all methods, trained on synthetic and on real records.
func accuracy(r *report.Report) (a, b report.Number) {
	if r.Classifiers == nil || len(r.Classifiers.Rows) == 0 {
		return none, none
	}
	for _, row := range r.Classifiers.Rows {
		a += row.Synthetic.Accuracy
		b += row.Real.Accuracy
	}
	n := report.Number(len(r.Classifiers.Rows))
	return a / n, b / n
}
