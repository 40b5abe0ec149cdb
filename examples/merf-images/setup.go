package main

import (
	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/examples/digits"
	"github.com/seed7ba64551/privgen/internal/examples/images"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// side is that of the images.
const side = digits.Side

// chain is the run in the library's own words. What is in it was chosen on
// drawn digits, never on anybody's images: many small steps rather than few
// large ones, since the noise of the release is not what limits the generator.
func (c config) chain() privgen.MERFChain {
	return privgen.MERF(digits.Schema(), c.budget).
		Embed(merf.Config{Kernel: rff.PatchesFor(c.features, side, side)}).
		Generator(generator()).
		Train(merf.GeneratorConfig{Latent: 10, Steps: c.steps, Batch: c.batch, LR: 0.01}).
		Seed(c.seed)
}

// generator makes 7×7 maps of a code and its class, and doubles them twice.
func generator() models.ConvDecoder {
	return models.ConvDecoder{
		Height: side, Width: side, Channels: 1,
		Hidden: []int{200}, Maps: []int{16, 8}, Size: 5,
		Activation: models.ReLU, Output: device.Sigmoid, BatchNorm: true,
	}
}

// load returns training images and held-out images.
func (c config) load() (train, test *records.Table, err error) {
	return c.files.Load(images.Drawing{Train: c.n, TrainSeed: c.seed, Test: c.n / 4,
		TestSeed: c.seed + 1})
}
