// Command merf-table makes a private synthetic copy of a table with mixed columns and a class, and
// reports on its quality.
//
//	go -C lab run ./studies/merf-table  on a table made by the program: 20 s of processor time
//	go -C lab run ./studies/merf-table -train adult.data.gz -test adult.test.gz  on Adult
//	go -C lab run ./studies/merf-table -schema mine.json -train mine.csv -header  on any table
//
// The schema lists the columns, their bounds and their levels. It is public: adult.json and the
// other schemas of this folder were written from the data sets' documentation, never from their
// records.
//
// It prints the bill before it reads a record, and the guarantee and the quality afterwards. It
// writes synthetic.csv, the generator and the released embedding. Other generators can be trained
// against the embedding at no cost.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

func main() { program.Main("merf-table", run) }

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	schema, err := c.schema()
	if err != nil {
		return err
	}
	plan, err := c.chain(schema).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, test, err := c.load(schema)
	if err != nil {
		return err
	}
	gen, err := c.fit(ctx, plan, train)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\n", gen.Guarantee())

	synthetic, err := c.write(ctx, gen)
	if err != nil {
		return err
	}
	return c.report(synthetic, train, test)
}

// fit releases the embedding, saves it, and trains the generator against it.
func (c config) fit(ctx context.Context, plan *merf.Plan,
	train *records.Frame) (*privgen.Generator, error) {
	if c.embedding != "" {
		return c.refit(ctx, plan)
	}
	e, err := plan.Embed(ctx, ledger.New(c.budget), train)
	if err != nil {
		return nil, err
	}
	if err := program.Save(filepath.Join(c.out, "embedding.privgen"), e.Save); err != nil {
		return nil, err
	}
	return plan.Refit(ctx, e, privgen.OnProgress(show))
}

// refit trains against an embedding of an earlier run. It reads no record.
func (c config) refit(ctx context.Context, plan *merf.Plan) (*privgen.Generator, error) {
	f, err := os.Open(c.embedding)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := merf.LoadEmbedding(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	return plan.Refit(ctx, e, privgen.OnProgress(show))
}

// show prints a line of progress at intervals.
func show(p privgen.Progress) {
	if p.Step%500 == 0 || p.Step == p.Of {
		fmt.Fprintf(os.Stderr, "%s %d/%d, ε so far %s, %.0f s\n", p.Stage, p.Step, p.Of,
			accountant.FormatUpper(p.Epsilon, 3), p.Elapsed.Seconds())
	}
}

// write draws the synthetic records and saves them and the generator.
func (c config) write(ctx context.Context, gen *privgen.Generator) (records.Data, error) {
	if err := gen.SaveFile(filepath.Join(c.out, "generator.privgen")); err != nil {
		return nil, err
	}
	data, err := gen.Sample(ctx, c.n, privgen.Seed(c.seed))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(c.out, "synthetic.csv")
	fmt.Printf("%d synthetic records in %s\n", data.Len(), path)
	return data, writeCSV(path, data)
}
