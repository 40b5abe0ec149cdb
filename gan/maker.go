package gan

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
)

// newMaker returns a maker of fakes by a generator, with classes in public or released proportions.
func newMaker(be device.Backend, net models.Generator, c Config) *network.Maker {
	return &network.Maker{Codes: network.Codes{Backend: be, Latent: c.Latent, Classes: c.classes()},
		Net: net, Choice: choiceOf(c, c.ClassWeights)}
}

// choiceOf returns the distribution of classes: uniform without weights.
func choiceOf(c Config, weights []float64) network.Choice {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, c.classes())
	}
	return network.NewChoice(weights)
}
