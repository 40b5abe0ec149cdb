package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// batchNorm is y = f(gain·x̂ + shift). Here x̂ is x scaled to mean 0 and variance 1 in every
// channel, over all pixels of all records of the batch.
//
// Guarantee: none for the records. Each output depends on all records of the batch, so clipping one
// record's gradient bounds nothing. A chain with a batchNorm sets all norms to NaN. A batchNorm is
// for generators, whose inputs are public noise.
//
// Source: Ioffe and Szegedy, "Batch Normalization", 2015.
type batchNorm struct {
	be          device.Backend
	pixels      int // pixels of a record
	channels    int
	f           device.Func
	gain, shift device.Matrix
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

func newBatchNorm(be device.Backend, pixels, channels int, f device.Func) *batchNorm {
	u := &batchNorm{be: be, pixels: pixels, channels: channels, f: f, running: be.New(2, channels),
		latest: be.New(2, channels)}
	be.Fill(u.running.RowRange(1, 2), 1)
	return u
}

func (u *batchNorm) in() int  { return u.pixels * u.channels }
func (u *batchNorm) out() int { return u.pixels * u.channels }

func (u *batchNorm) shapes(name string) []device.Shape {
	return []device.Shape{{Name: name + ".gain", Rows: 1, Cols: u.channels},
		{Name: name + ".shift", Rows: 1, Cols: u.channels}}
}

func (u *batchNorm) bind(blocks []device.Matrix) { u.gain, u.shift = blocks[0], blocks[1] }

func (u *batchNorm) initialise(*rand.Rand, float64) {
	u.be.Fill(u.gain, 1)
	u.be.Fill(u.shift, 0)
}

func (u *batchNorm) columns(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.pixels, u.channels)
}

func (u *batchNorm) forward(w *walk, l int, x, y device.Matrix) {
	stats := u.running
	if w.trains {
		stats = w.stats[l].RowRange(0, 2)
		u.be.Moments(stats, u.columns(x), batchNormEps)
		u.average(stats)
	}
	u.be.Normalize(u.columns(y), u.columns(x), stats, u.gain, u.shift)
	u.be.Apply(u.f, y, y)
}

// average moves the running moments towards the moments of a batch. The first batch sets them.
func (u *batchNorm) average(stats device.Matrix) {
	u.batches++
	u.be.Sub(u.latest, stats, u.running)
	u.be.Axpy(1/float32(min(u.batches, batchNormMemory)), u.latest, u.running)
}

func (u *batchNorm) backward(w *walk, l int, x, y, delta, dx device.Matrix) {
	u.be.Gradient(u.f, delta, y)
	s := w.stats[l]
	u.be.NormalizeGradient(u.columns(delta), u.columns(x), s.RowRange(0, 2), u.gain, s.RowRange(2, 3),
		s.RowRange(3, 4))
	if dx.Rows > 0 {
		u.be.Apply(device.Identity, dx, delta)
	}
}

// addNorms sets all norms to NaN, so that no record's gradient is used.
func (u *batchNorm) addNorms(_ *walk, _, _ device.Matrix, dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
}

// addSum adds the gradient of the whole batch, because single records have no separate gradients.
func (u *batchNorm) addSum(w *walk, l int, _, _ device.Matrix, _ []float32,
	blocks []device.Matrix) {
	u.be.Axpy(1, w.stats[l].RowRange(2, 3), blocks[0])
	u.be.Axpy(1, w.stats[l].RowRange(3, 4), blocks[1])
}
