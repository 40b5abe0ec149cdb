// Command dpgm learns a private mixture of generative networks from images, draws samples from it,
// and reports on their quality.
//
//	go -C lab run ./studies/dpgm  on digits drawn by the program: 40 s of processor time
//	go -C lab run ./studies/dpgm -n 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz
//	# one network and mixtures at two budgets: six runs, minutes
//	go -C lab run ./studies/dpgm -compare
//
// It prints the bill before it reads a record, and the guarantee and the quality afterwards. It
// writes a picture (a row of real images, then one row for each cluster) and the generator.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
)

func main() { program.Main("dpgm", run) }

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	if c.compare {
		return compare(ctx, c)
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
	gen, err := plan.Fit(ctx, train.WithoutLabels(), privgen.OnProgress(newMeter().Show))
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\n", gen.Guarantee())

	if err := gen.SaveFile(filepath.Join(c.out, "generator.privgen")); err != nil {
		return err
	}
	if err := picture(ctx, c, gen, train); err != nil {
		return err
	}
	return report(ctx, c, gen, train, test)
}

// config is the command line.
type config struct {
	files                images.Files
	n                    int
	budget               accountant.Budget
	model                string
	hidden, latent       int
	klWeight, outputBias float64
	k, iterations, dim   int
	share, bandwidth     float64
	q, lr, clip, average float64
	steps, nominal       int
	seed                 uint64
	out                  string
	compare              bool
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("dpgm")
	c.files.Flags(f, "used by the quality report only")
	f.IntVar(&c.n, "n", 40000, "number of digits that the program draws")
	program.BudgetFlags(f, &c.budget, 4, 1e-5)
	f.StringVar(&c.model, "model", "vae", "network of each cluster: vae or rbm")
	f.IntVar(&c.hidden, "hidden", 200, "hidden units")
	f.IntVar(&c.latent, "latent", 2, "latent coordinates of a vae")
	f.Float64Var(&c.klWeight, "kl-weight", 1, "weight of a vae's divergence from its prior")
	f.Float64Var(&c.outputBias, "output-bias", -2,
		"initial bias of every pixel: the logit of a public guess of the fraction of black pixels")
	f.IntVar(&c.k, "k", 10, "clusters")
	f.IntVar(&c.iterations, "iterations", 20, "iterations of private k-means")
	f.Float64Var(&c.share, "share", 0.15, "fraction of ε for clustering")
	f.IntVar(&c.dim, "features", 400, "random Fourier features")
	f.Float64Var(&c.bandwidth, "bandwidth", 8, "bandwidth of the RBF kernel")
	f.Float64Var(&c.q, "q", 0.2, "sampling probability of a training step")
	f.IntVar(&c.steps, "steps", 150, "training steps")
	f.Float64Var(&c.lr, "lr", 0,
		"learning rate, with momentum 0.9 (default 0.3 for a vae, 0.01 for an rbm)")
	f.Float64Var(&c.average, "average", 0.9,
		"decay of the moving average of parameters that is released")
	f.IntVar(&c.nominal, "nominal", 0,
		"public nominal number of records, which scales the steps of a single network (default -n)")
	f.Float64Var(&c.clip, "clip", 0,
		"clip norm of a record's gradient (default 1 for a vae, 20 for an rbm)")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness; noise cannot be seeded")
	f.BoolVar(&c.compare, "compare", false,
		"compare one vae, a mixture of vaes and a mixture of rbms with real images, at ε = 1.74 and ε = 4")
	f.StringVar(&c.out, "out", "out", "folder for the picture and the generator")
	err := f.Parse(args)
	return c.withDefaults(), err
}

// withDefaults sets the defaults that depend on the network, since an RBM's gradients are larger.
func (c config) withDefaults() config {
	lr, clip := 0.3, 1.0
	if c.model == "rbm" {
		lr, clip = 0.01, 20
	}
	if c.lr == 0 {
		c.lr = lr
	}
	if c.clip == 0 {
		c.clip = clip
	}
	return c
}

// newMeter returns a meter that shows the progress of a run and its cost so far.
func newMeter() *program.Meter {
	return program.NewMeter()
}
