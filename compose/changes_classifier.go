package compose

import (
	"cmp"
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// learn trains a classifier on changed synthetic records: a convolutional network on images, and
// logistic regression on other records. All of it is computed on the CPU. The classifiers' methods
// take no context, so it is only looked at before and after the change.
func learn(ctx context.Context, drawn records.Data, c Change, seed uint64) (*judge.Classifier,
	error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := c.Apply(drawn, seed)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if rows.Schema().IsImage() {
		m := imageClassifier
		m.Training = judge.NeuralNetwork{Seed: seed, Backend: device.CPU()}
		return m.Fit(rows)
	}
	return judge.LogisticRegression{}.Fit(rows)
}

// imageClassifier is the classifier of images.
var imageClassifier = judge.Convolutional{Hidden: []int{128}, Convolutions: []models.Convolution{
	{Maps: 16, Size: 5, Stride: 2, Pad: 2}, {Maps: 32, Size: 5, Stride: 2, Pad: 2}}}

// weights returns the number of parameters of a classifier of records of a schema. A critic has one
// output more than classes.
func weights(s records.Schema) int64 {
	if !s.IsImage() {
		return int64(s.Dim()+1) * int64(s.Classes())
	}
	return networkOf(s).CriticSize(s.Dim(), s.Classes()-1)
}

func networkOf(s records.Schema) models.CNN {
	return models.CNN{Height: s.Height(), Width: s.Width(),
		Channels:     s.Dim() / (s.Height() * s.Width()),
		Convolutions: imageClassifier.Convolutions, Hidden: imageClassifier.Hidden}
}

// recognisedBy returns the number of records whose class each classifier predicts. A nil classifier
// predicts none. The records are read in parts of a public size, so the memory does not grow with
// their number.
//
// Guarantee: a record adds 0 or 1 to every number, independently of the other records, because the
// classifiers compute on the CPU; see device.Promises.
func recognisedBy(ctx context.Context, by []*judge.Classifier, data records.Data) ([]int64,
	error) {
	counts := make([]int64, len(by))
	size := partSize(data.Schema())
	var b device.Batch
	for lo := 0; lo < data.Len(); lo += size {
		rows := slice{data, lo, min(lo+size, data.Len())}
		rows.Range(0, rows.Len(), &b)
		for i, c := range by {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if c == nil {
				continue
			}
			named, err := c.Predict(rows)
			if err != nil {
				return nil, err
			}
			counts[i] += matches(named, b.Labels)
		}
	}
	return counts, ctx.Err()
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

// slice is some consecutive records of data.
type slice struct {
	of     records.Data
	lo, hi int
}

// Schema returns the schema of the data.
func (p slice) Schema() records.Schema { return p.of.Schema() }

// Len returns the number of records of the part.
func (p slice) Len() int { return p.hi - p.lo }

// Range reads records of the part.
func (p slice) Range(lo, hi int, b *device.Batch) { p.of.Range(p.lo+lo, p.lo+hi, b) }

// Gather reads records by their place in the part.
func (p slice) Gather(rows []int32, b *device.Batch) {
	all := make([]int32, len(rows))
	for i, row := range rows {
		all[i] = int32(p.lo) + row
	}
	p.of.Gather(all, b)
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
