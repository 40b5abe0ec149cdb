// Command gan trains a generative adversarial network on labelled images under differential
// privacy, and samples it.
//
//	go -C lab run ./studies/gan  on digits drawn by the program: 50 s of processor time
//	go -C lab run ./studies/gan \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz \
//		-test-images t10k-images-idx3-ubyte.gz -test-labels t10k-labels-idx1-ubyte.gz \
//		-n 60000 -width 256 -steps 20000 -warm 300 -adaptive -groups 3 \
//		-samples 60000 -out out/mnist -resume
//	# the effect of each of the paper's optimisations, at one ε
//	go -C lab run ./studies/gan -ablation
//	go -C lab run ./studies/gan -iterations  the number of steps that grouping allows at one ε
//
// It prints the bill before it trains, and the guarantee and the quality afterwards. It writes a
// picture of samples over time, the generator, and labelled samples (npz). It saves checkpoints
// during training. With -resume a killed run continues from its checkpoint, and no budget is spent
// twice.
//
// Without -test-images, the last tenth of the training images is held out, and all scores are
// scores on it. This is meant for choosing settings, so that no test image is used for the choice.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("gan", run) }

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if c.iterations {
		return iterations(c)
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	d, err := c.load()
	if err != nil {
		return err
	}
	if c.ablation {
		return ablation(ctx, c, d)
	}
	if c.judge != "" {
		gen, err := privgen.LoadFile(c.judge)
		if err != nil {
			return err
		}
		return report(ctx, c, gen, d)
	}
	plan, err := c.plan(d.public)
	if err != nil {
		return err
	}
	fmt.Println(plan)
	return train(ctx, c, plan, d)
}

// train fits the plan, or continues an interrupted fit, and reports. A plan with a classifier and
// public images cannot be written, so its run has no checkpoint.
func train(ctx context.Context, c config, plan privgen.Plan, d data) error {
	checkpoint := filepath.Join(c.out, "gan.checkpoint")
	if _, err := os.Stat(checkpoint); err == nil && !c.resume {
		return fmt.Errorf(
			"%s exists: give -resume to continue that run, or remove the file to begin a new run, which spends again",
			checkpoint)
	}
	film := &film{real: d.private}
	meter := program.NewMeter()
	start := time.Now()
	opts := []privgen.Option{privgen.OnProgress(meter.Show),
		privgen.OnPreview(max(c.steps/8, 1), film.take)}
	if !c.keep || d.public == nil {
		opts = append(opts, privgen.Checkpoint(checkpoint))
	}
	gen, err := plan.Fit(ctx, d.private, opts...)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n\ntrained in %v\n", gen.Guarantee(), time.Since(start).Round(time.Second))
	if err := gen.SaveFile(filepath.Join(c.out, "generator.privgen")); err != nil {
		return err
	}
	if err := film.save(filepath.Join(c.out, "samples.png")); err != nil {
		return err
	}
	if err := report(ctx, c, gen, d); err != nil {
		return err
	}
	// the generator holds the guarantee, and the run is complete
	if err := os.Remove(checkpoint); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// config is the command line.
type config struct {
	files                images.Files
	n, samples           int
	publicShare, written float64
	agree                bool
	budget               accountant.Budget
	finish               images.Finish
	critic               string
	width, maps          int
	generator            int
	batch                float64
	steps, criticSteps   int
	lr, generatorLR      float64
	schedule             sgd.Schedule
	clip, average        float64
	groups, warm         int
	adaptive             bool
	keep                 bool
	share                float64
	scale                float64
	judge                string
	brief                bool
	seed                 uint64
	seeds                int
	out                  string
	resume               bool
	ablation, iterations bool
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("gan")
	c.files.Flags(f, "0 to 9")
	f.IntVar(&c.n, "n", 40000,
		"number of digits that the program draws, and public nominal number of images")
	f.Float64Var(&c.publicShare, "public", 0.02,
		"share of the images that counts as public, with -adaptive, -groups, -warm, -written or -agree")
	program.BudgetFlags(f, &c.budget, 10, 1e-5)
	f.IntVar(&c.samples, "samples", 10000, "number of synthetic images to write and to score")
	c.finish = images.Finish{Contrast: true, Distort: 1}
	c.finish.Flags(f)
	f.Float64Var(&c.written, "written", 0,
		"part of the written images that are copies of public images, each distorted in another way")
	f.BoolVar(&c.agree, "agree", false,
		"write only samples to which a classifier trained on public images gives their own label")
	f.StringVar(&c.judge, "judge", "",
		"file of a generator that is sampled and scored; nothing is trained (default: none)")
	f.BoolVar(&c.brief, "brief", false,
		"report only the accuracy of classifiers trained on synthetic and on public images")
	f.StringVar(&c.critic, "critic", "mlp",
		"critic: mlp, patches (one convolution), small (three, 3 MFLOP) or paper (three, 48 MFLOP)")
	f.IntVar(&c.maps, "maps", 16, "maps of the critic patches")
	f.IntVar(&c.width, "width", 64,
		"hidden units of the critic mlp")
	f.IntVar(&c.generator, "generator-width", 0,
		"units of the mlp generator's first layer; the second has twice as many (default: twice -width)")
	f.Float64Var(&c.batch, "batch", 512, "expected number of images in a critic step")
	f.IntVar(&c.steps, "steps", 1000, "critic steps")
	f.IntVar(&c.criticSteps, "critic-steps", 4, "critic steps for each generator step")
	f.Float64Var(&c.lr, "lr", 1e-3, "learning rate of Adam (0.5, 0.999) for the critic")
	f.Float64Var(&c.generatorLR, "generator-lr", 1e-3,
		"learning rate of Adam (0.5, 0.999) for the generator")
	f.TextVar(&c.schedule.Decay, "decay", sgd.Constant,
		"how both learning rates fall during training: constant or cosine")
	f.Float64Var(&c.clip, "clip", 3, "clip norm of an image's gradient, without -adaptive")
	f.Float64Var(&c.average, "average", 0.99,
		"decay of the moving average of the generator that is released")
	f.IntVar(&c.groups, "groups", 0,
		"number of groups of critic parameters, each clipped to norms of public images; 0 for one group")
	f.BoolVar(&c.adaptive, "adaptive", false,
		"clip to norms of public images, recomputed in every step")
	f.Float64Var(&c.scale, "scale", 1,
		"clip norm as a multiple of the public images' mean gradient norms")
	f.IntVar(&c.warm, "warm", 0, "generator steps on public images before training")
	f.BoolVar(&c.keep, "keep", false, "spend a part of ε on a classifier of images, and keep the "+
		"samples with labels that it agrees with")
	f.Float64Var(&c.share, "share", 0.2, "part of ε that the classifier of -keep alone may cost")
	f.Uint64Var(&c.seed, "seed", 1, "seed of public randomness; noise cannot be seeded")
	f.IntVar(&c.seeds, "seeds", 3, "seeds of -ablation")
	f.StringVar(&c.out, "out", "out", "folder for the picture, the generator and the checkpoint")
	f.BoolVar(&c.resume, "resume", false, "continue from the checkpoint in the folder, if there is one")
	f.BoolVar(&c.ablation, "ablation", false,
		"compare plain training with grouping, adaptive clipping and warm start")
	f.BoolVar(&c.iterations, "iterations", false, "print the number of critic steps that grouping allows at one ε")
	err := f.Parse(args)
	c.generator = cmp.Or(c.generator, 2*c.width)
	return c, err
}
