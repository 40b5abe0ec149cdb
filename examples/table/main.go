// Command table makes a private synthetic copy of a table with mixed columns and a class.
//
//	go -C examples run ./table                    on a table made up by the program: half a minute
//	go -C examples run ./table -schema lab/studies/merf-table/adult.json \
//		-train adult.data.gz -test adult.test.gz -nominal 32000
//
// The schema lists the columns with their bounds and levels. It is public: write it from the
// documentation of the data, never from the records.
//
// The program prints the price before it reads a record, and the guarantee afterwards. It writes
// synthetic.csv, the generator, and report.html, which compares synthetic with real rows and is not
// private.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/demo"
)

func main() { program.Main("table", run) }

// source describes where schema and rows come from. Without files the rows are generated.
type source struct {
	schema, train, test string
	made                demo.TableSource
	csv                 records.CSV
}

func run(ctx context.Context, args []string) error {
	src := source{made: demo.TableSource{Numbers: 4, Choices: 4, Levels: 8, Flags: 1, Classes: 2,
		Minority: 0.25, Seed: 1}, csv: records.CSV{Comment: '|', Limits: program.Trusted()}}
	var budget accountant.Budget
	f := program.NewFlags("table")
	program.BudgetFlags(f, &budget, 1, 1e-5)
	f.StringVar(&src.schema, "schema", "", "schema of the files (default: the schema of the generated table)")
	f.StringVar(&src.train, "train", "", "CSV file of private rows, plain or gz")
	f.StringVar(&src.test, "test", "", "CSV file of held-out rows, for the report")
	f.BoolVar(&src.csv.Header, "header", false, "the first line of the files names the columns")
	f.IntVar(&src.made.Records, "nominal", 20000, "public nominal number of rows")
	out := f.String("out", "out", "folder for the written files")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}

	schema, err := src.made.Schema()
	if src.schema != "" {
		schema, err = records.OpenSchema(src.schema)
	}
	if err != nil {
		return err
	}
	plan, err := privgen.MERF(schema, budget).Nominal(src.made.Records).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, err := src.rows(src.train, schema, 0)
	if err != nil {
		return err
	}
	test, err := src.rows(src.test, schema, 1)
	if err != nil {
		return err
	}
	gen, err := plan.Fit(ctx, train, privgen.OnProgress(program.NewMeter().Show))
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n", gen.Guarantee())

	synthetic, err := gen.Sample(ctx, src.made.Records, privgen.Seed(1))
	if err != nil {
		return err
	}
	page, err := report.Compute(ctx, report.Input{Generator: gen, Plan: plan, Real: train,
		HeldOut: test, Synthetic: synthetic}, report.Settings{})
	if err != nil {
		return err
	}
	err = program.Save(filepath.Join(*out, "synthetic.csv"), func(w io.Writer) error {
		return records.CSV{Header: true}.WriteFrame(w, synthetic.(*records.Frame))
	})
	if err != nil {
		return err
	}
	if err := program.Save(filepath.Join(*out, "report.html"), page.WriteHTML); err != nil {
		return err
	}
	fmt.Println("wrote synthetic.csv, generator.privgen and report.html to", *out)
	return gen.SaveFile(filepath.Join(*out, "generator.privgen"))
}

// rows reads a file, or generates rows: different draws of one distribution.
func (s source) rows(path string, schema records.Schema, draw uint64) (*records.Frame, error) {
	if path != "" {
		return s.csv.OpenFrame(path, schema)
	}
	s.made.Draw = draw
	return s.made.Make()
}
