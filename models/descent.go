package models

import "github.com/seed7ba64551/privgen/device"

// A Descent trains a classifier on records that need no protection. It applies Adam to the mean
// loss of batches, with a learning rate that falls linearly to 0 over a number of steps.
type Descent struct {
	net         *Classifier
	be          device.Backend
	rate        float64
	step, steps int
	grad        device.Params
	mean, scale device.Matrix // Adam's moments
	weights     []float32
}

// Descent returns a training run that starts at the network's current parameters.
func (c *Classifier) Descent(be device.Backend, rate float64, steps int) *Descent {
	p := c.Params()
	return &Descent{net: c, be: be, rate: rate, steps: steps,
		grad: device.NewParams(be, p.Shapes...), mean: be.New(1, p.Len()), scale: be.New(1, p.Len())}
}

// Step moves the parameters against the mean gradient of a batch with the given number of rows.
func (d *Descent) Step(g Gradients, rows int) {
	d.weights = d.weights[:0]
	for range rows {
		d.weights = append(d.weights, 1/float32(rows))
	}
	d.be.Fill(d.grad.Flat, 0)
	g.AddWeightedSum(d.grad, d.weights)
	rate := d.rate * (1 - float64(d.step)/float64(d.steps))
	d.step++
	d.be.Adam(d.net.Params().Flat, d.grad.Flat, d.mean, d.scale,
		device.AdamStep{LR: float32(rate), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: d.step})
}
