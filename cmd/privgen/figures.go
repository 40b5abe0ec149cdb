package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/report"
)

// figure is one number of a report, for synthetic and for held-out real records.
type figure struct {
	key, name string
	means     string // in half a sentence, for readers who do not know the name
	of        func(*report.Report) (synthetic, held report.Number)
}

var none = report.Number(math.NaN())

// figures returns the main figures, for texts and comparisons.
var figures = []figure{
	{"column_shapes", "column shapes (1 is best)",
		"how alike the values of each column are, one column at a time", func(r *report.Report) (a, b report.Number) {
			return quality(r, func(q *report.QualityScores) report.Number { return q.ColumnShapes })
		}},
	{"column_pair_trends", "pair trends, related columns (1)",
		"how alike the connections of two columns are, where real columns are connected",
		func(r *report.Report) (a, b report.Number) {
			return quality(r, func(q *report.QualityScores) report.Number { return q.ColumnPairTrends })
		}},
	{"all_pairs", "pair trends, all columns (1)",
		"how alike the connections of every two columns are", func(r *report.Report) (a, b report.Number) {
			return quality(r, func(q *report.QualityScores) report.Number { return q.AllPairs })
		}},
	{"three_way", "three-way total variation (0)",
		"the share of records that differ when three columns are looked at together", func(r *report.Report) (a, b report.Number) {
			if r.ThreeWay == nil {
				return none, none
			}
			return r.ThreeWay.Mean.Synthetic, r.ThreeWay.Mean.HeldOut
		}},
	{"query_error", "counting queries, mean error (0)",
		"the error of answers to questions such as how many are old and work much", func(r *report.Report) (a, b report.Number) {
			if r.Queries == nil {
				return none, none
			}
			return r.Queries.Mean.Synthetic, r.Queries.Mean.HeldOut
		}},
	{"discriminator_auc", "told from real, area under ROC (0.5)",
		"how often a trained judge picks the synthetic one of two records; 0.5 is guessing",
		func(r *report.Report) (a, b report.Number) {
			if r.Propensity == nil {
				return none, none
			}
			return r.Propensity.AUC.Synthetic, r.Propensity.AUC.HeldOut
		}},
	{"accuracy", "classifiers' accuracy, mean (trained on real)",
		"how often the class of a real record is predicted by what was learnt from synthetic ones", accuracy},
	{"item_error", "item frequencies, mean error (0)",
		"how far the share of sets with an item is from the real share", func(r *report.Report) (a, b report.Number) {
			if r.Sets == nil {
				return none, none
			}
			return r.Sets.ItemError.Synthetic, r.Sets.ItemError.HeldOut
		}},
}

// meanings returns a line for each of the named figures.
func meanings(names []string) string {
	var b strings.Builder
	for _, f := range figures {
		if slices.Contains(names, f.name) {
			fmt.Fprintf(&b, "  %s: %s\n", f.name, f.means)
		}
	}
	return b.String()
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
