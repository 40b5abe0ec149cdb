package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/seed7ba64551/privgen/lab/internal/regress"
	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// A measure is a column of the results.
type measure struct {
	name, title string
	places      int  // decimals on the page
	small       bool // smaller values are better
}

var measures = []measure{
	{name: "boosting", title: "boosting", places: 3},
	{name: "network", title: "network", places: 3},
	{name: "queries", title: "queries", places: 4, small: true},
	{name: "pairs", title: "pairs", places: 4, small: true},
	{name: "shapes", title: "shapes", places: 4},
	{name: "trends", title: "trends", places: 4},
	{name: "sdmetrics", title: "SDMetrics", places: 4},
	{name: "processor_s", title: "processor, s", places: 1, small: true},
	{name: "wall_s", title: "wall, s", places: 1, small: true},
	{name: "memory_mib", title: "memory, MiB", places: 0, small: true},
}

func measureNames() (list []string) {
	for _, m := range measures {
		list = append(list, m.name)
	}
	return list
}

const (
	queries   = 500
	mostPairs = 400
	bins      = 20 // of a column of numbers, in pairs
)

// judge compares rows with the test rows, and prints a line for each measure. Training rows are not
// read, so that real training rows have the error of sampling, and no system is judged by the rows
// that it saw.
func judge(w io.Writer, folder, file string, drop []string) error {
	schema, err := records.OpenSchema(filepath.Join(folder, schemaFile))
	if err != nil {
		return err
	}
	test, err := rivals.Rows(filepath.Join(folder, testFile), schema)
	if err != nil {
		return err
	}
	drawn, err := rivals.Rows(filepath.Join(folder, file), schema)
	if err != nil {
		return err
	}
	if schema.Classes() > 0 {
		err = classes(w, drawn, test)
	} else {
		var boosting, network float64
		boosting, network, err = regress.Explained(drawn, test, drop)
		fmt.Fprintf(w, "boosting %g\nnetwork %g\n", boosting, network)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "queries", queryError(drawn, test))
	a, err := tabular.Read(test, nil)
	if err != nil {
		return err
	}
	b, err := tabular.Read(drawn, nil)
	if err != nil {
		return err
	}
	pairs, err := rivals.Variation(a, b, 2, mostPairs, bins)
	if err != nil {
		return err
	}
	q, err := tabular.Compare(a, b, mostPairs, 1)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "pairs", pairs)
	fmt.Fprintln(w, "shapes", q.ColumnShapes)
	fmt.Fprintln(w, "trends", q.AllPairs)
	return nil
}

// classes prints the macro F1 of classifiers that learn from rows.
func classes(w io.Writer, rows, test *records.Frame) error {
	train, err := classify.Read(rows)
	if err != nil {
		return err
	}
	for name, m := range map[string]classify.Method{"boosting": classify.GradientBoosting{},
		"network": classify.NeuralNetwork{Hidden: []int{100}, Seed: 1}} {
		c, err := train.Fit(m)
		if err != nil {
			return err
		}
		found, err := classify.Test(c, test)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, name, found.MacroF1())
	}
	return nil
}

// queryError returns the mean absolute error of random queries on three columns each: the fraction
// of rows whose numbers lie between those of two test rows, and whose levels are among a random
// half.
func queryError(rows, test *records.Frame) float64 {
	rng, sum := rand.New(rand.NewPCG(1, 0x71756572)), 0.0
	columns := test.Schema().Columns()
	for range queries {
		inside := func(*records.Frame, int) bool { return true }
		for _, j := range rng.Perm(len(columns))[:min(3, len(columns))] {
			before, one := inside, condition(rng, columns[j], j, test)
			inside = func(f *records.Frame, i int) bool { return before(f, i) && one(f, i) }
		}
		sum += math.Abs(fraction(rows, inside) - fraction(test, inside))
	}
	return sum / queries
}

func condition(rng *rand.Rand, c records.Column, j int,
	test *records.Frame) func(*records.Frame, int) bool {
	if !c.IsNumber() {
		among := rng.Uint64()
		salt := rng.Uint64() | 1
		return func(f *records.Frame, i int) bool {
			return (among+uint64(f.Level(i, j)+1)*salt)>>63 == 1
		}
	}
	a, b := test.Number(rng.IntN(test.Len()), j), test.Number(rng.IntN(test.Len()), j)
	lo, hi := min(a, b), max(a, b)
	return func(f *records.Frame, i int) bool { return f.Number(i, j) >= lo && f.Number(i, j) <= hi }
}

func fraction(f *records.Frame, inside func(*records.Frame, int) bool) float64 {
	n := 0
	for i := range f.Len() {
		if inside(f, i) {
			n++
		}
	}
	return float64(n) / float64(f.Len())
}
