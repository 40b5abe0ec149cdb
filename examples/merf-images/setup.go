package main

import (
	"errors"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/internal/digits"
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
	if c.images == "" {
		return c.drawn()
	}
	if train, err = readImages(c.images, c.labels); err != nil {
		return nil, nil, err
	}
	if c.testImages != "" {
		test, err = readImages(c.testImages, c.testLabels)
		return train, test, err
	}
	cut := train.Len() - train.Len()/10
	return train.Slice(0, cut), train.Slice(cut, train.Len()), nil
}

func (c config) drawn() (train, test *records.Table, err error) {
	if train, err = digits.Draw(c.n, c.seed); err != nil {
		return nil, nil, err
	}
	test, err = digits.Draw(max(c.n/4, 1), c.seed+1)
	return train, test, err
}

func readImages(images, labels string) (*records.Table, error) {
	if labels == "" {
		return nil, errors.New("-images needs -labels, and -test-images needs -test-labels")
	}
	return records.OpenIDX(images, labels, digits.Schema())
}
