// Command dpgm learns clusters of black and white digits privately, with one network for each, and
// draws synthetic digits from them. The library chooses all settings except schema, budget and
// nominal size.
//
//	go -C examples run ./dpgm                     on digits drawn by the program: half a minute
//	go -C examples run ./dpgm -nominal 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz
//
// It prints the price before it reads a record, and the guarantee and the quality afterwards. It
// writes a picture and the generator.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func main() { program.Main("dpgm", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	f := program.NewFlags("dpgm")
	files.Flags(f, "used by the quality report only")
	program.BudgetFlags(f, &budget, 1.74, 1e-5)
	nominal := f.Int("nominal", 20000, "public nominal number of records")
	out := f.String("out", "out", "folder for the picture and the generator")
	if err := f.Parse(args); err != nil {
		return err
	}

	schema := records.BinaryImage(digits.Side, digits.Side)
	plan, err := privgen.DPGM(schema, budget).Nominal(*nominal).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	grey, _, err := files.Load(images.Drawing{Train: *nominal, TrainSeed: 1, TestSeed: 2})
	if err != nil {
		return err
	}
	real := records.Binarize(grey, 0.5)
	meter := program.NewMeter()
	gen, err := plan.Fit(ctx, real.WithoutLabels(), privgen.OnProgress(meter.Show))
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n", gen.Guarantee())

	if err := report(gen, real); err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	if err := gen.SaveFile(filepath.Join(*out, "generator.privgen")); err != nil {
		return err
	}
	return picture(ctx, gen, filepath.Join(*out, "samples.png"))
}

// report compares the clusters of real records with their labels. It is not private.
func report(gen *privgen.Generator, real *records.Table) error {
	assigned := make([]int32, real.Len())
	var b device.Batch
	const chunk = 4096
	for lo := 0; lo < real.Len(); lo += chunk {
		hi := min(lo+chunk, real.Len())
		real.Range(lo, hi, &b)
		gen.Assign(b, assigned[lo:hi])
	}
	clusters, err := evaluate.ClusteringAccuracy(assigned, real.Labels(), gen.Clusters())
	if err != nil {
		return err
	}
	fmt.Println(clusters)
	return nil
}

// picture draws a row of synthetic digits for each cluster. It shows no real digit, so it may be
// published.
func picture(ctx context.Context, gen *privgen.Generator, path string) error {
	const across = 16
	sheet := grid.Sheet{Height: digits.Side, Width: digits.Side}
	for i, weight := range gen.Weights() {
		rows, err := gen.Sample(ctx, across, privgen.FromCluster(i), privgen.Means(), privgen.Seed(1))
		if err != nil {
			return err
		}
		sheet.Rows = append(sheet.Rows, grid.Row{Caption: fmt.Sprintf("%d: %.0f%%", i, 100*weight),
			Images: images.First(rows, across)})
	}
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
