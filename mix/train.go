package mix

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// Trainer fits a classifier to soft labels by Adam, with a learning rate that decreases to zero.
//
// Guarantee: post-processing if its inputs have been released. It has no ledger and must not see
// private records.
type Trainer struct {
	Epochs       int     // passes over the rows; 0 means 5
	Batch        int     // rows in a step; 0 means 100
	LearningRate float64 // initial learning rate; 0 means 0.001
	// Noise is the standard deviation of the noise that FitMoments adds to every coordinate of a drawn
	// image. 0 means a tenth of the range of a pixel; a negative number means no noise.
	Noise   float64
	Seed    uint64 // of the order of rows and of FitMoments' draws
	Backend device.Backend
}

func (t Trainer) withDefaults() Trainer {
	t.Epochs, t.Batch = cmp.Or(t.Epochs, 5), cmp.Or(t.Batch, 100)
	t.LearningRate = cmp.Or(t.LearningRate, 1e-3)
	if t.Backend == nil {
		t.Backend = device.CPU()
	}
	return t
}

// validate checks the settings and that the network has dim inputs and the given number of classes.
func (t Trainer) validate(net *models.Classifier, dim, classes int) error {
	const path = "mix.Trainer."
	var k param.Checker
	k.OK(t.Epochs > 0, path+"Epochs", t.Epochs, "a positive integer")
	k.OK(t.Batch > 0, path+"Batch", t.Batch, "a positive integer")
	k.OK(positive(t.LearningRate), path+"LearningRate", t.LearningRate, "a positive finite number")
	if net == nil {
		return param.New(path+"net", nil, "a network")
	}
	k.OK(net.Dim() == dim && net.Classes() == classes, path+"net",
		fmt.Sprintf("%d inputs and %d classes", net.Dim(), net.Classes()),
		fmt.Sprintf("a network with %d inputs and %d classes, like the records", dim, classes))
	return k.Err()
}

// Fit trains a classifier on mixtures with their soft labels. Labels should be shares: see
// [Project].
//
// Shapes: the network takes rows.Dim() inputs and has rows.Classes() outputs.
// Errors: *param.Error; ctx.Err().
func (t Trainer) Fit(ctx context.Context, net *models.Classifier, rows *Rows) error {
	if rows == nil {
		return mistake("Trainer.Fit.rows", nil, "rows")
	}
	return t.run(ctx, net, rows.Len(), rows.dim, rows.classes,
		func(order []int32, x, targets device.Matrix) {
			for k, i := range order {
				copy(x.Row(k), rows.Features(int(i)))
				copy(targets.Row(k), rows.Labels(int(i)))
			}
		})
}

// FitMoments trains a classifier on records drawn from class moments. It draws new records in every
// step, Epochs·n in all. Because no record is used twice, the classifier cannot overfit to a finite
// sample.
//
// Unlike real images, the normal distributions have directions in which a class hardly varies. A
// more exact release has more such directions. The noise on drawn images prevents the classifier
// from learning this property.
//
// Errors: *param.Error; ctx.Err().
func (t Trainer) FitMoments(ctx context.Context, net *models.Classifier, m *Moments, n int) error {
	if m == nil {
		return mistake("Trainer.FitMoments.m", nil, "moments")
	}
	if n < 1 {
		return mistake("Trainer.FitMoments.n", n, "a positive number of records")
	}
	rng := rand.New(rand.NewPCG(t.Seed, 0x6672657368))
	return t.run(ctx, net, n, m.schema.Dim(), m.Classes(),
		func(order []int32, x, targets device.Matrix) {
			labels := make([]int32, len(order))
			m.fill(rng, x.Data, labels)
			m.blur(rng, x.Data, t.Noise)
			oneHot(targets, labels)
		})
}

func oneHot(targets device.Matrix, labels []int32) {
	clear(targets.Data)
	for i, class := range labels {
		targets.Row(i)[class] = 1
	}
}

// run is the training loop; fill writes the rows and targets of a batch.
func (t Trainer) run(ctx context.Context, net *models.Classifier, n, dim, classes int,
	fill func(order []int32, x, targets device.Matrix)) error {
	t = t.withDefaults()
	if err := t.validate(net, dim, classes); err != nil {
		return err
	}
	descent := net.Descent(t.Backend, t.LearningRate, t.Epochs*((n+t.Batch-1)/t.Batch))
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	rng := rand.New(rand.NewPCG(t.Seed, 0x74726169))
	x, y := make([]float32, t.Batch*dim), make([]float32, t.Batch*classes)
	for range t.Epochs {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for now := range slices.Chunk(order, t.Batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows := len(now)
			b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, x[:rows*dim])}
			targets := device.HostMatrix(rows, classes, y[:rows*classes])
			fill(now, b.Dense, targets)
			descent(net.GradientsSoft(b, targets), rows)
		}
	}
	return nil
}
