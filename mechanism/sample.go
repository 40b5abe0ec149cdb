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
// Guarantee: the sample is private, and so is its length.
// Errors: if the event does not cover the sample, or the sample was drawn before, PoissonSample
// appends nothing. Every later release under the grant then returns [ErrNotCovered].
func (g *Grant) PoissonSample(n int, index []int32, keys []uint64) ([]int32, []uint64) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !g.takeSample(samplePoisson) {
		return index, keys
	}
	before, of := len(index), n
	n = min(n, math.MaxInt32)
	if g.a.run.tap == nil {
		index = sampler.PoissonRows(n, g.a.terms.probability, g.a.samples(), index)
	} else {
		index = g.a.coupled(g.step, n, index)
	}
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(g.a.terms.probability, of, index[before:])
	return index, keys
}

// takeSample uses up one sample of the grant. All grants have one, except those of an allocation.
func (g *Grant) takeSample(kind sampling) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.a.terms.sampling != kind:
		g.refused = g.a.refuse("the event does not cover that sample")
	case g.samples >= max(g.a.terms.steps, 1):
		g.refused = g.a.refuse("the event's sample has been drawn already")
	}
	g.samples, g.used = g.samples+1, 0
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
func (a *Allowance) coupled(step uint64, n int, index []int32) []int32 {
	q := a.terms.probability
	words := a.run.source.Indexed(entropy.Include, step)
	for row := range n {
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
