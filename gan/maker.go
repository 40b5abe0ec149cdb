package gan

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
)

// newMaker returns a maker that generates fakes with net. All classes have the same probability:
// the class frequencies of the records are private.
func newMaker(be device.Backend, net models.Generator, c Config) *network.Maker {
	return &network.Maker{Codes: network.Codes{Backend: be, Latent: c.Latent, Classes: c.classes()},
		Net: net, Choice: network.NewChoice(slices.Repeat([]float64{1}, c.classes()))}
}
