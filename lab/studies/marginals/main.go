// Marginals measures AIM, MST and MERF with default settings on a table. For comparison it also
// measures the reference implementations of AIM and MST, and the recipe of MERF's authors.
// docs/studies/marginals.md has the results.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
)

// shapes lists the shapes of generated tables.
var shapes = map[string]demo.TableSource{
	"adult-like": {Records: 20_000, Numbers: 6, Choices: 8, Levels: 16, Flags: 1, Classes: 2,
		Minority: 0.25, Seed: 1},
	"numbers": {Records: 20_000, Numbers: 25, Choices: 3, Levels: 6, Classes: 2, Minority: 0.1,
		Seed: 2},
	"five": {Records: 20_000, Numbers: 3, Choices: 12, Levels: 8, Flags: 4, Classes: 5, Seed: 3},
	"rare": {Records: 20_000, Numbers: 4, Choices: 8, Levels: 8, Flags: 2, Classes: 6,
		Minority: 0.01, Seed: 7},
	"wide": {Records: 30_000, Numbers: 60, Classes: 2, Seed: 8},
	"few":  {Records: 5350, Numbers: 29, Classes: 2, Minority: 0.07, Seed: 21},
	// No setting was chosen on the next two tables.
	"seven":  {Records: 20_000, Numbers: 5, Choices: 9, Levels: 10, Flags: 2, Classes: 7, Seed: 41},
	"thirty": {Records: 20_000, Numbers: 30, Classes: 2, Minority: 0.3, Seed: 42},

	"few-mixed": {Records: 5000, Numbers: 12, Choices: 10, Levels: 8, Classes: 3, Minority: 0.1,
		Seed: 22},
}

// config is the command line.
type config struct {
	shape, schema, train, test string
	header                     bool
	rows, skip                 int
	systems                    []string
	epsilons                   []float64
	runs                       int
	judge                      judge
	results, python, write     string
	summary                    bool
}

func main() { program.Main("marginals", run) }

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("marginals")
	f.StringVar(&c.shape, "shape", "adult-like", "shape of a generated table, used without files")
	f.StringVar(&c.schema, "schema", "", "schema of the files")
	f.StringVar(&c.train, "train", "", "CSV file of real rows")
	f.StringVar(&c.test, "test", "", "CSV file of real rows to test on; by default a fifth of the training rows")
	f.BoolVar(&c.header, "header", false, "the first line of the files names the columns")
	f.IntVar(&c.skip, "skip", 0, "a column of the files that is not in the schema, counted from 1 "+
		"(default: none)")
	f.IntVar(&c.rows, "rows", 0, "number of training rows of the file that are used, drawn at random; "+
		"by default all")
	systems := f.String("systems", "aim", "aim, mst, merf, merf-quantiles, pool, "+
		"reference-aim, reference-mst, reference-merf, or real "+
		"for the real rows, separated by commas")
	epsilons := f.String("epsilon", "1", "values of ε, separated by commas")
	f.IntVar(&c.runs, "runs", 1, "number of runs of each system, with seeds 0, 1 and so on")
	f.StringVar(&c.judge.classifiers, "classifiers", "six", "one (gradient boosting), six or all")
	f.IntVar(&c.judge.most, "most", 20_000, "largest number of rows on which a classifier is trained")
	f.StringVar(&c.results, "results", "",
		"CSV file to which every run adds a line; runs that already have a line are not repeated")
	f.StringVar(&c.python, "python", "python3",
		"for references: path of a Python with the package dpmm, or PyTorch for reference-merf; "+
			"run in lab")
	f.StringVar(&c.write, "write", "",
		"folder for the schema and for real and synthetic rows as CSV, for other judges")
	f.BoolVar(&c.summary, "summary", false, "print the means of the file of results, and run no system")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	c.systems = strings.Split(*systems, ",")
	for _, text := range strings.Split(*epsilons, ",") {
		e, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return c, fmt.Errorf("-epsilon: %w", err)
		}
		c.epsilons = append(c.epsilons, e)
	}
	if c.rows < 0 {
		return c, fmt.Errorf("-rows %d: want a number of rows, or 0 for all", c.rows)
	}
	return c, c.judge.validate()
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	done, err := runs.Open(c.results, measureNames)
	if err != nil {
		return err
	}
	if c.summary {
		return summary(done, os.Stdout)
	}
	t, err := c.load()
	if err != nil {
		return err
	}
	if err := c.writeReal(t); err != nil {
		return err
	}
	fmt.Println(strings.Join(done.Names, " "))
	for _, e := range c.epsilons {
		for _, system := range c.systems {
			for seed := range uint64(c.runs) {
				key := runs.Key{Table: t.name, System: system, Epsilon: e, Seed: seed}
				if done.Has(key) {
					continue
				}
				r, err := c.one(ctx, t, key)
				if err != nil {
					return fmt.Errorf("%s, ε = %g, seed %d: %w", system, e, seed, err)
				}
				fmt.Println(strings.Join(r.Fields(), " "))
				if err := done.Add(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// table holds real rows, and held-out real rows for the scores.
type table struct {
	name       string
	rows, held *records.Frame
}

func (c config) load() (table, error) {
	if seed := map[string]uint64{"fraud": 31, "fraud2": 32}[c.shape]; c.train == "" && seed > 0 {
		rows, err := fraud(5350, seed, 0)
		if err != nil {
			return table{}, err
		}
		held, err := fraud(8000, seed, 1)
		return table{c.shape, rows, held}, err
	}
	if c.train == "" && c.shape == "spiky" {
		rows, err := spiky(20_000, 41, 0)
		if err != nil {
			return table{}, err
		}
		held, err := spiky(8000, 41, 1)
		return table{c.shape, rows, held}, err
	}
	if c.train == "" {
		source, ok := shapes[c.shape]
		if !ok {
			return table{}, fmt.Errorf("-shape %q: want one of adult-like, numbers, five, rare, wide, few, "+
				"few-mixed, seven, thirty, fraud, fraud2, spiky", c.shape)
		}
		rows, err := source.Make()
		if err != nil {
			return table{}, err
		}
		source.Draw, source.Records = 1, 8000
		held, err := source.Make()
		return table{c.shape, rows, held}, err
	}
	s, err := records.OpenSchema(c.schema)
	if err != nil {
		return table{}, err
	}
	csv := records.CSV{Comment: '|', Header: c.header, Limits: program.Trusted(),
		Names: rivals.Names(s, c.skip)}
	rows, err := csv.OpenFrame(c.train, s)
	if err != nil {
		return table{}, err
	}
	for j, column := range s.Columns() {
		if rows.Strays(j) == rows.Len() {
			return table{}, fmt.Errorf("%s: every value of column %s is outside the schema: see -skip",
				c.train, column.Name())
		}
	}
	t := table{name: strings.TrimSuffix(baseName(c.schema), ".json"), rows: rows}
	if c.test != "" {
		if t.held, err = csv.OpenFrame(c.test, s); err != nil {
			return t, err
		}
	} else {
		t.rows, t.held = program.HoldOut(rows)
	}
	t.rows = rivals.Some(t.rows, c.rows)
	return t, nil
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// one runs a system and returns its scores.
func (c config) one(ctx context.Context, t table, key runs.Key) (runs.Run, error) {
	var r result
	runtime.GC()
	before := program.ProcessorTime()
	rows, python, err := c.synthetic(ctx, t, key)
	if err != nil {
		return runs.Run{}, err
	}
	if r.seconds = python; python == 0 {
		r.seconds = (program.ProcessorTime() - before).Seconds()
	}
	if err := c.writeSynthetic(key, rows); err != nil {
		return runs.Run{}, err
	}
	err = c.judge.measure(&r, t, rows)
	return runs.Run{Key: key, Measures: r.measures()}, err
}
