package models

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// A Generator is a network that turns codes into records. It never sees a private record. It is
// trained against something already released or protected.
//
// Guarantee: none. A Generator has no per-example gradients: batch normalisation mixes the examples
// of a batch, so clipping such gradients would protect no record.
type Generator interface {
	Params() device.Params
	// Bind copies the parameters into p and uses p from then on.
	Bind(p device.Params)
	// Latent returns the number of coordinates of a code.
	Latent() int
	// Dim returns the number of coordinates of a record.
	Dim() int
	// Forward turns codes into records in training mode. The result is valid until the next call.
	Forward(codes device.Matrix) device.Matrix
	// Backward adds to grad the gradient, summed over the batch, of a loss of the records that the
	// last Forward returned. Unless dCodes is the zero Matrix, it sets dCodes to the derivative with
	// respect to the codes.
	Backward(delta device.Matrix, grad device.Params, dCodes device.Matrix)
	// Generate sets dst to the records of codes. Each record depends on its own code only. Generate is
	// safe for concurrent use unless the network is being trained.
	Generate(codes, dst device.Matrix)
	Stateful
}

// A GeneratorArchitecture is a public description of a Generator that can be written as JSON.
type GeneratorArchitecture interface {
	// NewGenerator builds the network for codes of `latent` coordinates, with its output divided into
	// heads and its weights drawn from a public seed. Errors: joined *param.Error values, one for each
	// mistake.
	NewGenerator(be device.Backend, latent int, heads []Head, seed uint64) (Generator, error)
	// Name returns a short stable name, such as "mlp".
	Name() string
}

// NewGenerator builds a multilayer perceptron from codes to records. Its last layer is linear, and
// the heads are applied to the output of that layer.
//
// Shapes: a record has the coordinates of all heads together. Errors: joined *param.Error values.
func (a MLP) NewGenerator(be device.Backend, latent int, heads []Head,
	seed uint64) (Generator, error) {
	var c checker
	c.OK(be != nil, "models.MLP.NewGenerator", be, "a backend")
	c.positive("models.MLP.NewGenerator: latent", latent)
	c.Add(a.Validate())
	c.heads("models.MLP.NewGenerator: heads", heads)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newDecoder(be, a.generator(latent, heads), seed), nil
}

func (a MLP) generator(latent int, heads []Head) *sketch {
	g := newSketch("mlp")
	g.gain = a.Activation.gain()
	x := g.input(latent)
	for _, wide := range a.Hidden {
		x = g.normalised(a.Activation.fn(), a.BatchNorm, wide, func(f device.Func) *node {
			return g.dense(x, f, wide)
		})
	}
	g.gain = 1
	g.heads(g.dense(x, device.Identity, headsWidth(heads)), heads)
	return g
}

// NewGenerator builds the network with heads instead of Output, or with Output if heads is empty.
//
// Shapes: the widths of the heads must add up to Height·Width·Channels. Errors: joined *param.Error
// values.
func (a ConvDecoder) NewGenerator(be device.Backend, latent int, heads []Head,
	seed uint64) (Generator, error) {
	var c checker
	c.OK(be != nil, "models.ConvDecoder.NewGenerator", be, "a backend")
	c.positive("models.ConvDecoder.NewGenerator: latent", latent)
	c.Add(a.Validate())
	if len(heads) > 0 {
		c.heads("models.ConvDecoder.NewGenerator: heads", heads)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if want := a.Height * a.Width * a.Channels; len(heads) > 0 && headsWidth(heads) != want {
		return nil, param.New("models.ConvDecoder.NewGenerator: heads", headsWidth(heads),
			fmt.Sprintf("%d coordinates together: Height·Width·Channels", want))
	}
	if len(heads) > 0 {
		a.Output = device.Identity
	}
	g := a.sketch(latent)
	g.heads(g.last(), heads)
	return newDecoder(be, g, seed), nil
}
