package models

import (
	"fmt"
	"math/rand/v2"

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
	l := unitList{be: be, f: a.Activation.fn(), normalise: a.BatchNorm}
	width := latent
	for _, wide := range a.Hidden {
		l.add(&denseUnit{be: be, width: width, wide: wide}, 1, wide)
		width = wide
	}
	l.f, l.normalise = device.Identity, false
	l.add(&denseUnit{be: be, width: width, wide: headsWidth(heads)}, 1, headsWidth(heads))
	l.units = append(l.units, newHeads(be, heads)...)
	return newDecoder(be, l.units, "mlp", seed, a.Activation.gain()), nil
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
	if len(heads) == 0 {
		return newDecoder(be, a.units(be, latent), "decoder", seed, a.Activation.gain()), nil
	}
	if want := a.Height * a.Width * a.Channels; headsWidth(heads) != want {
		return nil, param.New("models.ConvDecoder.NewGenerator: heads", headsWidth(heads),
			fmt.Sprintf("%d coordinates together: Height·Width·Channels", want))
	}
	a.Output = device.Identity
	units := append(a.units(be, latent), newHeads(be, heads)...)
	return newDecoder(be, units, "decoder", seed, a.Activation.gain()), nil
}

func newDecoder(be device.Backend, units []unit, prefix string, seed uint64,
	gain float64) *decoder {
	n := &decoder{&decoderState{be: be, chain: newChain(be, units...)}}
	n.params = device.NewParams(be, n.chain.shapes(prefix)...)
	n.chain.bind(n.params, 0)
	n.chain.initialise(rand.New(rand.NewPCG(seed, 0x646563)), gain)
	n.walk = newWalk(n.chain, true)
	return n
}
