package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// side is the height and the width of the images.
const side = digits.Side

// chain returns the run as a chain of the library. Its settings were chosen on drawn digits, never
// on other images.
func (c config) chain(public *records.Table) privgen.GANChain {
	train := sgd.Config{SamplingProbability: min(c.batch/float64(c.n), 1), Steps: c.steps,
		NominalBatch: c.batch,
		Optimizer:    c.adam(c.lr, c.steps)}
	g := gan.Config{Train: train, CriticSteps: c.criticSteps, GeneratorBatch: 128,
		GeneratorOptimizer: c.adam(c.generatorLR, c.steps/max(c.criticSteps, 1)), Average: c.average,
		WarmSteps: c.warm, Seed: c.seed}
	switch {
	case c.adaptive || c.groups > 0:
		g.Clipping = gan.Clipping{Adaptive: true, Kept: !c.adaptive, Scale: c.scale}
		if c.groups > 0 {
			g.Clipping.Groups, g.Clipping.K = gan.Clustered, c.groups
		}
	default:
		g.Train.ClipNorm = c.clip
	}
	if c.trainsOnPublic() {
		g.Public = records.DeclarePublic(public)
	}
	critic, generator := c.networks()
	return privgen.GAN(digits.Schema(), c.budget).Critic(critic).Generator(generator, 32).Train(g)
}

// plan returns the plan of the chain, with a classifier if a flag asks for one.
func (c config) plan(public *records.Table) (privgen.Plan, error) {
	if !c.keep {
		return c.chain(public).Plan()
	}
	return privgen.Compose(digits.Schema(), c.budget, compose.Labels{Of: c.chain(public),
		Share: c.share, Nominal: c.n, Seed: c.seed}).Plan()
}

// adam returns an optimiser whose rate falls over the given number of steps.
func (c config) adam(rate float64, steps int) sgd.Optimizer {
	s := c.schedule
	s.Steps = steps
	if s.Decay == sgd.Constant {
		s = sgd.Schedule{}
	}
	return sgd.AdamWith(rate, 0.5, 0.999, 1e-8).Scheduled(s)
}

// usesPublic reports whether the run needs public images.
func (c config) usesPublic() bool { return c.trainsOnPublic() || c.written > 0 || c.agree }

// trainsOnPublic reports whether the training needs public images.
func (c config) trainsOnPublic() bool { return c.adaptive || c.groups > 0 || c.warm > 0 }

func (c config) networks() (models.CriticArchitecture, models.GeneratorArchitecture) {
	mlp := models.MLP{Hidden: []int{c.generator, 2 * c.generator}, BatchNorm: true}
	switch c.critic {
	case "small":
		return models.Critic28(16), models.Generator28(32, 16)
	case "paper":
		return models.Critic28(64), models.Generator28(128, 64)
	case "patches":
		return models.CNN{Height: side, Width: side, Channels: 1, Activation: models.LeakyReLU,
			Convolutions: []models.Convolution{{Maps: c.maps, Size: 5, Stride: 2, Pad: 2}}}, mlp
	}
	return models.MLP{Hidden: []int{c.width}, Activation: models.LeakyReLU}, mlp
}

// data holds the images of a run.
type data struct{ private, public, test *records.Table }

// load reads or draws images. If the run uses public images, the first images are public.
func (c config) load() (d data, err error) {
	if !(c.publicShare > 0 && c.publicShare < 1) {
		return d, fmt.Errorf("-public %v: want a share between 0 and 1", c.publicShare)
	}
	all, test, err :=
		c.files.Load(images.Drawing{Train: c.n, TrainSeed: c.seed, Test: c.n / 8,
			TestSeed: c.seed + 1000})
	if err != nil {
		return d, err
	}
	if !c.usesPublic() && !c.ablation {
		return data{private: all, test: test}, nil
	}
	cut := max(int(c.publicShare*float64(all.Len())), 1)
	return data{private: all.Slice(cut, all.Len()), public: all.Slice(0, cut), test: test}, nil
}
