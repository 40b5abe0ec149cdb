package main

import (
	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/internal/examples/digits"
	"github.com/seed7ba64551/privgen/internal/examples/images"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// side is the height and the width of the images.
const side = digits.Side

// chain returns the chain of the flags. The plan chooses settings that no flag sets.
func (c config) chain() privgen.MERFChain {
	chain := privgen.MERF(digits.Schema(), c.budget).Nominal(c.nominal).Seed(c.seed).
		Train(merf.GeneratorConfig{Generators: c.generators, Steps: c.steps, Batch: c.batch})
	if c.features > 0 {
		chain = chain.Embed(merf.Config{Kernel: rff.PatchesFor(c.features, side, side)})
	}
	return chain
}

// plan returns the plan of the chain, with the parts that flags ask for: a classifier, and a choice
// of changes.
func (c config) plan() (privgen.Plan, error) {
	if c.labels == "" {
		if c.choose {
			return c.chain().Augmented(augment.Config{}).Seed(c.seed).Plan()
		}
		return c.chain().Plan()
	}
	var rule labelling.Rule
	if err := rule.UnmarshalText([]byte(c.labels)); err != nil {
		return nil, err
	}
	labelled := c.chain().Labelled(labelling.Config{Rule: rule})
	if c.choose {
		return labelled.Augmented(augment.Config{}).Seed(c.seed).Plan()
	}
	return labelled.Plan()
}

// load returns training images and held-out images.
func (c config) load() (train, test *records.Table, err error) {
	return c.files.Load(images.Drawing{Train: c.n, TrainSeed: c.seed, Test: c.n / 4,
		TestSeed: c.seed + 1})
}
