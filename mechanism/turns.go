package mechanism

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// turns let the steps of one use sample in turn. Every row has one of the steps, or several,
// uniform and independent of the other rows unless they are shuffled, and only these steps may
// sample it: new ones for each use (accountant.RandomAllocation), or one for all uses
// (accountant.BandedSum).
type turns struct {
	deal
	fresh bool

	mu    sync.Mutex   // held while a use is taken
	begun atomic.Int64 // steps so far
	id    uint64       // of the words that give rows their steps

	slots   *slots // the caller holds the allowance's mu
	slotsID uint64
}

// newTurns returns nil for other events.
func newTurns(e accountant.Event) *turns {
	switch e := e.(type) {
	case accountant.RandomAllocation:
		return &turns{deal: deal{e.Steps, max(e.Times, 1), e.Shuffled}, fresh: true}
	case accountant.BandedSum:
		return &turns{deal: deal{steps: len(e.Band), times: 1}}
	}
	return nil
}

// next returns the grant of the next step. It takes a use for the first step of each.
func (t *turns) next(a *Allowance) (*Grant, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	begun := int(t.begun.Load())
	if begun%t.steps == 0 {
		if err := a.take(); err != nil {
			return nil, err
		}
	}
	g := a.grant()
	if begun%t.steps == 0 && (t.fresh || begun == 0) {
		t.id = g.step
	}
	t.begun.Add(1)
	g.turn, g.slotsID = begun+1, t.id
	return g, nil
}

// remaining returns the number of steps that are left, or a smaller one that is too large to count.
// It may be called while a use is taken.
func (t *turns) remaining(uses int) int {
	begun := int(t.begun.Load())
	return min(uses, math.MaxInt/t.steps-1)*t.steps + (t.steps-begun%t.steps)%t.steps
}

// rows returns the rows of the grant's step, in increasing order.
func (t *turns) rows(g *Grant, n int) []int32 {
	if t.slots == nil || t.slots.of != n || t.slotsID != g.slotsID {
		words := g.a.run.source.Indexed(entropy.Slot, g.slotsID)
		t.slots, t.slotsID = t.allocate(n, words), g.slotsID
	}
	return t.slots.step((g.turn - 1) % t.steps)
}

// slots holds rows in the order of their steps.
type slots struct {
	of   int     // number of rows
	list []int32 // in increasing order within a step
	end  []int   // of every step
}

// deal says how rows get their steps.
type deal struct {
	steps    int // of one use
	times    int // steps of each row
	shuffled bool
}

// allocate draws the steps of every row, and sorts the rows by step.
func (d deal) allocate(n int, words *entropy.Indexed) *slots {
	n = max(min(n, math.MaxInt32), 0)
	s := &slots{of: n, list: make([]int32, n*d.times), end: make([]int, d.steps)}
	step := make([]int32, n*d.times)
	for row := range n {
		d.draw(step, row, words)
	}
	for _, i := range step {
		s.end[i]++
	}
	first := 0
	for i, count := range s.end {
		s.end[i], first = first, first+count
	}
	for at, i := range step {
		s.list[s.end[i]] = int32(at / d.times)
		s.end[i]++
	}
	return s
}

// draw draws the steps of a row: one, the place of one in a shuffle so far (Fisher and Yates), or a
// subset (Floyd).
func (d deal) draw(step []int32, row int, words *entropy.Indexed) {
	if d.shuffled {
		other := words.Below(uint64(row+1), row, 0)
		step[row] = step[other]
		step[other] = int32(row % d.steps)
		return
	}
	own := step[row*d.times:][:d.times]
	for i := range own {
		last := d.steps - d.times + i
		own[i] = int32(words.Below(uint64(last+1), row, i))
		if slices.Contains(own[:i], own[i]) {
			own[i] = int32(last)
		}
	}
}

// step returns the rows of a step, counted from 0.
func (s *slots) step(i int) []int32 {
	first := 0
	if i > 0 {
		first = s.end[i-1]
	}
	return s.list[first:s.end[i]]
}
