package ledger

import (
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// holdings counts what the guarantee of a ledger holds; see checkReadable.
type holdings struct {
	seen                         int // entries of the outermost ledger
	entries, text, size, deepest int
	events                       map[string]int // the values of every different event
	before                       *holdings      // of further events
	others                       []*entry       // those seen whose events do not merge
}

// add counts an entry, or a group of parts with an empty key.
func (c *holdings) add(purpose int, key string) {
	values := c.events[key]
	if values == 0 && c.before != nil {
		values = c.before.events[key]
	}
	if values == 0 {
		var depth int
		values, depth = param.Size(key)
		values, c.deepest = values+valuesOfEntry, max(c.deepest, depth)
		c.events[key] = values
	}
	c.entries, c.text, c.size = c.entries+1, c.text+values, c.size+6*purpose+8*len(key)+256
}

// holdings counts the entries of an outermost ledger and returns an empty count of further ones.
func (l *Ledger) holdings() holdings {
	c := &l.held
	if c.events == nil {
		c.events = map[string]int{}
	}
	for _, en := range l.entries[c.seen:] {
		c.add(len(en.purpose), en.key)
		if !merges(en.event, l.budget.Relation) {
			c.others = append(c.others, en)
		}
	}
	c.seen = len(l.entries)
	out := *c
	out.events, out.before = map[string]int{}, c
	return out
}

// merges reports whether the accountant merges any number of such events into the three events of
// merged, so that they cannot make a price take too long.
func merges(e accountant.Event, r accountant.Relation) bool {
	small := func(q, z float64) bool {
		return r == accountant.AddOrRemoveOne && q <= 0.99 && z > 1e-15
	}
	switch e := e.(type) {
	case accountant.Gaussian:
		return true
	case accountant.Repeated:
		return merges(e.Event, r)
	case accountant.SampledSum:
		return small(e.Probability, e.NoiseMultiplier)
	case accountant.PoissonSampled:
		g, ok := e.Event.(accountant.Gaussian)
		return ok && small(e.Probability, g.NoiseMultiplier)
	}
	return false
}

// merged holds what events that merge become at most, by the rounding that accountant.Reduced.Price
// describes: one Gaussian, and samples of a small and a large effect.
var merged = []accountant.Event{
	accountant.Gaussian{NoiseMultiplier: 1},
	accountant.PoissonSampled{Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: 1}},
	accountant.PoissonSampled{Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: 1e-9}},
}

// cheap reports whether the ledger with further lines certainly passes accountant.Reduced.CheckWork.
func (l *Ledger) cheap(c *holdings, lines []*placedLine) bool {
	all := slices.Clone(merged)
	for _, en := range c.others {
		all = append(all, accountant.Repeated{Event: en.event, Count: en.reserved})
	}
	for _, p := range lines {
		if !merges(p.line.Event, l.budget.Relation) {
			all = append(all, accountant.Repeated{Event: p.line.Event, Count: p.line.Count})
		}
	}
	reduced, err := accountant.Reduce(accountant.Composed{Events: all}, l.budget.Relation)
	return err == nil && reduced.CheckWork("") == nil
}
