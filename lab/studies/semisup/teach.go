package main

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// pupil is a classifier that is trained without privacy, since its training data are public or
// released.
type pupil struct {
	net     *models.Classifier
	descent *sgd.Descent
	grad    device.Params
}

func newPupil(in, classes int, seed uint64) (*pupil, error) {
	net, err := models.MLP{Hidden: []int{128}}.Classifier(device.CPU(), in, classes, seed)
	if err != nil {
		return nil, err
	}
	p := net.Params()
	return &pupil{net, sgd.Adam(1e-3).Descent(p.Len()), device.NewParams(device.CPU(), p.Shapes...)},
		nil
}

// learn takes one step on a batch with the probabilities of classes.
func (p *pupil) learn(x, targets device.Matrix) {
	clear(p.grad.Flat.Data)
	weights := make([]float32, x.Rows)
	for i := range weights {
		weights[i] = 1 / float32(x.Rows)
	}
	p.net.GradientsSoft(device.Batch{Rows: x.Rows, Dense: x}, targets).AddWeightedSum(p.grad, weights)
	p.descent.Step(p.net.Params().Flat.Data, p.grad.Flat.Data, 1)
}

// judge returns the probabilities of classes. The paper uses only the most likely class. Some
// samples resemble no class; there the paper's rule makes both classifiers certain of their first
// answer.
func (p *pupil) judge(x device.Matrix) device.Matrix {
	out := device.HostMatrix(x.Rows, p.net.Classes(), make([]float32, x.Rows*p.net.Classes()))
	p.net.Predict(device.Batch{Rows: x.Rows, Dense: x}, out)
	return out
}

// teach is Algorithm 4. It trains C1 and, if there is a generator, also C2, and returns the
// accuracy of C1 on test images.
func (c config) teach(public, test *records.Table, m *gan.Model, seed uint64) (float64, error) {
	dim, classes := public.Schema().Dim(), public.Schema().Classes()
	first, err := newPupil(dim, classes, seed)
	if err != nil {
		return 0, err
	}
	second, err := newPupil(dim+latent, classes, seed+1)
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	for round := range c.rounds {
		drawn := 0
		if m != nil {
			x, both, err := sample(m, c.batch, dim, rng)
			if err != nil {
				return 0, err
			}
			second.learn(both, first.judge(x))
			drawn = int(c.shareAt(round) * float64(c.batch))
		}
		x, targets := draw(public, c.batch-drawn, rng)
		if drawn > 0 {
			fake, both, err := sample(m, drawn, dim, rng)
			if err != nil {
				return 0, err
			}
			x, targets = below(x, fake), below(targets, second.judge(both))
		}
		first.learn(x, targets)
	}
	return images.Accuracy(test, first.net.PredictClass), nil
}

// shareAt returns the share of samples in a batch: 0 in the first third of the rounds, -share in
// the last third.
func (c config) shareAt(round int) float64 {
	return c.share * min(max(3*float64(round)/float64(c.rounds)-1, 0), 1)
}

// below returns the rows of a followed by the rows of b.
func below(a, b device.Matrix) device.Matrix {
	flat := make([]float32, 0, (a.Rows+b.Rows)*a.Cols)
	for _, m := range []device.Matrix{a, b} {
		for i := range m.Rows {
			flat = append(flat, m.Row(i)...)
		}
	}
	return device.HostMatrix(a.Rows+b.Rows, a.Cols, flat)
}

// draw returns a batch of images and their classes, with replacement.
func draw(t *records.Table, n int, rng *rand.Rand) (x, targets device.Matrix) {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(rng.IntN(t.Len()))
	}
	var b device.Batch
	t.Gather(rows, &b)
	classes := t.Schema().Classes()
	targets = device.HostMatrix(n, classes, make([]float32, n*classes))
	for i, label := range b.Labels {
		targets.Row(i)[label] = 1
	}
	return b.Dense, targets
}

// sample returns a batch of the generator's images, and the same images joined with their codes.
func sample(m *gan.Model, n, dim int, rng *rand.Rand) (x, both device.Matrix, err error) {
	codes := device.HostMatrix(n, latent, make([]float32, n*latent))
	for i := range codes.Data {
		codes.Data[i] = float32(rng.NormFloat64())
	}
	x = device.HostMatrix(n, dim, make([]float32, n*dim))
	if err := m.Generate(codes, nil, x); err != nil {
		return x, both, err
	}
	both = device.HostMatrix(n, dim+latent, make([]float32, n*(dim+latent)))
	for i := range n {
		copy(both.Row(i), x.Row(i))
		copy(both.Row(i)[dim:], codes.Row(i))
	}
	return x, both, nil
}
