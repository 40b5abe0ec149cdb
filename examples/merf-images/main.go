// Command merf-images releases the mean features of labelled images once, under
// differential privacy, and trains a generator of synthetic images against
// them.
//
//	go -C examples run ./merf-images          on digits drawn by the program: half a minute
//	go -C examples run ./merf-images \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//
// Images in colour have 32×32 pixels: drawn shapes, or CIFAR-10 in its binary format:
//
//	go -C examples run ./merf-images -shapes
//	go -C examples run ./merf-images -keep -nominal 50000 -cifar-test test_batch.bin \
//		-cifar data_batch_1.bin,data_batch_2.bin,data_batch_3.bin,data_batch_4.bin,data_batch_5.bin
//
// With -keep a private classifier is trained, too. The program then omits synthetic images to which
// the classifier gives another label; see compose.Labels.
//
// With files, the contrast and the distortion of the written images are chosen privately, which
// costs 3 % of ε; see compose.Changes. -contrast, -distort and -normalize set them instead.
//
// Training on files takes under two minutes on two cores. -steps and -generators set longer runs.
// -checkpoint saves their progress, so an interrupt loses little.
//
// It prints the bill before it reads a record, and the guarantee afterwards. It writes the
// generator and synthetic images with labels (npz, a picture). With -judge it also trains
// classifiers on the synthetic and on real images and reports their accuracy on held-out real
// images, which takes as long again.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

func main() { program.Main("merf-images", run) }

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	plan, err := c.plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, test, err := c.load()
	if err != nil {
		return err
	}
	meter := program.NewMeter()
	start := time.Now()
	opts := []privgen.Option{privgen.OnProgress(meter.Show)}
	if c.checkpoint != "" {
		opts = append(opts, privgen.Checkpoint(c.checkpoint))
	}
	gen, err := plan.Fit(ctx, train, opts...)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\nreleased and trained in %v\n", gen.Guarantee(),
		time.Since(start).Round(time.Second))
	if change, err := compose.Chosen(gen); err == nil {
		fmt.Println("chosen change of the images:", change)
	}
	agreement(gen)

	if err := gen.SaveFile(filepath.Join(c.out, "generator.privgen")); err != nil {
		return err
	}
	synthetic, err := export(ctx, c, gen)
	if err != nil {
		return err
	}
	if err := picture(ctx, c, gen); err != nil {
		return err
	}
	if !c.judge {
		return nil
	}
	return report(synthetic, train, test)
}

// config is the command line.
type config struct {
	files                  images.Files
	colours                images.Colours
	n, synthetic           int
	budget                 accountant.Budget
	nominal                int
	features, steps, batch int
	generators             int
	checkpoint             string
	keep                   bool
	choose                 bool
	share                  float64
	finish                 images.Finish
	judge                  bool
	seed                   uint64
	out                    string
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("merf-images")
	c.files.Flags(f, "0 to 9")
	c.colours.Flags(f)
	f.IntVar(&c.n, "n", 20000, "how many digits or shapes the program draws")
	f.IntVar(&c.synthetic, "synthetic", 0,
		"how many synthetic images to write (default 60000 with files, 20000 without)")
	program.BudgetFlags(f, &c.budget, 1, 1e-5)
	f.IntVar(&c.nominal, "nominal", 60000,
		"approximate public number of images in files; exact under replace_one")
	f.IntVar(&c.features, "features", 0, "random features (default: the plan chooses)")
	f.IntVar(&c.generators, "generators", 0,
		"networks trained against the release (default: the plan chooses with files, 2 without)")
	f.IntVar(&c.steps, "steps", 0,
		"training steps of each network (default: the plan chooses with files, 500 without)")
	f.IntVar(&c.batch, "batch", 0, "synthetic images in a step (default: the plan chooses)")
	f.StringVar(&c.checkpoint, "checkpoint", "",
		"checkpoint file, to save and continue the run; no release is drawn twice (default: none)")
	c.finish = images.Finish{Contrast: true, Distort: 1}
	c.finish.Flags(f)
	f.Float64Var(&c.share, "share", 0, "part of ε that the classifier of -keep alone may cost "+
		"(default: 0.7)")
	f.BoolVar(&c.keep, "keep", false, "spend a part of ε on a classifier of images, and keep the "+
		"images with labels that it agrees with")
	f.BoolVar(&c.choose, "choose", false,
		"spend 3 % of ε on the choice of contrast and distortion (default with files, unless"+
			" -contrast, -distort or -normalize is set)")
	f.BoolVar(&c.judge, "judge", false,
		"compare classifiers of synthetic and of real images on held-out images; not private")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness; noise cannot be seeded")
	f.StringVar(&c.out, "out", "out", "folder for the images, the picture and the generator")
	err := f.Parse(args)
	given := map[string]bool{}
	f.Visit(func(v *flag.Flag) { given[v.Name] = true })
	fixed := given["contrast"] || given["distort"] || given["normalize"]
	if !given["choose"] {
		c.choose = (c.files.Images != "" || c.colours.Train != "") && !fixed
	}
	if c.choose && fixed {
		return c, errors.Join(err, errors.New("-choose replaces -contrast, -distort and -normalize"))
	}
	if c.choose {
		c.finish = images.Finish{} // the generator changes its images
	}
	if !given["contrast"] && c.colours.Wanted() {
		c.finish.Contrast = false // contrast stretches grey levels
	}
	if !given["distort"] && c.finish.Normalize {
		c.finish.Distort = 0.5 // chosen on held-out images of MNIST
	}
	return c.withDefaults(), err
}

// withDefaults sets a short run for drawn images.
func (c config) withDefaults() config {
	if c.files.Images != "" || c.colours.Train != "" {
		c.synthetic = cmp.Or(c.synthetic, 60000)
		return c
	}
	c.nominal, c.synthetic = c.n, cmp.Or(c.synthetic, 20000)
	c.generators, c.steps = cmp.Or(c.generators, 2), cmp.Or(c.steps, 500)
	return c
}

// export draws synthetic images of all classes and writes them with their labels.
func export(ctx context.Context, c config, gen *privgen.Generator) (*records.Table, error) {
	rows, err := gen.Sample(ctx, c.synthetic, privgen.Means(), privgen.Seed(c.seed))
	if err != nil {
		return nil, err
	}
	return c.finish.Write(filepath.Join(c.out, "synthetic.npz"), rows, c.seed)
}
