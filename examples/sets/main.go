// Command sets makes synthetic sets of items, such as the stops that a passenger visited. It
// compares the answers to counting queries on synthetic and real sets.
//
//	go -C examples run ./sets                     on sets made up by the program: a few seconds
//	go -C examples run ./sets -file retail.dat.gz -universe 16470 -max-items 76 -nominal 88000
//
// It prints the price before it reads a record, the guarantee and the errors afterwards.
package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func main() { program.Main("sets", run) }

func run(ctx context.Context, args []string) error {
	made := demo.TransitRecords()
	var budget accountant.Budget
	f := program.NewFlags("sets")
	program.BudgetFlags(f, &budget, 1, 1e-6)
	file := f.String("file", "", "file of sets, one set on each line, items separated by blanks")
	universe := f.Int("universe", made.Universe, "public number of possible items")
	maxItems := f.Int("max-items", made.MaxItems, "public largest number of items of a set")
	nominal := f.Int("nominal", 60000, "public nominal number of records")
	if err := f.Parse(args); err != nil {
		return err
	}

	schema := records.Sets(*universe, *maxItems)
	plan, err := privgen.DPGM(schema, budget).Nominal(*nominal).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	var real *records.SetTable
	if *file != "" {
		real, err = records.OpenTransactions(*file, schema)
	} else {
		made.Records, made.Universe, made.MaxItems = *nominal, *universe, *maxItems
		real, err = made.Make()
	}
	if err != nil {
		return err
	}
	meter := program.NewMeter()
	gen, err := plan.Fit(ctx, real, privgen.OnProgress(meter.Show))
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n", gen.Guarantee())

	synthetic, err := gen.Sample(ctx, *nominal, privgen.Seed(1))
	if err != nil {
		return err
	}
	errors, err := evaluate.Queries{Seed: 1}.Compare(real, synthetic)
	if err != nil {
		return err
	}
	fmt.Println(errors)
	return nil
}
