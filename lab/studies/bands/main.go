// Command bands trains a network on images under differential privacy, with noise that is
// correlated over steps (sgd.Config.Bands) and with independent noise, and tests it on held-out
// images.
//
//	go -C lab run ./studies/bands -images train-images-idx3-ubyte.gz \
//	    -labels train-labels-idx1-ubyte.gz
//
// The last tenth of the training images is held out. Test images are read only if -test-images
// names them.
package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("bands", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	var rates, bands program.Numbers
	f := program.NewFlags("bands")
	files.Flags(f, "0 to 9")
	n := f.Int("n", 20000, "number of digits that the program draws, or public number of images in files")
	steps := f.Int("steps", 2000, "training steps")
	batch := f.Float64("batch", 256, "expected number of images in a batch")
	clip := f.Float64("clip", 1, "clip norm")
	hidden := f.Int("hidden", 128, "hidden units")
	runs := f.Int("runs", 3, "runs for each setting, with starting weights of their own")
	allocation := f.Bool("allocation", false, "batches by random allocation in place of Poisson samples")
	momentum := f.Float64("momentum", 0.9, "momentum")
	adam := f.Bool("adam", false, "Adam instead of gradient descent with momentum")
	f.Var(&rates, "learning-rates", "learning rates, a list")
	f.Var(&bands, "bands", "numbers of bands, a list; 1 is independent noise")
	program.BudgetFlags(f, &budget, 8, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	train, test, err := files.Load(images.Drawing{Train: *n, TrainSeed: 1, Test: *n / 4, TestSeed: 2})
	if err != nil {
		return err
	}
	for _, b := range bands.Or(1) {
		for _, rate := range rates.Or(1) {
			cfg, err := sgd.Config{ClipNorm: *clip, SamplingProbability: *batch / float64(*n),
				Steps: *steps, Bands: int(b), RandomAllocation: *allocation, NominalBatch: *batch,
				Optimizer: optimizer(*adam, rate, *momentum)}.Calibrate(budget)
			if err != nil {
				return err
			}
			var shares []float64
			start := time.Now()
			for seed := range *runs {
				share, err := learn(ctx, cfg, budget, train, test, *hidden, uint64(seed))
				if err != nil {
					return err
				}
				shares = append(shares, share)
			}
			mean, spread := moments(shares)
			fmt.Printf("bands %2d, rate %-5g noise multiplier %.4f: accuracy %.4f ± %.4f of %d runs %.4f, %v\n",
				int(b), rate, cfg.NoiseMultiplier, mean, spread, len(shares), shares,
				time.Since(start).Round(time.Second))
		}
	}
	return nil
}

// learn trains a network on a ledger of its own and returns the fraction of test images that it
// classifies correctly.
func learn(ctx context.Context, cfg sgd.Config, budget accountant.Budget,
	train, test *records.Table, hidden int, seed uint64) (float64, error) {
	s := train.Schema()
	net, err := models.MLP{Hidden: []int{hidden}}.Classifier(device.CPU(), s.Dim(), s.Classes(),
		seed+1)
	if err != nil {
		return 0, err
	}
	trainer, err := sgd.New(cfg, net, ledger.New(budget))
	if err != nil {
		return 0, err
	}
	for _, err := range trainer.Steps(ctx, train) {
		if err != nil {
			return 0, err
		}
	}
	var batch device.Batch
	right, predicted := 0, make([]int32, 1024)
	for lo := 0; lo < test.Len(); lo += 1024 {
		hi := min(lo+1024, test.Len())
		test.Range(lo, hi, &batch)
		net.PredictClass(batch, predicted[:hi-lo])
		for i, c := range predicted[:hi-lo] {
			if c == test.Labels()[lo+i] {
				right++
			}
		}
	}
	return float64(right) / float64(test.Len()), nil
}

func moments(x []float64) (mean, spread float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		spread += (v - mean) * (v - mean) / float64(max(len(x)-1, 1))
	}
	return mean, math.Sqrt(spread)
}

func optimizer(adam bool, rate, momentum float64) sgd.Optimizer {
	if adam {
		return sgd.AdamWith(rate, momentum, 0.999, 1e-8)
	}
	return sgd.Momentum(rate, momentum)
}
