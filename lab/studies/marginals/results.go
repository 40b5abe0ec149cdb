package main

import (
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/lab/internal/runs"
)

// result holds the scores of a run.
type result struct {
	variation                                     [3]float64
	shapes, trends, queries, told                 float64
	roc, hard, weighted, macro, boosting, seconds float64
}

// measureNames lists the measures in a file of results. Smaller values of variation, queries and
// told are better. The column told is the area under the ROC curve of a forest that distinguishes
// synthetic from real rows.
var measureNames = []string{"variation_1", "variation_2", "variation_3", "queries", "told",
	"shapes", "trends", "roc", "roc_hard", "weighted_f1", "macro_f1", "roc_boosting", "processor_s"}

func (r result) measures() []float64 {
	return append(r.variation[:], r.queries, r.told, r.shapes, r.trends, r.roc, r.hard, r.weighted,
		r.macro, r.boosting, r.seconds)
}

// summary prints a line for each table, ε and system: the number of runs, and the mean of each
// measure.
func summary(f *runs.File, w io.Writer) error {
	fmt.Fprint(w, "| table | ε | system | runs |")
	for _, name := range measureNames {
		fmt.Fprintf(w, " %s |", name)
	}
	fmt.Fprintln(w)
	for range f.Names {
		fmt.Fprint(w, "|---")
	}
	fmt.Fprintln(w, "|")
	for _, g := range f.Groups() {
		fmt.Fprintf(w, "| %s | %g | %s | %d |", g.Table, g.Epsilon, g.System, len(g.Runs))
		for i := range measureNames {
			mean, _, _ := g.Mean(i)
			fmt.Fprintf(w, " %.4f |", mean)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}
