package sgd

import (
	"context"
	"errors"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// clippedSum computes Σ factorᵢ·gᵢ over the sampled records in t.exact or t.sum. Memory is bounded
// by the size of a micro-batch, and does not grow with the sample. The factor of each example
// depends only on its own gradient and on released numbers.
func (t *Trainer) clippedSum(ctx context.Context, grant *mechanism.Grant,
	data records.Data) error {
	current, err := t.choose(ctx, grant, data)
	if err != nil {
		return err
	}
	if t.exact != nil {
		t.exact.begin(t.clip.bound())
		t.finish = nil
	} else {
		t.be.Fill(t.sum.Flat, 0)
	}
	for lo := 0; lo < len(t.index); lo += t.microBatch() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.addMicroBatch(data, lo, current); err != nil {
			return err
		}
	}
	if t.stayed = t.stays(); t.exact != nil && !t.stayed {
		t.exact.collect()
	}
	if t.finish != nil {
		t.finish.FinishFixedSum(t.exact.host)
		t.finish = nil
	}
	return nil
}

// addMicroBatch adds the micro-batch that starts at sampled record lo. Its gradients are already
// known if the sample fits into one micro-batch and the clipping policy requested norms.
func (t *Trainer) addMicroBatch(data records.Data, lo int, known models.Gradients) error {
	if t.exact.alone() {
		t.gather(data, lo)
		n := t.of.count(t.batch.Rows)
		t.exact.room(n)
		for i := range n {
			if err := t.addAlone(i); err != nil {
				return err
			}
		}
		return nil
	}
	if known == nil || len(t.index) > t.microBatch() {
		t.gather(data, lo)
		known = t.gradients()
	}
	if t.exact != nil {
		t.exact.room(t.batch.Rows)
		if f, ok := known.(models.FixedFinisher); ok && lo == 0 {
			f.StartFixedSum()
			t.finish = f
		}
	}
	return t.addClipped(known)
}

// choose lets the clipping policy begin the step. A policy that needs the norms first takes an
// extra pass over the sample. If the sample fits into one micro-batch, its gradients are returned
// for reuse.
func (t *Trainer) choose(ctx context.Context, grant *mechanism.Grant,
	data records.Data) (models.Gradients, error) {
	if !t.clip.wantsNorms() {
		return nil, t.clip.choose(grant, nil)
	}
	var g models.Gradients
	t.norms = grow(t.norms, len(t.index))
	for lo := 0; lo < len(t.index); lo += t.microBatch() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.gather(data, lo)
		norms := t.norms[lo : lo+t.of.count(t.batch.Rows)]
		if t.exact.alone() {
			for i := range norms {
				norms[i] = t.exact.gradient(t.net.Gradients(t.batch.Slice(t.of.span(i))), t.of.weights(i))
			}
			continue
		}
		g = t.gradients()
		g.SquaredNorms(norms)
	}
	return g, t.clip.choose(grant, t.norms)
}

// gradients returns the gradients of the current micro-batch.
func (t *Trainer) gradients() models.Gradients {
	if t.crew.takes(t.batch.Rows) && t.crew.replicates(t.net) {
		return t.crew.Gradients(t.batch)
	}
	return t.net.Gradients(t.batch)
}

// gather reads the micro-batch that starts at sampled record lo.
func (t *Trainer) gather(data records.Data, lo int) {
	hi := min(lo+t.microBatch(), len(t.index))
	if t.of.persons != nil {
		t.gatherPersons(lo, hi)
		return
	}
	t.rows = t.index[lo:hi]
	switch table := t.stored.of; {
	case !t.stored.all.Empty():
		t.stored.gather(t.be, t.rows, &t.batch)
	case table != nil && t.share != nil:
		table.BeginGather(t.rows, &t.batch)
		t.share((len(t.rows)+partRows-1)/partRows, t.part)
	default:
		data.Gather(t.rows, &t.batch)
	}
	t.batch.Keys = t.keys[lo:hi]
}

// partRows is the number of rows that one core reads at a time.
const partRows = 16

func (t *Trainer) gatherPart(piece int) {
	lo := piece * partRows
	t.stored.of.GatherPart(t.rows, &t.batch, lo, min(lo+partRows, len(t.rows)))
}

// addClipped clips with the norms of the same gradients that it adds, and not with norms of an
// earlier pass. So the bound holds even if gradients differ between calls.
func (t *Trainer) addClipped(g models.Gradients) error {
	if t.groups != nil {
		return t.groups.addClipped(t.exact, t.sum, g, t.batch.Rows)
	}
	norms, weights := t.scratch[:t.batch.Rows], t.weights[:t.batch.Rows]
	g.SquaredNorms(norms)
	if t.exact == nil {
		for i, s := range norms {
			weights[i] = weight(t.clip.factor(s))
		}
		g.AddWeightedSum(t.sum, weights)
		return nil
	}
	fixed, ok := g.(models.FixedGradients)
	if !ok || fixed.FixedForm() != t.exact.form {
		return errGradients
	}
	for i, s := range norms {
		weights[i] = t.exact.weight(t.clip.factor(s))
	}
	fixed.AddFixedSum(t.exact.sum, weights)
	return nil
}

var errGradients = errors.New(
	"sgd: the network's gradients have another type or form than those of an empty batch, by which " +
		"the sum was planned")

// addAlone adds example i of the micro-batch as a separate row. An example is a record, or all rows
// of a person. Its gradient is computed from a batch without other examples, and the norm is
// measured on the row that is added.
func (t *Trainer) addAlone(i int) error {
	lo, hi := t.of.span(i)
	g, shares := t.net.Gradients(t.batch.Slice(lo, hi)), t.of.weights(i)
	if t.groups != nil {
		return t.groups.addAlone(t.exact, g, shares)
	}
	t.exact.addOne(t.exact.weight(t.clip.factor(t.exact.gradient(g, shares))))
	return nil
}

// grow returns buf with length n, reallocated with spare capacity if needed.
func grow(buf []float64, n int) []float64 {
	if n > cap(buf) {
		return make([]float64, n, n+n/4+64)
	}
	return buf[:n]
}
