package sgd

import (
	"context"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// clippedSum leaves Σ factorᵢ·gᵢ over the sampled records in t.sum. Memory is
// bounded by the micro-batch, whatever the size of the sample; the factor of each
// example depends on its own gradient and on released numbers only.
func (t *Trainer) clippedSum(ctx context.Context, grant *mechanism.Grant, data records.Data) (Private, error) {
	t.be.Fill(t.sum.Flat, 0)
	current, err := t.choose(ctx, grant, data)
	if err != nil {
		return Private{}, err
	}
	loss := 0.0
	for lo := 0; lo < len(t.index); lo += t.microBatch() {
		if err := ctx.Err(); err != nil {
			return Private{}, err
		}
		if current == nil || len(t.index) > t.microBatch() {
			current = t.gradients(data, lo)
		}
		if err := t.addClipped(current); err != nil {
			return Private{}, err
		}
		loss += t.loss(current)
	}
	return Private{loss / float64(max(len(t.index), 1)), t.lossy && len(t.index) > 0}, nil
}

// choose lets the clipping policy begin the step. Policies that look at the norms
// first cost a pass over the sample of their own, unless it fits into one
// micro-batch: then its gradients are returned for use.
func (t *Trainer) choose(ctx context.Context, grant *mechanism.Grant, data records.Data) (models.Gradients, error) {
	if !t.clip.wantsNorms() {
		return nil, t.clip.choose(grant, nil)
	}
	var g models.Gradients
	t.norms = grow(t.norms, len(t.index))
	for lo := 0; lo < len(t.index); lo += t.microBatch() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g = t.gradients(data, lo)
		g.SquaredNorms(t.norms[lo : lo+t.batch.Rows])
	}
	return g, t.clip.choose(grant, t.norms)
}

// gradients runs the network on the micro-batch that starts at sampled record lo.
func (t *Trainer) gradients(data records.Data, lo int) models.Gradients {
	hi := min(lo+t.microBatch(), len(t.index))
	data.Gather(t.index[lo:hi], &t.batch)
	t.batch.Keys = t.keys[lo:hi]
	return t.net.Gradients(t.batch)
}

// addClipped clips with norms of these very gradients, not with those of a first
// pass: a network whose gradients differ between calls stays within its bound.
func (t *Trainer) addClipped(g models.Gradients) error {
	if t.groups != nil {
		return t.groups.addClipped(t.sum, g, t.batch.Rows)
	}
	norms, weights := t.scratch[:t.batch.Rows], t.weights[:t.batch.Rows]
	g.SquaredNorms(norms)
	for i, s := range norms {
		weights[i] = weight(t.clip.factor(s))
	}
	g.AddWeightedSum(t.sum, weights)
	return nil
}

func (t *Trainer) loss(g models.Gradients) float64 {
	l, ok := g.(models.Lossy)
	if !ok || !t.lossy {
		return 0
	}
	losses := t.scratch[:t.batch.Rows]
	l.Losses(losses)
	sum := 0.0
	for _, x := range losses {
		sum += x
	}
	return sum
}

// grow is buf with length n and, if it had to be made anew, room to spare.
func grow(buf []float64, n int) []float64 {
	if n > cap(buf) {
		return make([]float64, n, n+n/4+64)
	}
	return buf[:n]
}
