// Command contrast measures whether stretching the grey levels of synthetic images helps
// classifiers that learn from them. It compares the same samples of one release, once as drawn and
// once stretched.
//
//	go -C lab run ./studies/contrast -set digits
//	go -C lab run ./studies/contrast -set shapes
//
// Every accuracy is on held-out images that the program draws.
package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images/shapes"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/rff"
)

func main() { program.Main("contrast", run) }

func run(ctx context.Context, args []string) error {
	f := program.NewFlags("contrast")
	set := f.String("set", "digits", "digits or shapes, drawn by the program")
	n := f.Int("n", 20000, "number of private images")
	synthetic := f.Int("synthetic", 10000, "number of synthetic images on which classifiers are trained")
	features := f.Int("features", 3000, "number of random features")
	steps := f.Int("steps", 1500, "training steps")
	seeds := f.Int("seeds", 2, "number of releases")
	var budget accountant.Budget
	program.BudgetFlags(f, &budget, 1, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	draw := digits.Draw
	if *set == "shapes" {
		draw = shapes.Draw
	}
	for seed := range uint64(*seeds) {
		train, err := draw(*n, 10*seed+1)
		if err != nil {
			return err
		}
		test, err := draw(*n/4, 10*seed+2)
		if err != nil {
			return err
		}
		gen, err := privgen.MERF(train.Schema(), budget).Nominal(*n).Seed(seed).
			Embed(merf.Config{Kernel: rff.PatchesFor(*features, 28, 28)}).
			Train(merf.GeneratorConfig{Generators: 1, Steps: *steps, Batch: 100}).Fit(ctx, train)
		if err != nil {
			return err
		}
		drawn, err := gen.Sample(ctx, *synthetic, privgen.Means(), privgen.Seed(seed))
		if err != nil {
			return err
		}
		rows := drawn.(*records.Table)
		for _, way := range []struct {
			name         string
			black, white float32
		}{{"as drawn", 0, 1}, {"stretched", 0.2, 0.8}, {"floor alone", 0.1, 1}} {
			if err := score(*set, way.name, seed, stretch(rows, way.black, way.white), test); err != nil {
				return err
			}
		}
	}
	return nil
}

// stretch maps the grey levels between black and white to all of [0, 1].
func stretch(t *records.Table, black, white float32) *records.Table {
	values, _ := t.Flat()
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = min(max((v-black)/(white-black), 0), 1)
	}
	s, err := records.FromFlat(t.Schema(), out, t.Labels()...)
	if err != nil {
		panic(err) // cannot happen: the values are in the schema's range
	}
	return s
}

func score(set, way string, seed uint64, synthetic, test *records.Table) error {
	for _, m := range []classify.Method{classify.Convolutional{}, classify.LogisticRegression{},
		classify.RandomForest{}, classify.DecisionTree{}} {
		by, err := m.Fit(synthetic)
		if err != nil {
			return err
		}
		got, err := classify.Test(by, test)
		if err != nil {
			return err
		}
		fmt.Printf("%s, seed %d, %-12s %-24s %.4f\n", set, seed, way, m.Name(), got.Accuracy())
	}
	return nil
}
