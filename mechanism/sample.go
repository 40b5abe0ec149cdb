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
		index = append(index, g.a.poissonAhead(n)...)
		g.a.ahead.drawn = false
	} else {
		index = g.a.coupled(g.step, n, index)
	}
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(g.a.terms.probability, of, index[before:])
	return index, keys
}

// NextSample returns the Poisson sample of the rows [0,n) that the next grant's PoissonSample
// will return. So these rows can be read before the step begins. The list is valid until
// PoissonSample is called. It is nil if no grant is left or the event has no Poisson sample.
//
// Guarantee: the sample is private, and may be passed only to code that reads the records.
// Nothing else depends on the call: samples and keys have the same bits without it, and each
// sample is given to one grant only.
func (a *Allowance) NextSample(n int) []int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.terms.sampling != samplePoisson || a.Remaining() == 0 {
		return nil
	}
	n = min(n, math.MaxInt32)
	if a.run.tap != nil {
		return a.coupled(a.run.comingStep(), n, nil)
	}
	return a.poissonAhead(n)
}

// sampleAhead is a sample that no grant has requested yet.
type sampleAhead struct {
	drawn bool
	n     int
	rows  []int32
}

// poissonAhead returns the next sample of n rows; the caller holds mu. It discards a sample of
// another number of rows that was drawn ahead.
func (a *Allowance) poissonAhead(n int) []int32 {
	if !a.ahead.drawn || a.ahead.n != n {
		a.ahead.rows = sampler.PoissonRows(n, a.terms.probability, a.samples(), a.ahead.rows[:0])
		a.ahead.drawn, a.ahead.n = true, n
	}
	return a.ahead.rows
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
