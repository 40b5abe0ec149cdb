package mix

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// mixer is a release in progress.
type mixer struct {
	*work
	run    *synth.Run
	source *source
	away   *away // not nil if other processes read the records
	lanes  []*lane
	most   int // mixtures of a lane in a round
}

// A lane releases a fixed share of the mixtures of one part, with its own allowance.
type lane struct {
	part      int
	allowance *mechanism.Allowance
	places    []int // indices of its mixtures' rows in the current chunk
	grants    []*mechanism.Grant
	cells     []int // with other processes: indices of its mixtures within the part

	reader *reader
	sum    *mechanism.FixedSum
	index  []int32
	keys   []uint64
	noisy  []float64
}

// A lane releases at most mostTurn mixtures in one round, and an eighth of its share, since a run
// that is killed within a round loses the round.
const mostTurn = 16

// mixer releases the centres and creates the lanes. Lanes of different parts alternate: first come
// the lanes with the first allowance of each part, then the lanes with the second, and so on. The
// rows of a chunk therefore alternate between parts.
func (w *work) mixer(ctx context.Context, r *synth.Run) (*mixer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := &mixer{work: w, run: r}
	if r.Elsewhere() {
		x.away, x.source = &away{shards: r.Shards()}, openSource(w.config)
	} else {
		x.source = newSource(w.config, r.Data)
	}
	if w.config.Centers.wanted() {
		if err := x.releaseCenters(ctx); err != nil {
			return nil, err
		}
		r.Report(PurposeCenters, 1, 1)
	}
	all, parts := r.Allowances(PurposeMixtures), w.config.parts()
	for i := range all {
		part := i % parts
		x.lanes = append(x.lanes, &lane{part: part, allowance: all[part*(len(all)/parts)+i/parts]})
	}
	x.most = min(max(w.config.Mixtures/(8*len(all)), 1), mostTurn)
	return x, nil
}

// left returns the number of mixtures that a run may still release.
func left(r *synth.Run) (n int) {
	for _, a := range r.Allowances(PurposeMixtures) {
		n += a.Remaining()
	}
	return n
}

// rounds releases the remaining mixtures. In each round every lane releases up to most mixtures,
// concurrently with the other lanes. The round's chunk of rows and the parts of these rows are then
// passed to keep.
func (x *mixer) rounds(ctx context.Context, keep func(chunk *Rows, parts []int32)) error {
	n := left(x.run)
	if n == 0 {
		return nil
	}
	x.ready()
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.pass(ctx); err != nil {
			return err
		}
		// The rows of a round are kept together, so checkpoints are written between rounds only.
		if err := x.run.Ahead(PurposeMixtures, x.most); err != nil {
			return err
		}
		parts := x.place()
		chunk := x.newRows(len(parts), len(parts))
		if err := x.round(chunk); err != nil {
			return err
		}
		keep(chunk, parts)
		n = left(x.run)
		if x.away != nil {
			x.away.rounds--
		}
		x.run.Report(PurposeMixtures, x.config.Mixtures-n, x.config.Mixtures)
	}
	return nil
}

// ready caches the records and allocates the buffers of the lanes.
func (x *mixer) ready() {
	if x.away == nil {
		x.source.keep()
	}
	for _, l := range x.lanes {
		l.reader = x.source.reader()
		l.noisy = make([]float64, x.width())
		if x.away == nil {
			l.sum = mechanism.NewFixedSum(x.width(), mechanism.GridFor(x.std))
		}
	}
}

// place assigns the rows of the next chunk to the lanes in turn, and returns the part of every row.
func (x *mixer) place() (parts []int32) {
	for _, l := range x.lanes {
		l.places = l.places[:0]
	}
	for i := range x.most {
		for _, l := range x.lanes {
			if i < l.allowance.Remaining() {
				l.places = append(l.places, len(parts))
				parts = append(parts, int32(l.part))
			}
		}
	}
	return parts
}

// round releases the mixtures of one chunk. It takes all grants before the lanes run, lane by lane,
// so the order of grants does not depend on the speed of the lanes.
func (x *mixer) round(chunk *Rows) error {
	for _, l := range x.lanes {
		l.grants, l.cells = l.grants[:0], l.cells[:0]
		for range l.places {
			g, err := l.allowance.Next()
			if err != nil {
				return err
			}
			l.grants = append(l.grants, g)
			if x.away != nil {
				l.cells = append(l.cells, x.away.next(l.part))
			}
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, len(x.lanes))
	for range min(x.run.Backend.Workers(), len(x.lanes)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(x.lanes); i = int(next.Add(1)) - 1 {
				errs[i] = x.turn(x.lanes[i], chunk)
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// turn releases one lane's mixtures of a chunk.
func (x *mixer) turn(l *lane, chunk *Rows) error {
	for k, at := range l.places {
		if err := x.mixture(l, k); err != nil {
			return err
		}
		x.write(l, chunk, at)
	}
	return nil
}

// mixture releases the lane's k-th mixture of the chunk: it sums a random sample and adds noise.
func (x *mixer) mixture(l *lane, k int) (err error) {
	c, g := x.config, l.grants[k]
	if x.away == nil {
		x.sample(l, g)
	} else if l.sum, err = x.away.mixture(x.width(), l.part, l.cells[k], g); err != nil {
		return err
	}
	return g.Release(c.geometry().effect(c.Budget.Relation, x.std),
		mechanism.Part{Sum: l.sum, Std: x.std, Out: l.noisy})
}

// sample draws one sample and sums it.
func (x *mixer) sample(l *lane, g *mechanism.Grant) {
	l.index, l.keys = l.index[:0], l.keys[:0]
	if _, ok := x.config.Sampling.(WithoutReplacement); ok {
		l.index, l.keys = g.SampleWithoutReplacement(l.index, l.keys)
	} else {
		l.index, l.keys = g.PoissonSample(len(x.source.parts[l.part]), l.index, l.keys)
	}
	for k, i := range l.index {
		l.index[k] = x.source.parts[l.part][i]
	}
	l.sum.Reset()
	l.reader.each(l.part, l.index, func(row int32, features []float32) {
		x.addRow(x.source, l.sum, 0, row, features)
	})
}

// write turns a noisy sum into a row: it divides the sum by the public degree and adds the released
// centre.
func (x *mixer) write(l *lane, chunk *Rows, at int) {
	c := x.config
	scale := 1 / float64(x.degree())
	features, labels := chunk.Features(at), chunk.Labels(at)
	for j := range features {
		features[j] = float32(l.noisy[j] * scale)
	}
	if x.source.centers != nil {
		for j, v := range x.source.centers[l.part] {
			features[j] += v
		}
	}
	for k, v := range l.noisy[c.dim():] {
		if c.ByClass {
			k = l.part
		}
		labels[k] = float32(v * scale / x.label)
	}
}
