// Command learned measures what a second release of learned features is worth: merf.Learned. It
// fits MERF to labelled grey images, once for each given part of the squared effect, and trains
// classifiers on the synthetic images.
//
//	go -C lab run ./studies/learned -set shapes -parts 0,0.3
//	go -C lab run ./studies/learned -images train-images-idx3-ubyte.gz \
//	    -labels train-labels-idx1-ubyte.gz -n 54000 -parts 0,0.3
//
// Every accuracy is on held-out images: other drawn images, or the last tenth of the training
// images.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/internal/demo/shapes"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func main() { program.Main("learned", run) }

// config is the command line.
type config struct {
	files     images.Files
	set       string
	n         int
	features  int
	parts     string
	learned   merf.Learned
	generator merf.GeneratorConfig
	synthetic int
	seed      uint64
	budget    accountant.Budget
}

func run(ctx context.Context, args []string) error {
	var c config
	f := program.NewFlags("learned")
	c.files.Flags(f, "0 to 9")
	f.StringVar(&c.set, "set", "digits", "digits or shapes, drawn by the program (no files)")
	f.IntVar(&c.n, "n", 20000,
		"number of drawn images, or approximate public number of images in files")
	f.IntVar(&c.features, "features", 4000, "features of the first release")
	f.StringVar(&c.parts, "parts", "0,0.3",
		"parts of the squared effect for learned features, a list; 0 for none")
	f.IntVar(&c.learned.Code, "code", 0, "numbers in a code (default: the plan chooses)")
	f.IntVar(&c.learned.Epochs, "epochs", 0, "passes of the encoder (default: the plan chooses)")
	f.IntVar(&c.learned.Records, "generated", 0,
		"records that the encoder learns from (default: the plan chooses)")
	f.IntVar(&c.learned.Steps, "first-steps", 0,
		"steps of the first networks (default: the plan chooses)")
	f.Float64Var(&c.learned.Bandwidth, "bandwidth", 0,
		"mean length scale of kernels on codes (default: the plan chooses)")
	f.IntVar(&c.generator.Generators, "generators", 2, "networks")
	f.IntVar(&c.generator.Steps, "steps", 2000, "training steps of each network")
	f.IntVar(&c.synthetic, "synthetic", 20000, "synthetic images on which classifiers are trained")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness")
	program.BudgetFlags(f, &c.budget, 1, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	train, test, err := c.load()
	if err != nil {
		return err
	}
	for _, text := range strings.Split(c.parts, ",") {
		part, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("-parts: %w", err)
		}
		if err := c.fit(ctx, part, train, test); err != nil {
			return err
		}
	}
	return nil
}

// load returns training images and held-out images.
func (c config) load() (train, test *records.Table, err error) {
	switch {
	case c.files.Images != "" || c.set == "digits":
		return c.files.Load(images.Drawing{Train: c.n, TrainSeed: c.seed, Test: 6000,
			TestSeed: c.seed + 1})
	case c.set == "shapes":
		if train, err = shapes.Draw(c.n, c.seed); err != nil {
			return nil, nil, err
		}
		test, err = shapes.Draw(6000, c.seed+1)
		return train, test, err
	}
	return nil, nil, errors.New("-set: want digits or shapes")
}

// fit makes one run and scores it.
func (c config) fit(ctx context.Context, part float64, train, test *records.Table) error {
	s, start := train.Schema(), time.Now()
	e := merf.Config{Kernel: rff.PatchesFor(c.features, s.Height(), s.Width())}
	if part > 0 {
		e.Learned = c.learned
		e.Learned.Part = part
	}
	gen, err := privgen.MERF(s, c.budget).Nominal(c.n).Seed(c.seed).Embed(e).Train(c.generator).
		Fit(ctx, train)
	if err != nil {
		return err
	}
	fmt.Printf("part %g: ε = %s, fitted in %v\n", part,
		accountant.FormatUpper(gen.Guarantee().Epsilon, 4), time.Since(start).Round(time.Second))
	drawn, err := gen.Sample(ctx, c.synthetic, privgen.Means(), privgen.Seed(c.seed))
	if err != nil {
		return err
	}
	for _, finish := range []images.Finish{{Contrast: true}, {Contrast: true, Distort: 1}} {
		t, err := finish.Apply(drawn.(*records.Table), c.seed)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("part %g, distorted by %g", part, finish.Distort)
		if err := score(what, t, test); err != nil {
			return err
		}
	}
	return nil
}

func score(what string, synthetic, test *records.Table) error {
	for _, m := range []classify.Method{classify.Convolutional{}, classify.NeuralNetwork{}} {
		by, err := m.Fit(synthetic)
		if err != nil {
			return err
		}
		got, err := by.Test(test)
		if err != nil {
			return err
		}
		fmt.Printf("%s, %s: %.4f\n", what, m.Name(), got.Accuracy())
	}
	return nil
}
