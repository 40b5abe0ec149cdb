// Command gan trains a generative adversarial network on labelled digits with a private critic. An
// interrupted run continues from its checkpoint when the program is started again, and no budget is
// spent twice.
//
//	go -C examples run ./gan                      on digits drawn by the program: about a minute
//	go -C examples run ./gan -nominal 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//
// It prints the price before it reads a record, and the guarantee and the quality afterwards. It
// writes the generator, and synthetic images with labels (npz). The folder of -out holds the
// checkpoint.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("gan", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	f := program.NewFlags("gan")
	files.Flags(f, "0 to 9")
	program.BudgetFlags(f, &budget, 10, 1e-5)
	finish := images.Finish{Contrast: true, Distort: 1}
	finish.Flags(f)
	nominal := f.Int("nominal", 20000, "public nominal number of records")
	steps := f.Int("steps", 500, "critic steps; 0 for the default, which takes minutes")
	out := f.String("out", "out", "folder for the generator and the checkpoint")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}

	plan, err := privgen.GAN(digits.Schema(), budget).Nominal(*nominal).
		Train(gan.Config{Train: sgd.Config{Steps: *steps}}).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, test, err := files.Load(images.Drawing{Train: *nominal, TrainSeed: 1,
		Test: 4000, TestSeed: 2})
	if err != nil {
		return err
	}
	checkpoint := filepath.Join(*out, "gan.checkpoint")
	meter := program.NewMeter()
	gen, err := plan.Fit(ctx, train, privgen.Checkpoint(checkpoint),
		privgen.OnProgress(meter.Show))
	if err != nil {
		return err // after an interrupt the checkpoint remains, and the next start continues the run
	}
	fmt.Printf("\n%v\n", gen.Guarantee())
	if err := gen.SaveFile(filepath.Join(*out, "generator.privgen")); err != nil {
		return err
	}

	drawn, err := gen.Sample(ctx, 10000, privgen.Seed(1))
	if err != nil {
		return err
	}
	synthetic, err := finish.Write(filepath.Join(*out, "synthetic.npz"), drawn, 1)
	if err != nil {
		return err
	}
	score, err := evaluate.CompareTraining(classify.NeuralNetwork{Hidden: []int{128}}, synthetic,
		train, test)
	if err != nil {
		return err
	}
	fmt.Println(score)
	return os.Remove(checkpoint) // the generator holds the result; the next start begins a new run
}
