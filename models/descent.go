package models

import "github.com/seed7ba64551/privgen/device"

// descent is the state of Descent.
type descent struct {
	net          *Classifier
	be           device.Backend
	rate         float64
	taken, steps int
	grad         device.Params
	mean, scale  device.Matrix // Adam's moments
	weights      []float32
}

// Descent starts to train the network on records that need no protection. It applies Adam to the
// mean loss of batches, with a learning rate that falls linearly to 0 over a number of steps. The
// function that it returns takes one step, with the gradients of a number of rows.
func (c *Classifier) Descent(be device.Backend, rate float64,
	steps int) func(g Gradients, rows int) {
	p := c.Params()
	d := &descent{net: c, be: be, rate: rate, steps: steps,
		grad: device.NewParams(be, p.Shapes...), mean: be.New(1, p.Len()), scale: be.New(1, p.Len())}
	return d.step
}

// step moves the parameters against the mean gradient of a batch with the given number of rows.
func (d *descent) step(g Gradients, rows int) {
	d.weights = d.weights[:0]
	for range rows {
		d.weights = append(d.weights, 1/float32(rows))
	}
	d.be.Fill(d.grad.Flat, 0)
	g.AddWeightedSum(d.grad, d.weights)
	rate := d.rate * (1 - float64(d.taken)/float64(d.steps))
	d.taken++
	d.be.Adam(d.net.Params().Flat, d.grad.Flat, d.mean, d.scale,
		device.AdamStep{LR: float32(rate), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: d.taken})
}
