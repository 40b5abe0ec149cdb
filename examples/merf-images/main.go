// Command merf-images releases the mean features of labelled images once, under
// differential privacy, and trains a generator of synthetic images against
// them.
//
//	go run ./examples/merf-images              on digits drawn by the program: 75 s of processor time
//	go run ./examples/merf-images \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//
// It prints the bill before it reads a record and the guarantee afterwards,
// writes synthetic images with labels (npz, a picture) and the generator, and
// reports how well classifiers trained on the synthetic images name real ones.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/examples/images"
	"github.com/seed7ba64551/privgen/internal/examples/program"
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
	plan, err := c.chain().Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)

	train, test, err := c.load()
	if err != nil {
		return err
	}
	// ε was spent in the one release
	meter := program.NewMeter()
	start := time.Now()
	gen, err := plan.Fit(ctx, train, privgen.OnProgress(meter.Show))
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\nreleased and trained in %v\n", gen.Guarantee(),
		time.Since(start).Round(time.Second))

	if err := gen.SaveFile(filepath.Join(c.out, "generator.privgen")); err != nil {
		return err
	}
	synthetic, err := export(ctx, c, gen)
	if err != nil {
		return err
	}
	if err := picture(ctx, c, gen, train); err != nil {
		return err
	}
	return report(synthetic, train, test)
}

// config is the command line.
type config struct {
	files                  images.Files
	n, synthetic           int
	budget                 accountant.Budget
	features, steps, batch int
	contrast               bool
	seed                   uint64
	out                    string
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("merf-images")
	c.files.Flags(f, "0 to 9")
	f.IntVar(&c.n, "n", 20000, "how many digits the program draws")
	f.IntVar(&c.synthetic, "synthetic", 0,
		"how many synthetic images to write (default 60000 with -images, 20000 without)")
	program.BudgetFlags(f, &c.budget, 1, 1e-5)
	f.IntVar(&c.features, "features", 0, "random features (default 10000 with -images, 4000 without)")
	f.IntVar(&c.steps, "steps", 0,
		"training steps of the generator (default 2000 with -images, 1000 without)")
	f.IntVar(&c.batch, "batch", 100, "synthetic images a step")
	f.BoolVar(&c.contrast, "contrast", true, "stretch the grey levels of what is written")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness; noise cannot be seeded")
	f.StringVar(&c.out, "out", "out", "folder for the images, the picture and the generator")
	err := f.Parse(args)
	return c.withDefaults(), err
}

// withDefaults makes the run on drawn digits a short one.
func (c config) withDefaults() config {
	synthetic, features, steps := 20000, 4000, 1000
	if c.files.Images != "" {
		synthetic, features, steps = 60000, 10000, 2000
	}
	for _, v := range []struct{ field, preset *int }{{&c.synthetic, &synthetic},
		{&c.features, &features}, {&c.steps, &steps}} {
		if *v.field == 0 {
			*v.field = *v.preset
		}
	}
	return c
}

// export draws synthetic images of all classes and writes them with their labels.
func export(ctx context.Context, c config, gen *privgen.Generator) (*records.Table, error) {
	rows, err := gen.Sample(ctx, c.synthetic, privgen.Means(), privgen.Seed(c.seed))
	if err != nil {
		return nil, err
	}
	synthetic, ok := rows.(*records.Table)
	if !ok {
		return nil, fmt.Errorf("samples are %T, not a table of images", rows)
	}
	if c.contrast {
		if synthetic, err = stretch(synthetic); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(c.out, "synthetic.npz")
	if err := program.Save(path, func(w io.Writer) error {
		return records.WriteNPZ(w, synthetic)
	}); err != nil {
		return nil, err
	}
	fmt.Println("wrote", path)
	return synthetic, nil
}
