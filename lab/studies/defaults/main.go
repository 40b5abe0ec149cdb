// Command defaults runs systems with default settings, on generated data of many shapes or on
// files. The systems get only a schema, a budget and a nominal size. The program prints the result
// of privgen.Recommend. For each system it prints the quality of its synthetic records, the time of
// the run, and the time predicted by its plan. The tables are in docs/defaults.md.
//
//	go -C lab run ./studies/defaults  # made-up tables, sets and digits
//	go -C lab run ./studies/defaults -shapes wide -systems gan -seeds 5
//	go -C lab run ./studies/defaults -schema adult.json \
//	    -train adult.data.gz -test adult.test.gz
//	go -C lab run ./studies/defaults -sets retail.dat.gz -universe 16470 \
//	    -max-items 76 -nominal 88000
//	go -C lab run ./studies/defaults -images … -labels … -test-images … \
//	    -test-labels … -nominal 60000
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
)

func main() { program.Main("defaults", run) }

type config struct {
	budget          accountant.Budget
	shapes, systems string
	seeds, nominal  int
	first           int
	verbose         bool
	study           study

	schema, train, test, comment string
	header                       bool
	holdout                      float64

	sets               string
	universe, maxItems int
	files              images.Files
}

func parse(args []string) (c config, err error) {
	f := program.NewFlags("defaults")
	program.BudgetFlags(f, &c.budget, 1, 1e-5)
	f.StringVar(&c.shapes, "shapes", "", "shapes of generated data, separated by commas (default: all)")
	f.StringVar(&c.systems, "systems", "", "systems, separated by commas (default: all suitable systems)")
	f.IntVar(&c.seeds, "seeds", 1, "number of runs of each system, each on a separate budget")
	f.IntVar(&c.first, "seed", 0, "seed of public randomness of the first run")
	f.IntVar(&c.nominal, "nominal", 0, "public nominal number of records of files")
	f.BoolVar(&c.verbose, "v", false, "print every plan")
	c.study.flags(f)
	f.StringVar(&c.schema, "schema", "", "schema of a table in a file")
	f.StringVar(&c.train, "train", "", "CSV file of the table's rows, plain or gz")
	f.StringVar(&c.test, "test", "", "CSV file of held-out rows, for the scores")
	f.Float64Var(&c.holdout, "holdout", 0.2, "without -test: the fraction of the rows that is held out")
	f.BoolVar(&c.header, "header", false, "the first line of the files names the columns")
	f.StringVar(&c.comment, "comment", "|", "lines that begin with this text are skipped")
	f.StringVar(&c.sets, "sets", "", "file of sets, with items separated by blanks")
	f.IntVar(&c.universe, "universe", 0, "public number of possible items")
	f.IntVar(&c.maxItems, "max-items", 0, "public largest number of items of a set")
	c.files.Flags(f, "needed with -images")
	return c, f.Parse(args)
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	tasks, err := c.tasks()
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if err := c.judge(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// judge runs the recommended systems on one task.
func (c config) judge(ctx context.Context, t task) error {
	list, err := privgen.Recommend(t.private.Schema(), c.budget, t.nominal)
	if err != nil {
		fmt.Println(err) // systems are tried even if noise leaves nothing to learn
	}
	list = append(list, c.others(t, list)...)
	fmt.Printf("\n%s: %v, nominal size %d, ε = %g [scores are not private]\n", t.name,
		t.private.Schema(), t.nominal, c.budget.Epsilon)
	for _, r := range list {
		if c.systems != "" && !strings.Contains(","+c.systems+",", ","+r.Plan.System()+",") {
			continue
		}
		for seed := range c.seeds {
			plan, err := c.study.plan(t, c.budget, r.Plan, uint64(c.first+seed))
			if err != nil {
				return err
			}
			if c.verbose && seed == 0 {
				fmt.Println(plan)
			}
			start, used := time.Now(), newMeter()
			gen, err := plan.Fit(ctx, t.private)
			if err != nil {
				return err
			}
			took, spent := time.Since(start), used.String()
			score, err := t.score(ctx, gen)
			if err != nil {
				return err
			}
			fmt.Printf("%-12s %-60s %6.1f s, %s; %s\n", plan.System(), score, took.Seconds(),
				spent, predicted(plan))
		}
	}
	return nil
}

// others returns plans of the systems that are named by flags but not recommended.
func (c config) others(t task, list []privgen.Recommendation) (more []privgen.Recommendation) {
	if t.private.Schema().IsImage() {
		return nil // DPGM has a separate task
	}
	for _, name := range strings.Split(c.systems, ",") {
		known := slices.ContainsFunc(list, func(r privgen.Recommendation) bool {
			return r.Plan.System() == name
		})
		if plan, err := c.study.start(t, c.budget, name, 0); !known && err == nil && plan != nil {
			more = append(more, privgen.Recommendation{Plan: plan})
		} else if err != nil {
			fmt.Println(name+":", err)
		}
	}
	return more
}

// predicted returns the line of the plan that predicts time and memory.
func predicted(p privgen.Plan) string {
	for line := range strings.Lines(p.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "predicted: ") {
			return line
		}
	}
	return "no prediction"
}
