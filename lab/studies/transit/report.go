package main

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/report/evaluate"
)

// classError returns the mean error of "any" in one length class over all runs.
func (r result) classError(class int) float64 {
	sum := 0.0
	for _, e := range r.runs {
		sum += e.Classes[class].Any.Mean
	}
	return sum / float64(len(r.runs))
}

// meanAny returns the mean over classes for "any of" queries with uniform items, and its standard
// deviation over runs.
func (r result) meanAny() (mean, spread float64) {
	return meanOf(r.runs, evaluate.QueryErrors.MeanAny)
}

func meanOf(runs []evaluate.QueryErrors, f func(evaluate.QueryErrors) float64) (mean,
	spread float64) {
	n := float64(len(runs))
	for _, e := range runs {
		mean += f(e) / n
	}
	for _, e := range runs {
		spread += (f(e) - mean) * (f(e) - mean) / max(n-1, 1)
	}
	return mean, math.Sqrt(spread)
}

// table prints the errors, [not private], and marks the smallest at each ε.
func table(c config, results []result) {
	fmt.Printf("\n[not private] mean relative error, %d counting queries, sanity bound 0.1 %% of the "+
		"records, %d seeds, δ = %g, %v\n", c.queries, c.seeds, c.delta, c.relation)
	first := results[0].runs[0]
	fmt.Printf("%-20s %5s  ", "any, uniform items", "ε")
	for _, class := range first.Classes {
		fmt.Printf("%9s", fmt.Sprintf("≤ %d", class.MaxLength))
	}
	fmt.Printf("%9s %9s %8s\n", "mean", "± seeds", "seconds")
	for _, r := range results {
		fmt.Printf("%-20s %5g  ", r.method, r.epsilon)
		for class := range first.Classes {
			fmt.Printf("%9.4f", r.classError(class))
		}
		mean, spread := r.meanAny()
		best := ""
		if least(results, r.epsilon) == mean {
			best = "  best"
		}
		fmt.Printf("%9.4f %9.4f %8.1f%s\n", mean, spread, r.seconds, best)
	}
	kinds(results)
	for _, r := range results {
		if r.paper != "" {
			fmt.Printf("%s: %s\n", r.method, r.paper)
		}
	}
}

// kinds prints the mean errors for each kind of queries, with their standard deviations over seeds.
func kinds(results []result) {
	anyOf, allOf := evaluate.QueryErrors.MeanAny, evaluate.QueryErrors.MeanAll
	fmt.Printf("\n%-20s %5s", "mean over lengths", "ε")
	for _, name := range []string{"any, uniform", "all, uniform", "any, popular", "all, popular"} {
		fmt.Printf("%18s", name)
	}
	fmt.Println()
	for _, r := range results {
		fmt.Printf("%-20s %5g", r.method, r.epsilon)
		for _, runs := range [][]evaluate.QueryErrors{r.runs, r.popular} {
			for _, f := range []func(evaluate.QueryErrors) float64{anyOf, allOf} {
				mean, spread := meanOf(runs, f)
				fmt.Printf("%18s", fmt.Sprintf("%.4f ± %.4f", mean, spread))
			}
		}
		fmt.Println()
	}
	fmt.Println()
}

func least(results []result, eps float64) float64 {
	best := math.Inf(1)
	for _, r := range results {
		if mean, _ := r.meanAny(); r.epsilon == eps {
			best = min(best, mean)
		}
	}
	return best
}
