package gan

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
)

// newMaker returns a maker that generates fakes with net. It draws classes with public or released
// probabilities.
func newMaker(be device.Backend, net models.Generator, c Config) *network.Maker {
	return &network.Maker{Codes: network.Codes{Backend: be, Latent: c.Latent, Classes: c.classes()},
		Net: net, Choice: choiceOf(c, c.ClassWeights)}
}

// choiceOf returns the distribution of classes, which is uniform if weights is nil.
func choiceOf(c Config, weights []float64) network.Choice {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, c.classes())
	}
	return network.NewChoice(weights)
}
