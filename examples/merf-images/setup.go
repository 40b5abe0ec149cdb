package main

import (
	"cmp"
	"errors"
	"math"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// schema describes the images of the flags.
func (c config) schema() records.Schema {
	if c.colours.Wanted() {
		return c.colours.Schema()
	}
	return digits.Schema()
}

// chain returns the chain of the flags. The plan chooses settings that no flag sets.
func (c config) chain() privgen.MERFChain {
	s := c.schema()
	chain := privgen.MERF(s, c.budget).Nominal(c.nominal).Seed(c.seed).
		Train(merf.GeneratorConfig{Generators: c.generators, Steps: c.steps, Batch: c.batch})
	if c.features > 0 || c.colours.Wanted() {
		chain = chain.Embed(merf.Config{Kernel: patches(cmp.Or(c.features, 4000), s)})
	}
	return chain
}

// patches returns the kernel for images. The squared distance of two images is a sum over colours,
// so length scales are proportional to the root of their number.
func patches(features int, s records.Schema) rff.Patches {
	k := rff.PatchesFor(features, s.Height(), s.Width())
	wide := math.Sqrt(float64(s.Channels()))
	k.Low, k.High = wide*k.Low, wide*k.High
	return k
}

// plan returns the plan of the chain, with the parts that flags ask for: a classifier, and a choice
// of changes.
func (c config) plan() (privgen.Plan, error) {
	var d privgen.Design = c.chain()
	if c.keep {
		l := compose.Labels{Of: d, Share: c.share, Nominal: c.nominal}
		if c.colours.Wanted() {
			l.Features = rff.Scattering{Orientations: 4} // 8 take four times as long, for each colour
		}
		d = l
	}
	if c.choose {
		d = compose.Changes{Of: d, Seed: c.seed}
	}
	return d.PlanFor(c.schema(), c.budget)
}

// load returns training images and held-out images.
func (c config) load() (train, test *records.Table, err error) {
	drawing := images.Drawing{Train: c.n, TrainSeed: c.seed, Test: c.n / 4, TestSeed: c.seed + 1}
	if !c.colours.Wanted() {
		return c.files.Load(drawing)
	}
	if c.files != (images.Files{}) {
		return nil, nil, errors.New("-images and -test-images are for grey images: " +
			"give them without -cifar and -shapes")
	}
	return c.colours.Load(drawing)
}
