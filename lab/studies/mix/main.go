// Command mix publishes noisy mixtures of images and learns from the published file alone. Anyone
// with the file can do the same.
//
//	go -C lab run ./studies/mix  on digits drawn by the program: 10 s of processor time
//	go -C lab run ./studies/mix -n 60000 -mixtures 60000 -samples 60000 -epochs 5 \
//	    -images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//	    -test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//
// It prints the bill before it reads a record, and the guarantee afterwards. It writes the release
// (mixtures.npz) and a picture of mixtures (as in the paper's Fig. 1). If class moments were
// learnt, it also writes a picture of digits drawn from them. Finally it tests a convolutional
// network and a linear model on held-out images.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/mix"
)

func main() { program.Main("mix", run) }

// config is the command line.
type config struct {
	images, labels         string
	testImages, testLabels string
	n, mixtures, degree    int
	budget                 accountant.Budget
	sampling               string
	byClass                bool
	centers, clip, short   float64
	share                  float64
	learner                string
	denoise                float64
	project                int
	samples, epochs, runs  int
	seed                   uint64
	out                    string
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("mix")
	f.StringVar(&c.images, "images", "",
		"idx file of training images, plain or gz (default: digits drawn by the program)")
	f.StringVar(&c.labels, "labels", "", "idx file of their labels")
	f.StringVar(&c.testImages, "test-images", "",
		"idx file of held-out images, needed with -images (without both, more digits are drawn)")
	f.StringVar(&c.testLabels, "test-labels", "", "idx file of their labels")
	f.IntVar(&c.n, "n", 20000,
		"number of drawn digits, or public number of records in files (a guess under add/remove)")
	f.IntVar(&c.mixtures, "mixtures", 10000, "number of released mixtures")
	f.IntVar(&c.degree, "degree", 0, "number of records in a mixture (default: the plan chooses)")
	program.BudgetFlags(f, &c.budget, 10, 1e-5)
	f.StringVar(&c.sampling, "sampling", "poisson",
		"poisson, or subset (without replacement, under replace_one only)")
	f.BoolVar(&c.byClass, "by-class", true,
		"mix records of one class; false for the paper's mixtures of all records")
	f.Float64Var(&c.centers, "centers", 0.15,
		"fraction of ε for mean records, which are released first; 0 for none")
	f.Float64Var(&c.clip, "clip", 9, "clip norm of records")
	f.Float64Var(&c.short, "clip-deviation", 6.5,
		"clip norm of deviations from mean records")
	f.Float64Var(&c.share, "label-share", 0,
		"the label's part of a record's squared norm (default: the best for a linear learner)")
	f.StringVar(&c.learner, "learner", "moments",
		"what the network learns from: moments (images drawn from class moments) or soft (mixtures and "+
			"soft labels)")
	f.Float64Var(&c.denoise, "denoise", 0,
		"width in pixels of a Gaussian filter over mixtures, for the soft learner")
	f.IntVar(&c.project, "random-projection", 0,
		"baseline: release single records projected to this many coordinates")
	f.IntVar(&c.samples, "samples", 10000, "number of images drawn from class moments in each pass of training")
	f.IntVar(&c.epochs, "epochs", 5, "number of passes of the network's training")
	f.IntVar(&c.runs, "runs", 1,
		"number of releases, each with a separate budget and its own training seed")
	f.Uint64Var(&c.seed, "seed", 1, "seed of weights and draws; noise cannot be seeded")
	f.StringVar(&c.out, "out", "out", "folder for the release and the pictures")
	return c, f.Parse(args)
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	plan, err := c.mixing().Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)
	train, test, err := c.load()
	if err != nil {
		return err
	}
	var scores []score
	sigma, _ := plan.Noise()
	for i := range c.runs {
		start := time.Now()
		gen, err := plan.Fit(ctx, train)
		if err != nil {
			return err
		}
		m := gen.Model().(*mix.Model)
		fmt.Printf("\n%d mixtures of degree %d in %.1f s\n", m.Rows().Len(), plan.Degree(),
			time.Since(start).Seconds())
		if i == 0 {
			fmt.Printf("\n%v\n\n", gen.Guarantee())
			if err := c.export(m); err != nil {
				return err
			}
		}
		s, err := c.learn(ctx, m, sigma, test, c.seed+uint64(i), i == 0)
		if err != nil {
			return err
		}
		fmt.Println("run", i+1, s)
		scores = append(scores, s)
	}
	report(scores)
	return nil
}

// export writes the release for other programs that learn from it.
func (c config) export(m *mix.Model) error {
	path := filepath.Join(c.out, "mixtures.npz")
	if err := program.Save(path, m.Rows().WriteNPZ); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return c.pictureOf(m)
}
