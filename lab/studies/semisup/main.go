// Command semisup trains a classifier on few labelled images, with the help of a private generator
// of unlabelled images.
//
//	# on digits drawn by the program, about half a minute of a core
//	go -C lab run ./studies/semisup
//	go -C lab run ./studies/semisup -n 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz
//
// A generator learns, under differential privacy, from many images without labels. Two classifiers
// then train each other on its samples: C1 sees an image, and C2 sees an image and the code from
// which it was generated. In each round C2 learns the classes that C1 gives to new samples. C1
// learns from labelled images and, after the first third of the rounds, from a growing share of
// samples with the classes that C2 gives them. This costs no privacy, since the generator is
// released. The program prints the plan and the guarantee, draws public images and samples, and
// compares the accuracy of C1 with and without samples.
//
// Source: Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model", 2018,
// Algorithm 4.
package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("semisup", run) }

// config is the command line.
type config struct {
	n, labelled    int
	budget         accountant.Budget
	steps          int
	rounds, batch  int
	share          float64
	seed           uint64
	repeat         int
	images, labels string
	out            string
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("semisup")
	f.StringVar(&c.images, "images", "",
		"idx file of 28×28 images, plain or gz (default: digits drawn by the program)")
	f.StringVar(&c.labels, "labels", "", "idx file of their labels")
	f.IntVar(&c.n, "n", 40000,
		"number of digits that the program draws, and public nominal number of images")
	f.IntVar(&c.labelled, "labelled", 200,
		"number of public images with labels; the other images are private and have no labels")
	program.BudgetFlags(f, &c.budget, 10, 1e-5)
	f.IntVar(&c.steps, "steps", 1000, "critic steps of the generator's training")
	f.IntVar(&c.rounds, "rounds", 1500, "number of rounds of the classifiers' training")
	f.IntVar(&c.batch, "batch", 64, "number of images in a round")
	f.Float64Var(&c.share, "share", 0.2, "final share of samples in a batch of C1")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness; noise cannot be seeded")
	f.IntVar(&c.repeat, "repeat", 3,
		"number of times that the classifiers are trained, each time with another seed")
	f.StringVar(&c.out, "out", "out", "folder for the picture")
	return c, f.Parse(args)
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	all, err := c.load()
	if err != nil {
		return err
	}
	if c.labelled < 1 || c.labelled+2000 > all.Len() {
		return fmt.Errorf("-labelled %d: want at least one, and 2000 further images to test on", c.labelled)
	}
	public, test, private := all.Slice(0, c.labelled), all.Slice(c.labelled, c.labelled+2000),
		all.Slice(c.labelled+2000, all.Len())
	gen, err := c.generator(ctx, private)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\n", gen.Guarantee())
	m := gen.Model().(*gan.Model)
	if err := c.picture(m, public); err != nil {
		return err
	}
	fmt.Printf("%-12s %-26s %s\n", "seed", fmt.Sprintf("%d labelled images alone", c.labelled),
		"with samples [not private]")
	for i := range c.repeat {
		alone, err := c.teach(public, test, nil, c.seed+uint64(i))
		if err != nil {
			return err
		}
		together, err := c.teach(public, test, m, c.seed+uint64(i))
		if err != nil {
			return err
		}
		fmt.Printf("%-12d %-26.4f %.4f\n", c.seed+uint64(i), alone, together)
	}
	return nil
}

func (c config) load() (*records.Table, error) {
	if c.images == "" {
		return digits.Draw(c.n, c.seed)
	}
	return records.OpenIDX(c.images, c.labels, digits.Schema())
}

// generator trains a generator on images without using their labels.
func (c config) generator(ctx context.Context, private *records.Table) (*privgen.Generator, error) {
	const batch = 512.
	plan, err := gan.Config{
		Schema: private.Schema(), Budget: c.budget, IgnoreLabels: true, Seed: c.seed,
		Critic:    models.MLP{Hidden: []int{64}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{128, 256}, BatchNorm: true}, Latent: latent,
		Train: sgd.Config{ClipNorm: 3, SamplingProbability: min(batch/float64(c.n), 1),
			NominalBatch: batch, Steps: c.steps,
			Optimizer: sgd.AdamWith(1e-3, 0.5, 0.999, 1e-8)},
		CriticSteps: 4, GeneratorBatch: 128, GeneratorOptimizer: sgd.AdamWith(1e-3, 0.5, 0.999, 1e-8),
		Average: 0.99,
	}.Plan()
	if err != nil {
		return nil, err
	}
	fmt.Println(plan)
	return plan.Fit(ctx, private, privgen.OnProgress(program.NewMeter().Show))
}

const latent = 32
