package rff

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// Join concatenates the scaled features of several embeddings, so its kernel is the weighted sum of
// their kernels.
//
// Guarantee: the norm bound is √(Σ share·norm²) over the parts, with shares that add up to 1. It is
// 1 if every part has norm bound 1.
type Join struct {
	Parts []Part
}

// Part is one embedding of a Join.
type Part struct {
	Share  float64 // fraction of the squared norm, relative to the sum of all shares
	Kernel EmbeddingKernel
}

// maxParts limits the number of parts, because a Join may come from a file.
const maxParts = 64

// Embedding implements [EmbeddingKernel]. Each part gets a different seed.
func (c Join) Embedding(l Layout, seed uint64) (Embedding, error) {
	if err := errors.Join(l.Validate(), c.validate()); err != nil {
		return nil, err
	}
	var total float64
	for _, p := range c.Parts {
		total += p.Share
	}
	j := &joined{in: l.In}
	var errs []error
	for i, p := range c.Parts {
		e, err := p.Kernel.Embedding(l, seed+uint64(i))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		j.add(e, p.Share/total)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return j, nil
}

func (c Join) validate() error {
	var errs []error
	if len(c.Parts) == 0 || len(c.Parts) > maxParts {
		errs = append(errs,
			param.New("rff.Join.Parts", len(c.Parts), fmt.Sprintf("from 1 to %d parts", maxParts)))
	}
	for i, p := range c.Parts {
		path := fmt.Sprintf("rff.Join.Parts[%d]", i)
		if !(p.Share > 0 && p.Share <= 1e6) {
			errs = append(errs, param.New(path+".Share", p.Share, "a positive number up to 1e6"))
		}
		if _, nested := p.Kernel.(Join); nested || p.Kernel == nil {
			errs = append(errs, param.New(path+".Kernel", p.Kernel, "a feature map other than a Join"))
		}
	}
	return errors.Join(errs...)
}

// joined is the embedding of a Join.
type joined struct {
	in, dim      int
	parts        []Embedding
	scales       []float32
	norm, change float64 // squared
	scratch      rowPool
}

func (j *joined) add(e Embedding, share float64) {
	j.parts = append(j.parts, e)
	j.scales = append(j.scales, roundDown(math.Sqrt(share)*(1-guard)))
	j.dim += e.Dim()
	j.norm += share * e.NormBound() * e.NormBound()
	j.change += share * e.ChangeBound() * e.ChangeBound()
}

// In returns the width of a record.
func (j *joined) In() int { return j.in }

// Dim returns the number of features.
func (j *joined) Dim() int { return j.dim }

// NormBound returns the largest norm of a record's features.
func (j *joined) NormBound() float64 { return math.Sqrt(j.norm) }

// ChangeBound returns the largest distance between two records' features.
func (j *joined) ChangeBound() float64 { return math.Sqrt(j.change) }

// A CompoundEmbedding is a concatenation of scaled embeddings, such as a [Join]'s. A training step
// can then treat each part in the way that is fastest for it.
type CompoundEmbedding interface {
	Embedding
	// Scaled returns the parts in the order of their features.
	Scaled() []ScaledEmbedding
}

// ScaledEmbedding is a part of a [CompoundEmbedding]: features that are multiplied by a factor.
type ScaledEmbedding struct {
	Embedding
	Scale float32
}

// Scaled implements [CompoundEmbedding].
func (j *joined) Scaled() (list []ScaledEmbedding) {
	for i, e := range j.parts {
		list = append(list, ScaledEmbedding{e, j.scales[i]})
	}
	return list
}

// Transform implements [Embedding].
func (j *joined) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	be.Fill(dst, 0)
	at := 0
	for i, e := range j.parts {
		part := j.scratch.take(be, b.Rows, e.Dim())
		e.Transform(be, b, part)
		be.Axpy(j.scales[i], part, dst.Slice(0, b.Rows, at, at+e.Dim()))
		j.scratch.give(be, part)
		at += e.Dim()
	}
}

// Backward implements [Embedding].
func (j *joined) Backward(be device.Backend, x, delta, dx device.Matrix) {
	be.Fill(dx, 0)
	back := j.scratch.take(be, x.Rows, j.in)
	defer j.scratch.give(be, back)
	at := 0
	for i, e := range j.parts {
		e.Backward(be, x, delta.Slice(0, x.Rows, at, at+e.Dim()), back)
		be.Axpy(j.scales[i], back, dx)
		at += e.Dim()
	}
}
