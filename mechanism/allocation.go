package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// slots holds the rows of an epoch in the order of their steps.
type slots struct {
	of   int     // number of rows
	rows []int32 // in increasing order within a step
	end  []int   // of every step
}

// AllocatedSample draws the rows of the next step under an event accountant.RandomAllocation. Each
// of the rows [0,n) is in exactly one of the event's steps, exactly uniform and independent of the
// other rows. Every grant draws steps of its own. AllocatedSample appends the rows to index, in
// increasing order, and their keys to keys, as [Grant.PoissonSample] does. Releases may only use
// the rows of the last call. n is the same in all calls, and rows keep their numbers.
//
// Guarantee: the sample is private, and so is its length.
// Errors: see [Grant.PoissonSample]. There are as many samples as steps.
func (g *Grant) AllocatedSample(n int, index []int32, keys []uint64) ([]int32, []uint64) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !g.takeSample(sampleAllocated) {
		return index, keys
	}
	steps := g.a.terms.steps
	if g.slots == nil || g.slots.of != n {
		g.slots = allocate(n, steps, g.a.run.source.Indexed(entropy.Slot, g.step))
	}
	before, first := len(index), 0
	if g.samples > 1 {
		first = g.slots.end[g.samples-2]
	}
	index = append(index, g.slots.rows[first:g.slots.end[g.samples-1]]...)
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(1/float64(steps), n, index[before:])
	return index, keys
}

// allocate draws a step for every row, and sorts the rows by step.
func allocate(n, steps int, words *entropy.Indexed) *slots {
	s := &slots{of: n, rows: make([]int32, max(min(n, math.MaxInt32), 0)), end: make([]int, steps)}
	step := make([]int32, len(s.rows))
	for row := range step {
		step[row] = int32(words.Below(uint64(steps), row))
		s.end[step[row]]++
	}
	first := 0
	for i, count := range s.end {
		s.end[i], first = first, first+count
	}
	for row, i := range step {
		s.rows[s.end[i]] = int32(row)
		s.end[i]++
	}
	return s
}
