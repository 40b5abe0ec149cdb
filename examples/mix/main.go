// Command mix publishes noisy mixtures of labelled digits and trains a classifier on the published
// file. Anyone with the file can do the same.
//
//	go -C examples run ./mix                      on digits drawn by the program: a few seconds
//	go -C examples run ./mix -nominal 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//
// It prints the price before it reads a record, and the guarantee and the accuracy afterwards. It
// writes the mixtures (mixtures.npz).
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
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

func main() { program.Main("mix", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	f := program.NewFlags("mix")
	files.Flags(f, "0 to 9")
	program.BudgetFlags(f, &budget, 1, 1e-5)
	nominal := f.Int("nominal", 20000, "public nominal number of records")
	out := f.String("out", "out", "folder for the mixtures")
	if err := f.Parse(args); err != nil {
		return err
	}

	plan, err := privgen.Mix(digits.Schema(), budget).Nominal(*nominal).Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, test, err := files.Load(images.Drawing{Train: *nominal, TrainSeed: 1,
		Test: 4000, TestSeed: 2})
	if err != nil {
		return err
	}
	gen, err := plan.Fit(ctx, train)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n", gen.Guarantee())

	released := gen.Model().(*mix.Model)
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	path := filepath.Join(*out, "mixtures.npz")
	if err := program.Save(path, released.Rows().WriteNPZ); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return learn(ctx, released, test)
}

// learn trains a convolutional network on images drawn from the class moments of the mixtures. It
// costs no privacy. The accuracy on held-out real images is not private.
func learn(ctx context.Context, released *mix.Model, test *records.Table) error {
	moments, err := released.Moments()
	if err != nil {
		return err
	}
	net, err := models.CNN{Height: digits.Side, Width: digits.Side, Channels: 1, Hidden: []int{64},
		Convolutions: []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
			{Maps: 32, Size: 5, Stride: 2, Pad: 2}},
	}.Classifier(device.CPU(), released.Rows().Dim(), test.Schema().Classes(), 1)
	if err != nil {
		return err
	}
	const drawn = 10000 // images in each epoch
	if err := (mix.Trainer{Epochs: 3, Seed: 1}).FitMoments(ctx, net, moments, drawn); err != nil {
		return err
	}
	clipped, err := released.Prepared(test) // held-out images, clipped like the mixed images
	if err != nil {
		return err
	}
	shown, err := moments.Described(clipped)
	if err != nil {
		return err
	}
	fmt.Printf("accuracy on held-out images: %.3f [not private]\n",
		images.Accuracy(shown, net.PredictClass))
	return nil
}
