package models

import "github.com/seed7ba64551/privgen/device"

// batchNorm is y = f(gain·x̂ + shift). Here x̂ is x scaled to mean 0 and variance 1 in every
// channel, over all pixels of all records of the batch.
//
// Guarantee: none for the records. Each output depends on all records of the batch, so clipping one
// record's gradient bounds nothing. A network with a batchNorm sets all norms to NaN. It is for
// generators, whose inputs are public noise.
//
// Source: Ioffe and Szegedy, "Batch Normalization", 2015.
type batchNorm struct {
	gainUnit
	f device.Func
	// running holds the average of the moments over the last batches. latest is scratch: the moments
	// of a batch minus running.
	running, latest device.Matrix
	batches         int64 // number of batches in the average
}

const (
	batchNormEps = 1e-5
	// batchNormMemory is the largest number of batches that the average covers.
	batchNormMemory = 20
	batchNormStats  = 4 // rows of a pass: moments, and gradients of gain and shift
)

// start allocates the average.
func (u *batchNorm) start(be device.Backend) {
	u.running, u.latest = be.New(2, u.channels), be.New(2, u.channels)
	be.Fill(u.running.RowRange(1, 2), 1)
}

func (u *batchNorm) stats(t *pass, n *node) device.Matrix {
	return t.memory(n, 1, batchNormStats, u.channels)
}

func (u *batchNorm) forward(t *pass, n *node) {
	x, y, stats := u.at(t.operand(n, 0)), u.at(t.value(n)), u.running
	if t.trains {
		stats = u.stats(t, n).RowRange(0, 2)
		t.be.Moments(stats, x, batchNormEps)
		u.average(t.be, stats)
	}
	t.be.Normalize(y, x, stats, t.blocks[n.first], t.blocks[n.first+1])
	t.be.Apply(u.f, y, y)
}

// average moves the running moments towards the moments of a batch. The first batch sets them.
func (u *batchNorm) average(be device.Backend, stats device.Matrix) {
	u.batches++
	be.Sub(u.latest, stats, u.running)
	be.Axpy(1/float32(min(u.batches, batchNormMemory)), u.latest, u.running)
}

func (u *batchNorm) backward(t *pass, n *node) {
	delta, s := t.delta(n), u.stats(t, n)
	t.be.Gradient(u.f, delta, t.value(n))
	t.be.NormalizeGradient(u.at(delta), u.at(t.operand(n, 0)), s.RowRange(0, 2),
		t.blocks[n.first], s.RowRange(2, 3), s.RowRange(3, 4))
	t.pull(n, 0, func(dx device.Matrix) { t.be.Apply(device.Identity, dx, delta) })
}

// uses states the gradient of the whole batch, because single records have no separate gradients.
// So no record has a norm.
func (u *batchNorm) uses(t *pass, n *node, list []use) []use {
	s := u.stats(t, n)
	return append(list, use{weight: -1, bias: n.first, rows: 1, d: s.RowRange(2, 3), mixed: true},
		use{weight: -1, bias: n.first + 1, rows: 1, d: s.RowRange(3, 4), mixed: true})
}
