package mix

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Trainer fits a classifier to soft labels by Adam, with a learning rate that falls to zero in the
// course of training.
//
// Guarantee: post-processing, as long as what it is given has been released: it has no ledger and
// must not see private records.
type Trainer struct {
	Epochs       int     // passes; 0 for 5
	Batch        int     // rows a step; 0 for 100
	LearningRate float64 // 0 for 0.001
	Seed         uint64  // of the order of rows
	Backend      device.Backend
}

func (t Trainer) withDefaults() Trainer {
	if t.Epochs == 0 {
		t.Epochs = 5
	}
	if t.Batch == 0 {
		t.Batch = 100
	}
	if t.LearningRate == 0 {
		t.LearningRate = 1e-3
	}
	if t.Backend == nil {
		t.Backend = device.CPU()
	}
	return t
}

func (t Trainer) validate() error {
	var errs []error
	bad := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, &param.Error{Path: "mix.Trainer." + field, Value: value, Want: want})
		}
	}
	bad(t.Epochs > 0, "Epochs", t.Epochs, "a positive integer")
	bad(t.Batch > 0, "Batch", t.Batch, "a positive integer")
	bad(positive(t.LearningRate), "LearningRate", t.LearningRate, "a positive finite number")
	return errors.Join(errs...)
}

// Fit trains a classifier on mixtures with their soft labels. Labels should be shares: see
// [Project].
//
// Shapes: the network takes rows.Dim() inputs and tells rows.Classes() classes apart.
// Errors: *param.Error; ctx.Err().
func (t Trainer) Fit(ctx context.Context, net *models.Classifier, rows *Rows) error {
	if net == nil || rows == nil {
		return mistake("Trainer.Fit", nil, "a network and rows")
	}
	if net.Dim() != rows.Dim() || net.Classes() != rows.Classes() {
		return mistake("Trainer.Fit.net", net.Dim(), "inputs and classes of the rows")
	}
	return t.run(ctx, net, rows.Len(), func(order []int32, b *device.Batch, targets device.Matrix) {
		for k, i := range order {
			copy(b.Dense.Row(k), rows.Features(int(i)))
			copy(targets.Row(k), rows.Labels(int(i)))
		}
	})
}

// FitRecords trains a classifier on labelled records that were drawn from a release, such as those
// of [Moments.Sample].
//
// Errors: *param.Error; ctx.Err().
func (t Trainer) FitRecords(ctx context.Context, net *models.Classifier,
	data *records.Table) error {
	if net == nil || data == nil {
		return mistake("Trainer.FitRecords", nil, "a network and records")
	}
	s := data.Schema()
	if net.Dim() != s.Dim() || net.Classes() != s.Classes() {
		return mistake("Trainer.FitRecords.net", net.Dim(), "inputs and classes of the records")
	}
	var in device.Batch
	return t.run(ctx, net, data.Len(), func(order []int32, b *device.Batch, targets device.Matrix) {
		data.Gather(order, &in)
		clear(targets.Data)
		for k := range order {
			copy(b.Dense.Row(k), in.Dense.Row(k))
			targets.Row(k)[in.Labels[k]] = 1
		}
	})
}

// FitMoments trains a classifier on records drawn from class moments, every step on fresh ones:
// Epochs·n in all. Nothing is seen twice, so there is nothing to learn by heart.
//
// Errors: *param.Error; ctx.Err().
func (t Trainer) FitMoments(ctx context.Context, net *models.Classifier, m *Moments, n int) error {
	if net == nil || m == nil {
		return mistake("Trainer.FitMoments", nil, "a network and moments")
	}
	if net.Dim() != m.schema.Dim() || net.Classes() != m.Classes() {
		return mistake("Trainer.FitMoments.net", net.Dim(), "inputs and classes of the moments")
	}
	if n < 1 {
		return mistake("Trainer.FitMoments.n", n, "a positive number of records")
	}
	rng := rand.New(rand.NewPCG(t.Seed, 0x6672657368))
	return t.run(ctx, net, n, func(order []int32, b *device.Batch, targets device.Matrix) {
		labels := make([]int32, len(order))
		m.fill(rng, b.Dense.Data[:len(order)*net.Dim()], labels)
		clear(targets.Data)
		for i, class := range labels {
			targets.Row(i)[class] = 1
		}
	})
}

// run is the loop; fill puts rows and targets where they are wanted.
func (t Trainer) run(ctx context.Context, net *models.Classifier, n int,
	fill func([]int32, *device.Batch,
		device.Matrix)) error {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return err
	}
	s := newAdam(t, net, n)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	rng := rand.New(rand.NewPCG(t.Seed, 0x74726169))
	x, y := make([]float32, t.Batch*net.Dim()), make([]float32, t.Batch*net.Classes())
	for range t.Epochs {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for lo := 0; lo < n; lo += t.Batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			now := order[lo:min(lo+t.Batch, n)]
			b := device.Batch{Rows: len(now), Dense: device.HostMatrix(len(now), net.Dim(), x)}
			targets := device.HostMatrix(len(now), net.Classes(), y)
			fill(now, &b, targets)
			s.take(net, b, targets)
		}
	}
	return nil
}

// adam is the optimiser at work.
type adam struct {
	be       device.Backend
	rate     float64
	grad     device.Params
	m, v     device.Matrix
	weights  []float32
	t, total int
}

func newAdam(t Trainer, net *models.Classifier, n int) *adam {
	p := net.Params()
	return &adam{be: t.Backend, rate: t.LearningRate, grad: device.NewParams(t.Backend, p.Shapes...),
		m: t.Backend.New(1, p.Len()), v: t.Backend.New(1, p.Len()),
		total: t.Epochs * ((n + t.Batch - 1) / t.Batch)}
}

func (s *adam) take(net *models.Classifier, b device.Batch, targets device.Matrix) {
	s.weights = s.weights[:0]
	for range b.Rows {
		s.weights = append(s.weights, 1/float32(b.Rows))
	}
	s.be.Fill(s.grad.Flat, 0)
	net.GradientsSoft(b, targets).AddWeightedSum(s.grad, s.weights)
	rate := s.rate * (1 - float64(s.t)/float64(s.total))
	s.t++
	s.be.Adam(net.Params().Flat, s.grad.Flat, s.m, s.v, device.AdamStep{LR: float32(rate), Beta1: 0.9,
		Beta2: 0.999, Eps: 1e-8, T: s.t})
}
