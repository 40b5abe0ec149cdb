// Command headtohead compares private systems for tables on public data sets: how well models that
// learn from their rows predict real rows, errors of queries and of pairs of columns, time and
// memory. README.md says how to add a set or a system.
//
//	go -C lab run ./headtohead -data DIR -sets adult,king-county -systems real,ours,mst \
//	    -epsilon 1 -seeds 2 -results results.csv -page page.md
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
)

// config is the command line.
type config struct {
	data, python, results, page string
	sets                        []set
	systems                     []system
	epsilons                    program.Numbers
	seeds, rows                 int
	limit                       time.Duration

	step, folder string // of a process that this program starts; see process.go
	seed         uint64
}

func main() { program.Main("headtohead", run) }

func parse(args []string) (c config, err error) {
	f := program.NewFlags("headtohead")
	f.StringVar(&c.data, "data", "", "folder with a folder for each data set")
	names := f.String("sets", "adult,king-county,bike-sharing", "data sets, separated by commas")
	rivals := f.String("systems", "real,ours,aim,mst", "systems, separated by commas")
	f.Var(&c.epsilons, "epsilon", "values of ε, separated by commas (default: 1)")
	f.IntVar(&c.seeds, "seeds", 1, "number of runs of each system, with seeds 0, 1 and so on")
	f.IntVar(&c.rows, "rows", 0, "largest number of training rows, drawn at random with a fixed seed; "+
		"the set's name in the results then ends in this number (default: all)")
	f.DurationVar(&c.limit, "limit", 30*time.Minute,
		"time limit of a run; a run beyond it has a line without measures")
	f.StringVar(&c.python, "python", "", "path of a Python with the packages dpmm and sdmetrics; "+
		"without it, what needs them is left out")
	f.StringVar(&c.results, "results", "",
		"CSV file to which every run adds a line; runs that already have a line are not repeated")
	f.StringVar(&c.page, "page", "", "write tables of all results to this file; text above the line "+
		marker+" is kept")
	f.StringVar(&c.step, "step", "", "for processes that the program starts: prepare, draw or judge")
	f.StringVar(&c.folder, "folder", "", "with -step: folder of the run's files")
	f.Uint64Var(&c.seed, "seed", 0, "with -step: seed of the run")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	for name := range strings.SplitSeq(*names, ",") {
		s, err := find(sets, name, func(s set) string { return s.name })
		if err != nil {
			return c, fmt.Errorf("-sets %w", err)
		}
		c.sets = append(c.sets, s)
	}
	for name := range strings.SplitSeq(*rivals, ",") {
		s, err := find(systems, name, func(s system) string { return s.name })
		if err != nil {
			return c, fmt.Errorf("-systems %w", err)
		}
		c.systems = append(c.systems, s)
	}
	c.epsilons = c.epsilons.Or(1)
	return c, nil
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if c.step != "" {
		return c.child(ctx)
	}
	done, err := runs.Open(c.results, measureNames())
	if err != nil {
		return err
	}
	var errs []error // a system that fails does not stop the others
	for _, s := range c.sets {
		if err := c.runSet(ctx, s, done); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	if c.page != "" {
		errs = append(errs, writePage(c.page, done))
	}
	return errors.Join(errs...)
}

// name returns the name of a set in the results.
func (c config) name(s set) string {
	if c.rows > 0 {
		return fmt.Sprintf("%s@%d", s.name, c.rows)
	}
	return s.name
}

// missing lists the runs of a set that have no line yet. Real rows have one run.
func (c config) missing(s set, done *runs.File) (list []runs.Key) {
	for seed := range uint64(c.seeds) {
		for _, e := range c.epsilons {
			for _, system := range c.systems {
				key := runs.Key{Table: c.name(s), System: system.name, Epsilon: e, Seed: seed}
				if system.name == real {
					key.Epsilon, key.Seed = 0, 0
				} else if system.python && c.python == "" {
					continue
				}
				if !done.Has(key) && !slices.Contains(list, key) {
					list = append(list, key)
				}
			}
		}
	}
	return list
}

func (c config) runSet(ctx context.Context, s set, done *runs.File) error {
	keys := c.missing(s, done)
	if len(keys) == 0 {
		return nil
	}
	folder, err := os.MkdirTemp("", "headtohead")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, err := c.start(ctx, s, runs.Key{System: real}, "prepare", folder); err != nil {
		return err
	}
	var errs []error
	for _, key := range keys {
		measures, err := c.one(ctx, s, key, folder)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s, ε = %g, seed %d: %w", key.System, key.Epsilon, key.Seed,
				err))
			continue
		}
		r := runs.Run{Key: key, Measures: measures}
		fmt.Println(strings.Join(r.Fields(), " "))
		if err := done.Add(r); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}
