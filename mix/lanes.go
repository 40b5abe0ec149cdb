package mix

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/mechanism"
)

// lane makes every so manieth mixture of one part.
type lane struct {
	part      int
	left      int
	allowance *mechanism.Allowance

	reader *reader
	sum    *mechanism.FixedSum
	index  []int32
	keys   []uint64
	noisy  []float64
}

// turn is how many mixtures a lane makes in one go.
const turn = 16

// chunks makes the mixtures, all lanes side by side, one turn of each at a time.
func (r *run) chunks(ctx context.Context) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		if err := r.prepare(ctx); err != nil {
			yield(nil, err)
			return
		}
		total, done := r.plan.Config.Mixtures, 0
		for done < total {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			chunk := newRows(r.plan, min(turn*len(r.lanes), total-done))
			if err := r.round(chunk); err != nil {
				yield(nil, err)
				return
			}
			done += chunk.Len()
			r.report(PurposeMixtures, done, total)
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// prepare releases the centres and readies the records.
func (r *run) prepare(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.means != nil {
		if err := r.releaseCenters(); err != nil {
			return err
		}
		r.report(PurposeCenters, 1, 1)
	}
	r.source.keep()
	c := r.plan.Config
	for _, l := range r.lanes {
		l.reader = r.source.reader()
		l.reader.deviate = r.source.centers != nil
		l.sum = mechanism.NewFixedSum(c.dim()+c.labels(), mechanism.GridFor(r.plan.Std))
		l.noisy = make([]float64, l.sum.Dim())
	}
	return nil
}

// round lets every lane make its mixtures of one chunk. With one worker the order of events is that of the lanes.
func (r *run) round(chunk *Rows) error {
	var (
		next  atomic.Int64
		wait  sync.WaitGroup
		errs  = make([]error, len(r.lanes))
		share = func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(r.lanes) {
					return
				}
				errs[i] = r.turn(i, chunk)
			}
		}
	)
	for range min(r.workers, len(r.lanes)) - 1 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			share()
		}()
	}
	share()
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// turn makes one lane's mixtures of a chunk.
func (r *run) turn(i int, chunk *Rows) error {
	l := r.lanes[i]
	for at := i; at < chunk.Len(); at += len(r.lanes) {
		if err := r.mixture(l); err != nil {
			return err
		}
		r.write(l, chunk, at)
	}
	return nil
}

// mixture draws one sample, sums it and adds the noise.
func (r *run) mixture(l *lane) error {
	g, err := l.allowance.Next()
	if err != nil {
		return err
	}
	c := r.plan.Config
	l.index, l.keys = l.index[:0], l.keys[:0]
	if _, ok := c.Sampling.(WithoutReplacement); ok {
		l.index, l.keys = g.SampleWithoutReplacement(l.index, l.keys)
	} else {
		l.index, l.keys = g.PoissonSample(r.source.size(l.part), l.index, l.keys)
	}
	for k, i := range l.index {
		l.index[k] = r.source.row(l.part, i)
	}
	l.sum.Reset()
	dim, label := c.dim(), []float64{r.plan.Label}
	l.reader.each(l.part, l.index, func(row int32, x []float32) {
		l.sum.AddRow(x, 1)
		switch {
		case c.ByClass:
			l.sum.AddRow64At(dim, label, 1)
		case c.labels() > 0:
			l.sum.AddRow64At(dim+int(r.source.label[row]), label, 1)
		}
	})
	return g.Release(c.geometry().effect(c.Budget.Relation, r.plan.Std), mechanism.Part{Sum: l.sum,
		Std: r.plan.Std, Out: l.noisy})
}

// write turns a noisy sum into a row: divided by the public degree, and moved back by the released centre.
func (r *run) write(l *lane, chunk *Rows, at int) {
	c := r.plan.Config
	scale := 1 / float64(r.plan.Degree())
	x, y := chunk.Features(at), chunk.Labels(at)
	for j := range x {
		x[j] = float32(l.noisy[j] * scale)
	}
	if r.source.centers != nil {
		for j, v := range r.source.centers[l.part] {
			x[j] += v
		}
	}
	for k, v := range l.noisy[c.dim():] {
		if c.ByClass {
			k = l.part
		}
		y[k] = float32(v * scale / r.plan.Label)
	}
}
