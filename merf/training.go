package merf

import (
	"cmp"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// GeneratorConfig describes a generator and its training against an embedding. No setting affects
// the privacy of the records. Zero fields mean the defaults that the fields' comments state.
type GeneratorConfig struct {
	// Architecture is the network; default models.MLP with two hidden layers of 200 and batch norm.
	Architecture models.GeneratorArchitecture `json:"-"`
	// Latent is the number of Gaussian coordinates of a code, without the class; default 16.
	Latent int `json:"latent,omitempty"`
	// Generators is the number of networks that are trained against the same release, each with its
	// own initial weights and codes. The networks generate synthetic records in turn. The records of
	// several networks are more diverse than the records of one network. Default 1.
	Generators int `json:"generators,omitempty"`
	Steps      int `json:"steps,omitempty"` // of each network; default 2000
	// Batch is the number of synthetic records per step, of all classes together; default 512.
	Batch int `json:"batch,omitempty"`
	// FeaturesPerStep is the number of features that each step compares, if the kernel can be divided
	// ([rff.Divisible]). Each step uses a random part of the features. Default all features.
	FeaturesPerStep int     `json:"features_per_step,omitempty"`
	LR              float64 `json:"lr,omitempty"` // learning rate of Adam; default 0.005
	// Decay is the ratio of the final learning rate to the initial one; default 0.05.
	Decay float64 `json:"decay,omitempty"`
	// Average is the decay, in [0, 1), of the moving average of the parameters. The trained network
	// has the averaged parameters. Default 0.98.
	Average float64 `json:"average,omitempty"`
	// Floor is the smallest divisor of a sum, in standard deviations of the noise on counts; default
	// 3.
	Floor float64 `json:"floor,omitempty"`
	Seed  uint64  `json:"seed,string"` // of initial weights and of codes
}

// withDefaults sets zero fields to their defaults.
func (g GeneratorConfig) withDefaults() GeneratorConfig {
	if g.Architecture == nil {
		g.Architecture = models.MLP{Hidden: []int{200, 200}, BatchNorm: true}
	}
	g.Latent, g.Steps, g.Batch = cmp.Or(g.Latent, 16), cmp.Or(g.Steps, 2000), cmp.Or(g.Batch, 512)
	g.LR, g.Decay, g.Average = cmp.Or(g.LR, 0.005), cmp.Or(g.Decay, 0.05), cmp.Or(g.Average, 0.98)
	g.Floor, g.Generators = cmp.Or(g.Floor, 3), cmp.Or(g.Generators, 1)
	return g
}

// Validate returns every mistake, as joined *param.Error values.
func (g GeneratorConfig) Validate() error {
	const path = "merf.GeneratorConfig."
	g = g.withDefaults()
	var k param.Checker
	k.OK(g.Latent > 0 && g.Latent <= maxLatent, path+"Latent", g.Latent,
		fmt.Sprintf("a positive integer of at most %d", maxLatent))
	k.OK(g.Generators > 0 && g.Generators <= maxGenerators, path+"Generators", g.Generators,
		fmt.Sprintf("a number of networks from 1 to %d", maxGenerators))
	k.OK(g.Steps > 0, path+"Steps", g.Steps, "a positive integer")
	k.OK(g.Batch > 0 && g.Batch <= maxBatch, path+"Batch", g.Batch,
		fmt.Sprintf("a positive integer of at most %d", maxBatch))
	k.OK(g.FeaturesPerStep >= 0, path+"FeaturesPerStep", g.FeaturesPerStep,
		"a positive number of features, or 0 for all")
	k.OK(g.LR > 0 && finite(g.LR), path+"LR", g.LR, "a positive finite number")
	k.OK(g.Decay > 0 && g.Decay <= 1, path+"Decay", g.Decay, "a fraction in (0, 1]")
	k.OK(g.Average >= 0 && g.Average < 1, path+"Average", g.Average, "a decay in [0, 1)")
	k.OK(g.Floor > 0 && finite(g.Floor), path+"Floor", g.Floor,
		"a positive number of standard deviations")
	if v, ok := g.Architecture.(interface{ Validate() error }); ok {
		k.Add(v.Validate())
	}
	return k.Err()
}

// The limits keep products of sizes far below the largest integer.
const maxLatent, maxBatch, maxGenerators = 1 << 20, 1 << 20, 64

// codesOf describes the input of a generator: latent coordinates and, if there are several classes,
// the class.
func codesOf(be device.Backend, latent int, s records.Schema) network.Codes {
	c := network.Codes{Backend: be, Latent: latent}
	if s.Classes() > 1 {
		c.Classes = s.Classes()
	}
	return c
}

// network builds one network of a configuration whose defaults have been set.
func (g GeneratorConfig) network(be device.Backend, s records.Schema) (models.Generator, error) {
	codes := codesOf(be, g.Latent, s)
	return network.NewGenerator("merf.GeneratorConfig.Architecture", be, g.Architecture,
		codes.Width(), s, g.Seed)
}
