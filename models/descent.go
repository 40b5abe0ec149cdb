package models

import "github.com/seed7ba64551/privgen/device"

// Descent starts to train the network on records that need no protection. It applies Adam to the
// mean loss of batches, with a learning rate that falls linearly to 0 over a number of steps. The
// function that it returns takes one step, with the gradients of a number of rows.
func (c *Classifier) Descent(be device.Backend, rate float64,
	steps int) func(g Gradients, rows int) {
	p, taken := c.Params(), 0
	grad, mean, scale := device.NewParams(be, p.Shapes...), be.New(1, p.Len()), be.New(1, p.Len())
	var weights []float32
	return func(g Gradients, rows int) {
		be.Fill(grad.Flat, 0)
		weights = weights[:0]
		for range rows {
			weights = append(weights, 1/float32(rows))
		}
		g.AddWeightedSum(grad, weights)
		left := rate * (1 - float64(taken)/float64(steps))
		taken++
		be.Adam(c.Params().Flat, grad.Flat, mean, scale,
			device.AdamStep{LR: float32(left), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: taken})
	}
}
