package models

import "github.com/seed7ba64551/privgen/device"

// An Encoder is a network from records to codes that is not trained privately. It is a [Generator]
// in the other direction: its Latent is the number of coordinates of a record, its Dim that of a
// code, and Generate computes codes. Kernels on codes need the derivative of codes with respect to
// records, which PullBack computes.
//
// Guarantee: none. An Encoder must learn from public or released records only. It then is a public
// function of a record.
type Encoder interface {
	Generator
	// PullBack sets dx to the derivative with respect to the records that the last Forward encoded. It
	// is Backward without the gradient with respect to the parameters.
	//
	// Shapes: delta, the derivative of a loss with respect to the codes, is rows×Dim; dx is
	// rows×Latent.
	PullBack(delta, dx device.Matrix)
}

// Encoder builds a network from images to codes, with weights drawn from a public seed. Its last
// layer is linear.
//
// Shapes: in must be Height·Width·Channels.
//
// Errors: joined *param.Error values.
func (a CNN) Encoder(be device.Backend, in, code int, seed uint64) (Encoder, error) {
	var c checker
	c.OK(be != nil, "models.CNN.Encoder", be, "a backend")
	c.Add(a.Validate())
	c.OK(!a.LayerNorm, "models.CNN.LayerNorm", a.LayerNorm, "false: only critics support LayerNorm")
	c.OK(in == a.image().Len(), "models.CNN.Encoder: in", in, a.imageLen())
	c.positive("models.CNN.Encoder: code", code)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newDecoder(be, a.units(be, code), "encoder", seed, a.Activation.gain()), nil
}

// Encoder builds a network from records to codes, with weights drawn from a public seed. Its last
// layer is linear.
//
// Errors: joined *param.Error values, also for a network with batch norm, which mixes records.
func (a MLP) Encoder(be device.Backend, in, code int, seed uint64) (Encoder, error) {
	var c checker
	c.OK(!a.BatchNorm, "models.MLP.BatchNorm", a.BatchNorm, "false: an encoder maps single records")
	c.positive("models.MLP.Encoder: code", code)
	if err := c.Err(); err != nil {
		return nil, err
	}
	net, err := a.NewGenerator(be, in, []Head{{Width: code}}, seed)
	if err != nil {
		return nil, err
	}
	return net.(*decoder), nil
}

// PullBack implements [Encoder].
func (n *decoder) PullBack(delta, dx device.Matrix) {
	w := n.walk
	if w.rows == 0 {
		return
	}
	n.be.Apply(device.Identity, w.lastDelta(), delta)
	w.dx = dx
	w.backward()
}
