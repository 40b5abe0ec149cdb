// Command classifier trains a linear classifier under differential privacy on fixed scattering
// features of images (Tramèr and Boneh 2021), and tests it on held-out images.
//
//	go -C lab run ./studies/classifier          on digits drawn by the program
//	go -C lab run ./studies/classifier -images train-images-idx3-ubyte.gz \
//	    -labels train-labels-idx1-ubyte.gz
//
// With files the last tenth of the training images is held out. Test images are read only if
// -test-images names them.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("classifier", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	var rates, clips program.Numbers
	f := program.NewFlags("classifier")
	files.Flags(f, "0 to 9")
	n := f.Int("n", 20000, "number of digits that the program draws, or approximate public number of images in files")
	steps := f.Int("steps", 60, "training steps")
	q := f.Float64("rate", 0.25, "sampling probability")
	f.Var(&rates, "learning-rates", "learning rates, a list; each is a separate run")
	f.Var(&clips, "clips", "clip norms, a list; each is a separate run")
	orientations := f.Int("orientations", 8, "orientations of wavelets")
	group := f.Int("group", 3, "number of channels that are normalised together")
	share := f.Float64("share", 1,
		"fraction of ε for the classifier; below 1, MERF spends the rest and the classifier selects samples")
	features := f.Int("features", 2000, "features of MERF")
	generator := f.Int("generator-steps", 800, "training steps of MERF's generator")
	seed := f.Uint64("seed", 1, "seed of drawn digits")
	program.BudgetFlags(f, &budget, 1, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	train, test, err := files.Load(images.Drawing{Train: *n, TrainSeed: *seed, Test: *n / 4,
		TestSeed: *seed + 1})
	if err != nil {
		return err
	}
	kernel := rff.Scattering{Orientations: *orientations, Group: *group}
	pictures, start := [2]*records.Table{train, test}, time.Now()
	if train, err = scattered(kernel, train); err != nil {
		return err
	}
	if test, err = scattered(kernel, test); err != nil {
		return err
	}
	fmt.Printf("%d features of %d images: %v\n", train.Schema().Dim(), train.Len()+test.Len(),
		time.Since(start).Round(time.Second))
	own := budget
	own.Epsilon *= *share
	for _, clip := range clips.Or(0.1) {
		for _, rate := range rates.Or(400) {
			cfg, err := sgd.Config{ClipNorm: clip, SamplingProbability: *q, Steps: *steps,
				NominalBatch: *q * float64(*n), Optimizer: sgd.Momentum(rate, 0.9)}.Calibrate(own)
			if err != nil {
				return err
			}
			net, err := learn(ctx, cfg, own, train, test)
			if err != nil {
				return err
			}
			r := rejection{kernel, budget, cfg, net, *n, *features, *generator, pictures[0], pictures[1]}
			if *share < 1 {
				if err := r.run(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// scattered returns the features of images, with their labels.
func scattered(kernel rff.Scattering, t *records.Table) (*records.Table, error) {
	s := t.Schema()
	m, err := kernel.Features(rff.Layout{In: s.Dim(), Height: s.Height(), Width: s.Width()}, 0)
	if err != nil {
		return nil, err
	}
	flat := make([]float32, t.Len()*m.Dim())
	var batch device.Batch
	for lo := 0; lo < t.Len(); lo += 1024 {
		hi := min(lo+1024, t.Len())
		t.Range(lo, hi, &batch)
		m.Transform(device.CPU(), batch,
			device.HostMatrix(hi-lo, m.Dim(), flat[lo*m.Dim():hi*m.Dim()]))
	}
	return records.FromFlat(records.Interval(m.Dim(), -1, 1).WithLabels(s.ClassNames()...), flat,
		t.Labels()...)
}

// learn trains and tests one classifier on a separate ledger.
func learn(ctx context.Context, cfg sgd.Config, budget accountant.Budget,
	train, test *records.Table) (*models.Classifier, error) {
	s := train.Schema()
	net, err := models.MLP{}.Classifier(device.CPU(), s.Dim(), s.Classes(), 1)
	if err != nil {
		return nil, err
	}
	start, l := time.Now(), ledger.New(budget)
	trainer, err := sgd.New(cfg, net, l)
	if err != nil {
		return nil, err
	}
	for _, err := range trainer.Steps(ctx, train) {
		if err != nil {
			return nil, err
		}
	}
	took, right := time.Since(start), 0
	for i, c := range classes(net, test) {
		if c == test.Labels()[i] {
			right++
		}
	}
	fmt.Printf("clip %g, %v, noise multiplier %.4g: accuracy %.4f at ε = %s, %v\n",
		cfg.ClipNorm, cfg.Optimizer, cfg.NoiseMultiplier,
		float64(right)/float64(test.Len()), accountant.FormatUpper(l.Epsilon().Upper, 4),
		took.Round(time.Second))
	return net, nil
}
