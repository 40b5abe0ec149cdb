package mechanism

import (
	"math"
	"sync"
)

// Grant permits the draws of one event that is already on the ledger. It returns [ErrNotCovered]
// for every draw that the event does not cover. Examples are releases whose squared effects exceed
// the event's Gaussian, a second sample, and another mechanism.
type Grant struct{ *grantState } // one pointer: a copy by value would forget what has been drawn

type grantState struct {
	a       *Allowance
	step    uint64
	turn    int    // number of the step within its allowance, from 1, if steps sample in turn
	slotsID uint64 // of the words that give rows their steps

	mu      sync.Mutex
	used    float64 // Σ effect² of releases so far
	sampled bool
	refused error // why the grant is void
	done    bool  // a mechanism other than Gaussian has been drawn
}

// The noise is wider than requested by the factor 1+margin. This factor outweighs allowed, the
// tolerance of the comparison in charge. So rounding can never overspend.
const (
	margin  = 0x1p-40
	allowed = 1 + 0x1p-42
)

// charge deducts an effect from the event's Gaussian before anything is drawn.
func (g *Grant) charge(effect float64) error {
	if g.a.band != nil {
		return g.a.refuse("the event covers one gradient for each step, and nothing else")
	}
	return g.deduct(effect)
}

func (g *Grant) deduct(effect float64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.a.terms
	used := up(g.used + up(effect*effect))
	switch {
	case g.refused != nil:
		return g.refused
	case !(effect > 0) || math.IsInf(effect, 0):
		return g.a.refuse("effect %v: must be positive and finite", effect)
	case t.gaussian == 0:
		return g.a.refuse("the event contains no Gaussian release")
	case t.sampling != sampleNone && !g.sampled:
		return g.a.refuse("the event's sample has not been drawn")
	case !(used <= t.gaussian*allowed):
		return g.a.refuse("squared effects of the releases: %.6g, want at most %.6g", used, t.gaussian)
	}
	if err := g.refuses(); err != nil {
		return err
	}
	g.used = used
	return nil
}

// up returns the next larger float, so that many small releases are never free because of
// rounding.
func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// chargeOnce uses up the whole event for a mechanism that is not Gaussian.
func (g *Grant) chargeOnce() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.a.terms
	switch {
	case g.refused != nil:
		return g.refused
	case t.other == nil:
		return g.a.refuse("the event does not cover this mechanism")
	case t.sampling != sampleNone && !g.sampled:
		return g.a.refuse("the event's sample has not been drawn")
	case g.done:
		return g.a.refuse("the event's noise has been drawn already")
	}
	if err := g.refuses(); err != nil {
		return err
	}
	g.done = true
	return nil
}

// refuses calls the function set by RefuseWhen, after all other checks; the caller holds mu.
func (g *Grant) refuses() error {
	if g.a.refuses != nil {
		g.refused = g.a.refuses()
	}
	return g.refused
}
