package compose

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// A classifier predicts the classes of records like those that it has learnt from.
type classifier struct {
	net    *models.Classifier
	schema records.Schema
}

// learn trains a classifier on changed synthetic records, on the CPU. The context is only looked at
// before and after the change.
func learn(ctx context.Context, drawn records.Data, c Change, seed uint64) (*classifier, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := c.Apply(drawn, seed)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	net, err := untrained(rows.Schema(), seed)
	if err != nil {
		return nil, err
	}
	train(net, rows, seed)
	return &classifier{net, rows.Schema()}, nil
}

// Settings of the training, which is ordinary: it reads synthetic records only.
const (
	learnEpochs = 5
	learnBatch  = 100
	learnRate   = 2e-3
)

func train(net *models.Classifier, rows records.Data, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x6c6561726e))
	order := make([]int32, rows.Len())
	for i := range order {
		order[i] = int32(i)
	}
	batches := 1 + (len(order)-1)/learnBatch
	descend := net.Descent(device.CPU(), learnRate, learnEpochs*batches)
	inSchema := records.Clamped(rows)
	var b device.Batch
	for range learnEpochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for some := range slices.Chunk(order, learnBatch) {
			inSchema.Gather(some, &b)
			toUnit(rows.Schema(), &b)
			descend(net.Gradients(b), b.Rows)
		}
	}
}

// toUnit scales dense records from the schema's public bounds to [0, 1], so one learning rate suits
// all coordinates.
func toUnit(s records.Schema, b *device.Batch) {
	lo, hi := s.Bounds()
	if b.Sparse != nil || lo == 0 && hi == 1 {
		return
	}
	shift, scale := float32(lo), float32(1/(hi-lo))
	for i := range b.Rows {
		for j, v := range b.Dense.Row(i) {
			b.Dense.Row(i)[j] = (v - shift) * scale
		}
	}
}

// untrained returns a convolutional network for images, and multinomial regression for other
// records, which no candidate changes.
func untrained(s records.Schema, seed uint64) (*models.Classifier, error) {
	if s.IsImage() {
		return networkOf(s).Classifier(device.CPU(), s.Dim(), s.Classes(), seed)
	}
	return models.MLP{}.Classifier(device.CPU(), s.Dim(), s.Classes(), seed)
}

// networkOf returns the classifier of images.
func networkOf(s records.Schema) models.CNN {
	return models.CNN{Height: s.Height(), Width: s.Width(),
		Channels: s.Dim() / (s.Height() * s.Width()), Hidden: []int{128},
		Convolutions: []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
			{Maps: 32, Size: 5, Stride: 2, Pad: 2}}}
}

// weights returns the number of parameters of a classifier of records of a schema. A critic has one
// output more than classes.
func weights(s records.Schema) int64 {
	if !s.IsImage() {
		return int64(s.Dim()+1) * int64(s.Classes())
	}
	return networkOf(s).CriticSize(s.Dim(), s.Classes()-1)
}

// recognisedBy returns the number of records whose class each classifier predicts. A nil classifier
// predicts none. The records are read in parts of a public size, so the memory does not grow with
// their number.
//
// Errors: *param.Error for a classifier of other records.
// Guarantee: a record adds 0 or 1 to every number, independently of the other records, because the
// classifiers compute on the CPU; see device.Promises.
func recognisedBy(ctx context.Context, by []*classifier, data records.Data) ([]int64, error) {
	counts := make([]int64, len(by))
	size, inSchema := partSize(data.Schema()), records.Clamped(data)
	var b device.Batch
	for lo := 0; lo < data.Len(); lo += size {
		inSchema.Range(lo, min(lo+size, data.Len()), &b)
		toUnit(data.Schema(), &b)
		for i, c := range by {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if c == nil {
				continue
			}
			if !c.fits(data.Schema()) {
				return nil, param.New("compose.Changes.Of", c.schema, "a generator of records like "+
					data.Schema().String())
			}
			counts[i] += matches(c.predict(b), b.Labels)
		}
	}
	return counts, ctx.Err()
}

// fits reports whether records of a schema have the form of those that c has learnt from.
func (c *classifier) fits(s records.Schema) bool {
	lo, hi := s.Bounds()
	wantLo, wantHi := c.schema.Bounds()
	return s.Dim() == c.schema.Dim() && s.Sparse() == c.schema.Sparse() && lo == wantLo && hi == wantHi
}

// predict returns the likeliest class of each record.
func (c *classifier) predict(b device.Batch) []int32 {
	named := make([]int32, b.Rows)
	c.net.PredictClass(b, named)
	return named
}

// A part of records has at most partRecords records, and fewer if these are very wide.
const (
	partRecords = 1024
	partNumbers = 1 << 22
)

func partSize(s records.Schema) int {
	width := s.Classes()
	if !s.Sparse() {
		width = max(width, s.Dim())
	}
	return max(min(partRecords, partNumbers/max(width, 1)), 1)
}

// matches counts the equal pairs. Records without a label match nothing.
func matches(named, labels []int32) (n int64) {
	for i, label := range labels {
		if i < len(named) && named[i] == label {
			n++
		}
	}
	return n
}
