package merf

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// The constants of the default rules. docs/defaults.md has the measurements that they come from.
const (
	meanNoise     = 1.0 / 16 // noise on a class's mean of random features ÷ norm of the mean
	pairNoise     = 0.15     // noise on a class's mean of pairs ÷ its norm; single columns above it
	fewNoise      = 0.1      // the same for pairs with fewKnots
	fewKnots      = 6        // hat functions of a number if all pairs with 12 do not fit
	featuresOfDim = 50       // largest number of random features for each coordinate of a record
	leastFeatures = 200
	mostSeconds   = 300 // of training
	imageFeatures = 4000
	imageSeconds  = 85 // of training generators of images, which keep improving for longer
	imageSteps    = 10_000
	singleSteps   = 350  // for single columns, for each class
	imageNetworks = 6    // better than one network trained for the same total time
	imageSubset   = 1000 // features compared in each step
)

// chosen returns the configuration with its zero fields set by the default rules if Nominal is
// given, and unchanged otherwise.
func (c Config) chosen() (Config, error) {
	if c.decided || c.Schema.Validate() != nil || c.Budget.Validate() != nil {
		return c, nil
	}
	if c.decided = true; c.Nominal == 0 {
		return c, nil
	}
	t, err := defaults.Checked("merf", c.Schema, c.Budget, c.Nominal)
	if err != nil {
		return c, err
	}
	c.choices = nil
	if c.Kernel == nil {
		kernel, why := c.chooseKernel(t)
		c.Kernel, c.Features = kernel, 0
		c.choices.Add("Kernel", c.Kernel, why)
	}
	c.chooseGenerator()
	c.choices.Add("", "", c.cost(t).String())
	if c.Budget.Relation == accountant.AddOrRemoveOne {
		c.Nominal = 0 // the exact number of records is private: Nominal affects defaults only
	}
	return c, nil
}

// chooseKernel returns the kernel and the reason for it.
func (c Config) chooseKernel(t defaults.Task) (rff.EmbeddingKernel, string) {
	s, classes := c.Schema, classesOf(c.Schema)
	if c.Features == 0 && s.Kind() == records.MixedTable {
		if k, why, ok := c.tableKernel(t); ok {
			return k, why
		}
	}
	most := c.mostFeatures()
	patches := s.Channels() == 1 && min(s.Height(), s.Width()) >= 8
	if patches {
		most = min(most, imageFeatures) // time is better spent on more steps than on more features
	}
	d, why := min(t.Features(classes, meanNoise, leastFeatures, most), most),
		fmt.Sprintf("as many as the noise of a class's mean permits, at most %d", most)
	if c.Features != 0 {
		d, why = c.Features, "Features is given"
	}
	if patches {
		return rff.PatchesFor(d, s.Height(), s.Width()), why
	}
	return rff.Rule(d, s.Dim()), why
}

// tableKernel returns the first of three kernels that has few enough features and enough signal.
// The kernels are all pairs of columns, all pairs with fewer hat functions, and single columns.
func (c Config) tableKernel(t defaults.Task) (rff.EmbeddingKernel, string, bool) {
	noise := func(k rff.Pairs) (float64, int) {
		e, err := k.Embedding(layout(c.Schema), c.Seed)
		if err != nil {
			return math.Inf(1), 0
		}
		return math.Sqrt(float64(e.Dim())) * float64(classesOf(c.Schema)) / t.Signal, e.Dim()
	}
	const fits = "the noise of a class's %d features is %.2g of their norm"
	all, few := rff.Pairs{Order: 2}, rff.Pairs{Order: 2, Knots: fewKnots}
	if x, dim := noise(all); x <= pairNoise {
		return all, fmt.Sprintf(fits, dim, x), true
	}
	if x, dim := noise(few); x <= fewNoise {
		return few, fmt.Sprintf(fits+"; more hat functions would have more noise or too many features",
			dim, x), true
	}
	single := rff.Pairs{Order: 1}
	x, dim := noise(single)
	if x <= pairNoise {
		return single, fmt.Sprintf(fits, dim, x), true
	}
	return single, fmt.Sprintf("noise would exceed %g of the norm of pairs of columns", pairNoise),
		!math.IsInf(x, 1)
}

// chooseGenerator chooses the architecture for images and the number of training steps.
func (c *Config) chooseGenerator() {
	g := &c.Generator
	if c.Schema.IsImage() && c.Schema.Height()%4 == 0 && c.Schema.Width()%4 == 0 {
		defaults.Fill[models.GeneratorArchitecture](&c.choices, &g.Architecture, models.ConvDecoder{
			Height: c.Schema.Height(), Width: c.Schema.Width(), Channels: c.Schema.Channels(),
			Hidden: []int{200}, Maps: []int{16, 8}, Size: 5, Activation: models.ReLU, Output: device.Sigmoid,
			BatchNorm: true}, "Generator.Architecture", "neighbouring pixels are correlated")
		defaults.Fill(&c.choices, &g.Latent, 10, "Generator.Latent", "codes cost no privacy")
		defaults.Fill(&c.choices, &g.Batch, 200, "Generator.Batch", "convolutions take time")
		defaults.Fill(&c.choices, &g.LR, 0.04, "Generator.LR", "suits convolutions")
		defaults.Fill(&c.choices, &g.Decay, 0.001, "Generator.Decay", "the last steps settle details")
		defaults.Fill(&c.choices, &g.Generators, imageNetworks, "Generator.Generators",
			"several networks of one release make more diverse images, and cost no privacy")
		c.chooseSubset()
	}
	if g.Steps != 0 {
		return
	}
	usual := g.withDefaults()
	if k, ok := c.Kernel.(rff.Pairs); ok && k.Order == 1 {
		g.Steps = min(singleSteps*max(classesOf(c.Schema), 2), usual.Steps)
		usual.Steps = g.Steps
		c.choices.Add("Generator.Steps", g.Steps,
			"single columns are soon fitted; more steps make pairs of columns worse")
	}
	step := max(defaults.CostOf(c.stepOperations(usual), 0).Seconds, 1e-9)
	if _, convolutions := g.Architecture.(models.ConvDecoder); convolutions {
		g.Steps = min(max(defaults.Rounded(imageSeconds/step), usual.Steps/2), imageSteps)
		c.choices.Add("Generator.Steps", g.Steps, fmt.Sprintf(
			"as many as each network can take in about %d s for all, from %d to %d: images keep improving",
			imageSeconds, usual.Steps/2, imageSteps))
	}
	if steps := int(mostSeconds / step); steps < max(usual.Steps, g.Steps) {
		g.Steps = max(steps, 100)
		c.choices.Add("Generator.Steps", g.Steps,
			fmt.Sprintf("as many as fit in about %d s", mostSeconds))
	}
}

// chooseSubset lets each step compare only imageSubset of the features, if there are at least twice
// that many.
func (c *Config) chooseSubset() {
	e, err := c.features()
	if _, ok := e.(rff.Divisible); err != nil || !ok || e.Dim() < 2*imageSubset {
		return
	}
	defaults.Fill(&c.choices, &c.Generator.FeaturesPerStep, imageSubset,
		"Generator.FeaturesPerStep", "a random part of the features takes a fraction of the time")
}

// denseCost is the cost of one operation in a product of large matrices, in the unit of
// defaults.CostOf.
const denseCost = 0.4

// convolutionCost is the cost of one pixel in the default generator of images, in the same unit.
const convolutionCost = 560

// featureOperations returns the number of operations to compute one record's features, and the
// number of features.
func (c Config) featureOperations() (operations, dim float64) {
	e, err := c.features()
	if err != nil {
		return 0, 0
	}
	dim = float64(e.Dim())
	in := float64(c.Schema.Dim())
	switch k := c.Kernel.(type) {
	case rff.Pairs:
		return 2 * dim, dim
	case rff.Patches:
		seen := 0.0 // average fraction of the image that a feature reads
		for _, side := range k.Windows {
			seen += min(side*side, 1) / float64(len(k.Windows))
		}
		in *= seen
	}
	return dim * (denseCost*in + 20), dim // a matrix product, then cosines and sines
}

// stepOperations returns the number of operations of one training step of every network.
func (c Config) stepOperations(g GeneratorConfig) float64 {
	features, dim := c.featureOperations()
	if g.FeaturesPerStep > 0 && dim > 0 {
		features *= min(float64(g.FeaturesPerStep)/dim, 1)
	}
	network := 1e5
	if s, ok := g.Architecture.(models.GeneratorSizer); ok {
		codes := codesOf(device.CPU(), g.Latent, c.Schema)
		params, _ := s.GeneratorSize(codes.Width(), nil)
		network = float64(params) + 200*float64(c.Schema.Dim())
	}
	if _, ok := g.Architecture.(models.ConvDecoder); ok {
		network = convolutionCost * float64(c.Schema.Dim())
	}
	// The features need two matrix products where a layer of the network needs three.
	return float64(g.Generators) * float64(g.Batch) * (4.0/3*features + 3.5*network)
}

// cost predicts the time and memory of the run.
func (c Config) cost(t defaults.Task) defaults.Cost {
	g := c.Generator.withDefaults()
	one, dim := c.featureOperations()
	release := float64(t.Nominal) * one
	if _, ok := c.Kernel.(rff.Pairs); ok { // a record has one level or two knots in each column
		columns := 1.5 * float64(len(c.Schema.Columns()))
		release = float64(t.Nominal) * columns * columns * 10
	}
	classes := float64(classesOf(c.Schema))
	bytes := dim * classes * 28
	if _, ok := c.Kernel.(rff.Pairs); !ok { // Pairs does not store the features of a batch
		bytes += float64(g.Generators*g.Batch)*dim*8 + dim*float64(c.Schema.Dim())*4
	}
	if _, ok := g.Architecture.(models.ConvDecoder); ok { // maps of all layers, and their gradients
		bytes += 200 * float64(g.Generators*g.Batch) * float64(c.Schema.Dim())
	}
	return defaults.CostOf(release+float64(g.Steps)*c.stepOperations(g), bytes)
}
