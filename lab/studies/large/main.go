// Large fits AIM, MST and MERF with default settings to a generated table that is never in memory
// as a whole: every pass reads it in pieces. It prints the time of each pass and of the fit.
// docs/scale.md has the results.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/tabular"
	"github.com/seed7ba64551/privgen/synth"
)

// config is the command line.
type config struct {
	rows, distinct int
	epsilon        float64
	systems        string
	profile        string
}

func main() { program.Main("large", run) }

func run(ctx context.Context, args []string) (err error) {
	var c config
	f := program.NewFlags("large")
	f.IntVar(&c.rows, "rows", 10_000_000, "number of rows")
	f.IntVar(&c.distinct, "distinct", 1<<18, "number of distinct rows, which are repeated")
	f.Float64Var(&c.epsilon, "epsilon", 1, "privacy budget ε; δ is 1e-9")
	f.StringVar(&c.systems, "systems", "aim,mst,merf", "systems, separated by commas")
	f.StringVar(&c.profile, "profile", "", "file for a profile of the processor time")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.rows < 1 || c.distinct < 1 {
		return fmt.Errorf("-rows %d -distinct %d: want positive numbers", c.rows, c.distinct)
	}
	if c.profile != "" {
		file, err := os.Create(c.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, system := range strings.Split(c.systems, ",") {
		if err := c.fit(ctx, system); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	return nil
}

// source returns a table of 50 columns and a class: numbers, levels and flags.
func (c config) source() demo.TableSource {
	return demo.TableSource{Numbers: 25, Choices: 20, Levels: 10, Flags: 5,
		Classes: 2, Seed: 1}
}

// plan returns the plan of a system with its defaults.
func (c config) plan(system string, s records.Schema) (synth.PassPlan, error) {
	b := accountant.Budget{Epsilon: c.epsilon, Delta: 1e-9}
	var p synth.Plan
	var err error
	switch system {
	case "aim":
		p, err = synth.PlanOf(privgen.AIM(s, b).Nominal(c.rows).Seed(1).Plan())
	case "mst":
		p, err = synth.PlanOf(privgen.MST(s, b).Nominal(c.rows).Seed(1).Plan())
	case "merf":
		p, err = synth.PlanOf(privgen.MERF(s, b).Nominal(c.rows).Seed(1).Plan())
	default:
		err = errors.New("unknown system; want aim, mst or merf")
	}
	if err != nil {
		return nil, err
	}
	return p.(synth.PassPlan), nil
}

const piece = 1 << 16 // rows in a piece

// clock measures elapsed time and processor time.
type clock struct {
	start time.Time
	used  time.Duration
}

func newClock() clock { return clock{time.Now(), program.ProcessorTime()} }

func (c clock) String() string {
	return fmt.Sprintf("%.1f s elapsed, %.1f s of processor time", time.Since(c.start).Seconds(),
		(program.ProcessorTime() - c.used).Seconds())
}

func (c config) fit(ctx context.Context, system string) error {
	schema, err := c.source().Schema()
	if err != nil {
		return err
	}
	p, err := c.plan(system, schema)
	if err != nil {
		return err
	}
	var distinct []*records.Frame
	for k := 0; k*piece < min(c.distinct, c.rows); k++ {
		rows, err := c.draw(uint64(k), min(piece, c.distinct-k*piece))
		if err != nil {
			return err
		}
		distinct = append(distinct, rows)
	}
	l := ledger.New(p.Budget())
	all := newClock()
	gen, err := p.FitPasses(ctx, l, func(ctx context.Context, pass synth.Pass) (
		*mechanism.Partial, error) {
		sums, err := p.Partial(pass)
		if err != nil {
			return nil, err
		}
		one := newClock()
		for rows, err := range c.pieces(distinct) {
			if err != nil {
				return nil, err
			}
			if err := sums.Add(ctx, rows); err != nil {
				return nil, err
			}
		}
		fmt.Printf("%s, pass %q: %v\n", system, pass.Purpose, one)
		return sums, nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d rows, %d columns and a class: %v\n", system, c.rows, len(schema.Columns())-1,
		all)
	return c.compare(ctx, gen)
}

// pieces returns all rows in pieces. The same distinct rows are repeated, so that generating them
// takes little of the time that is measured.
func (c config) pieces(distinct []*records.Frame) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		for lo, k := 0, 0; lo < c.rows; k++ {
			rows := distinct[k%len(distinct)]
			if n := c.rows - lo; n < rows.Len() {
				rows = rows.Slice(0, n)
			}
			lo += rows.Len()
			if !yield(rows, nil) {
				return
			}
		}
	}
}

// draw generates n rows.
func (c config) draw(draw uint64, n int) (*records.Frame, error) {
	s := c.source()
	s.Records, s.Draw = n, draw
	return s.Make()
}

const compared = 100_000 // rows of each kind that are compared

// compare prints the mean total variation of tables of one and two columns between synthetic rows
// and other generated rows, and between two sets of generated rows.
func (c config) compare(ctx context.Context, gen *synth.Generator) error {
	synthetic, err := gen.Sample(ctx, compared, privgen.Seed(1))
	if err != nil {
		return err
	}
	var tables [3]*tabular.Table
	for i := range tables {
		rows := synthetic
		if i > 0 {
			if rows, err = c.draw(1<<40+uint64(i), compared); err != nil {
				return err
			}
		}
		if tables[i], err = tabular.Read(rows, nil); err != nil {
			return err
		}
	}
	fmt.Printf("variation of 1 and 2 columns:")
	for _, other := range []*tabular.Table{tables[0], tables[1]} {
		for way := 1; way <= 2; way++ {
			groups, err := other.Groups(way, 300, 1)
			if err != nil {
				return err
			}
			list, err := tabular.Variation(tables[2], other, groups, 20)
			if err != nil {
				return err
			}
			sum := 0.0
			for _, x := range list {
				sum += x / float64(len(list))
			}
			fmt.Printf(" %.4f", sum)
		}
	}
	fmt.Println(" (the last two: other generated rows)")
	return nil
}
