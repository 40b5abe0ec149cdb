package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// PoissonSample draws the event's Poisson sample of the rows [0,n): every row is in it
// independently with exactly the event's sampling probability. It appends the rows to index, in
// increasing order. For each row it appends one uniform key to keys, for per-example randomness of
// models. A key depends only on the run, the step and the row, not on other rows.
//
// For the events accountant.RandomAllocation and accountant.BandedSum the sample is drawn from the
// rows of the grant's step. Under RandomAllocation it is all of these rows. A row's number gives it
// its steps. So a record must have the same number in all steps of an epoch under RandomAllocation,
// and in all steps of the allowance under BandedSum. With Shuffled, n must be the same in all steps
// of the allowance.
//
// Guarantee: the sample is private, and so is its length.
// Errors: if the event does not cover the sample, or the sample was drawn before, PoissonSample
// appends nothing. Every later release under the grant then returns [ErrNotCovered].
func (g *Grant) PoissonSample(n int, index []int32, keys []uint64) ([]int32, []uint64) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	kind, q := samplePoisson, g.a.terms.probability
	from, count, before := []int32(nil), min(n, math.MaxInt32), len(index) // nil for all rows
	if t := g.a.turns; t != nil && !(t.shuffled && t.slots != nil && t.slots.of != count) {
		kind = sampleTurns // otherwise the rows would be shuffled anew within an epoch
	}
	if !g.takeSample(kind) {
		return index, keys
	}
	if g.a.turns != nil {
		from = g.a.turns.rows(g, n)
		count, q = len(from), q/float64(g.a.turns.steps)*float64(g.a.turns.times)
	}
	if g.a.run.tap == nil {
		index = sampler.PoissonRows(count, g.a.terms.probability, g.a.samples(), index)
		for i := before; from != nil && i < len(index); i++ {
			index[i] = from[index[i]]
		}
	} else {
		index = g.a.coupled(g.step, count, from, index)
	}
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(q, n, index[before:])
	return index, keys
}

// takeSample uses up the grant's one sample.
func (g *Grant) takeSample(kind sampling) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.a.terms.sampling != kind:
		g.refused = g.a.refuse("the event does not cover that sample")
	case g.sampled:
		g.refused = g.a.refuse("the event's sample has been drawn already")
	}
	g.sampled = true
	return g.refused == nil
}

func (g *Grant) tellSample(probability float64, of int, rows []int32) {
	if tap := g.a.run.tap; tap != nil {
		tap.Sample(entropy.Sample{Step: g.step, Purpose: g.a.purpose, Probability: probability,
			Of: of, Rows: rows})
	}
}

func (a *Allowance) samples() *entropy.Stream {
	if a.sampler == nil {
		a.sampler = a.run.source.Stream(entropy.Sampler, a.id, 0)
	}
	return a.sampler
}

// coupled draws a sample for a test. Whether a row is in it depends only on seed, step and row. So
// the samples of neighbouring data sets agree on their common rows.
func (a *Allowance) coupled(step uint64, n int, from, index []int32) []int32 {
	q := a.terms.probability
	words := a.run.source.Indexed(entropy.Include, step)
	for row := range n {
		if from != nil {
			row = int(from[row])
		}
		if q >= 1 || words.At(row) < sampler.FirstWord(q) {
			index = append(index, int32(row))
		}
	}
	return index
}

func (a *Allowance) rowKeys(step uint64, rows []int32, keys []uint64) []uint64 {
	a.keys.Reset(a.run.source, entropy.RowKey, step)
	for _, row := range rows {
		keys = append(keys, a.keys.At(int(row)))
	}
	return keys
}
