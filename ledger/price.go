package ledger

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// Event returns everything set aside in this ledger and its children, as one event. Every query of
// the package accepts it.
func (l *Ledger) Event() accountant.Event {
	l = l.original()
	_ = l.shared.refresh() // on failure, answer from the state in memory
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return frozen(l.event(nil, nil, 0))
}

// frozen returns a copy that shares no memory with e.
func frozen(e accountant.Event) accountant.Event {
	if own, _, _ := accountant.Own(e); own != nil {
		return own
	}
	return e // nested too deep for a file
}

// event returns everything set aside in this ledger and its children, together with extra more
// uses of e in the ledger at.
func (l *Ledger) event(at *Ledger, e accountant.Event, extra int) accountant.Event {
	var more accountant.Event
	if extra > 0 {
		more = accountant.Repeated{Event: e, Count: extra}
	}
	return l.eventFor("", at, more)
}

// eventFor returns the reservations for one purpose, or for all purposes if it is empty, in this
// ledger and its children. If more is not nil, it is added in the ledger at.
func (l *Ledger) eventFor(purpose string, at *Ledger, more accountant.Event) accountant.Event {
	var all []accountant.Event
	for _, en := range l.entries {
		if purpose == "" || en.purpose == purpose {
			all = append(all, accountant.Repeated{Event: en.event, Count: en.reserved})
		}
	}
	if l == at && more != nil {
		all = append(all, more)
	}
	for _, g := range l.groups {
		parts := make([]accountant.Event, len(g.children))
		for i, c := range g.children {
			parts[i] = c.eventFor(purpose, at, more)
		}
		all = append(all, accountant.Disjoint{Parts: parts, Fixed: g.Fixed})
	}
	return accountant.Composed{Events: all}
}

// bound prices an event with the ledger's filter, or with the best engine if there is no filter.
func (l *Ledger) bound(ctx context.Context, e accountant.Event,
	lower bool) (accountant.Price, error) {
	reduced, err := accountant.Reduce(e, l.budget.Relation)
	if err != nil {
		return accountant.Price{}, err
	}
	return l.priceOf(ctx, reduced, lower)
}

func (l *Ledger) priceOf(ctx context.Context, e accountant.Reduced,
	lower bool) (accountant.Price, error) {
	p, err := e.Price(ctx, l.budget, l.filter, lower)
	if l.filter != 0 {
		p.Engine = engineFilter
	}
	return p, err
}

// infinite is the price of what has none.
var infinite = accountant.Bound{Estimate: math.Inf(1), Upper: math.Inf(1)}

// engineFilter is the name that guarantees have for the price of a filter.
const engineFilter = "Rényi filter of fixed order"

// priceFull returns the cost of everything set aside with its lower end. The upper end is never
// above the value that was checked against the budget. It never falls while the ledger is open:
// another engine may find a smaller bound of more events. The caller holds the state lock.
func (l *Ledger) priceFull() (accountant.Price, error) {
	r, err := l.cached(&l.bracket, l.filter == 0)
	if err != nil {
		return r, err
	}
	if l.filter != 0 {
		return l.filtered(r), nil
	}
	if !(r.Upper <= l.budget.Epsilon) { // the price that was checked may lie below
		quick, err := l.cached(&l.published, false)
		if err != nil {
			return quick, err
		}
		takeUpper(&r, quick)
	}
	l.printed = max(l.printed, r.Upper)
	r.Upper = l.printed
	return r, nil
}

// filtered returns the bound that a filter publishes: the whole budget. A filter guarantees only
// that the sum stays within the budget. If later events depend on earlier releases, the sum itself
// depends on them too and is no guarantee.
func (l *Ledger) filtered(sum accountant.Price) accountant.Price {
	switch {
	case !(sum.Upper <= l.budget.Epsilon): // only for entries read from a file that no filter checked
		sum.Bound = infinite
	case sum.Upper > 0 || l.uses():
		sum.Bound = accountant.Bound{Lower: 0, Estimate: l.budget.Epsilon, Upper: l.budget.Epsilon}
	}
	return sum
}

// uses reports whether anything has been reserved in the ledger or its children.
func (l *Ledger) uses() bool {
	return len(l.entries) > 0 || l.partsUsed()
}

// partsUsed reports whether anything has been reserved in the ledger's children.
func (l *Ledger) partsUsed() bool {
	for _, g := range l.groups {
		for _, c := range g.children {
			if c.uses() {
				return true
			}
		}
	}
	return false
}

// cached returns the cost of everything set aside, from the cache if possible.
func (l *Ledger) cached(c *cachedBound, lower bool) (accountant.Price, error) {
	root := l.shared.root
	if root.fault != nil {
		return accountant.Price{Bound: infinite}, root.fault
	}
	if !c.valid || c.version != root.version {
		r, err := accountant.Price{}, error(nil)
		if l.reduced != nil {
			r, err = l.priceOf(context.Background(), *l.reduced, lower)
		} else {
			r, err = l.bound(context.Background(), l.event(nil, nil, 0), lower)
		}
		if err != nil {
			r.Bound = infinite
		} else if l == root {
			l.improve(&r)
		}
		*c = cachedBound{root.version, true, r, err}
	}
	return c.result, c.err
}

// improve replaces the upper end by that of the running sum if that is smaller and there is no
// lower end, because many events were rounded, or if only the sum is within the budget: it then
// decided a reservation.
func (l *Ledger) improve(p *accountant.Price) {
	if p.Lower > 0 && p.Upper <= l.budget.Epsilon {
		return
	}
	sum := l.sum
	if l.reduced == nil {
		sum = l.runningWith(l, Transaction{}, nil)
	}
	if cost, ok := l.runningCost(context.Background(), sum, true); ok {
		takeUpper(p, cost)
	}
}

// takeUpper replaces the upper end of p by that of q if that is smaller.
func takeUpper(p *accountant.Price, q accountant.Price) {
	if q.Upper < p.Upper {
		p.Upper, p.Engine, p.AtEdge = q.Upper, q.Engine, q.AtEdge
		p.Estimate, p.Lower = min(p.Estimate, p.Upper), min(p.Lower, p.Upper)
	}
}

// headroom remembers how many uses of the last requested event are known to fit. With it, a service
// that spends the same event a million times needs only a few dozen evaluations.
type headroom struct {
	at      *Ledger
	key     string
	version uint64 // of the family for which the counts below are true
	fits    int    // this many more uses fit
	fails   int    // this many more uses do not fit; 0 if unknown
}

func (h *headroom) allow(l *Ledger, e accountant.Event, key string, count int) error {
	root := l.shared.root
	if h.at != l || h.key != key || h.version != root.version {
		*h = headroom{at: l, key: key, version: root.version}
	}
	if count > h.fits {
		if err := h.extend(l, e, count); err != nil {
			return err
		}
	}
	return nil
}

// took updates the counts to the next version of the family, in which count more uses of the event
// are reserved. It is called when the uses are reserved, and not after the check, because the
// policy may still refuse them. Counts for another event, ledger or version keep their old version,
// and the next check drops them.
func (h *headroom) took(l *Ledger, key string, count int, version uint64) {
	if h.at != l || h.key != key || h.version != version || count > h.fits {
		return
	}
	h.fits -= count
	if h.fails > 0 {
		h.fails -= count
	}
	h.version++
}

func (h *headroom) extend(l *Ledger, e accountant.Event, count int) error {
	root := l.shared.root
	if h.fails > 0 && count >= h.fails {
		return accountant.ErrBudgetExceeded
	}
	ok, err := fitsBudget(root, l, e, count)
	if err != nil {
		return err
	}
	if !ok {
		h.fails = count
		return accountant.ErrBudgetExceeded
	}
	h.fits = count
	if l.used(h.key)/8 < count {
		return nil // a first or a large reservation: do not look for more room
	}
	// For repeated small reservations, look for room for many uses at once: half of the uses reserved
	// so far, or half of the uses that may be left.
	more := l.used(h.key)/2 + count
	if h.fails > 0 {
		more = min(more, (count+h.fails)/2)
	}
	if more > count {
		if ok, err = fitsBudget(root, l, e, more); err == nil && ok {
			h.fits = more
		} else if err == nil {
			h.fails = more
		}
	}
	return nil
}

// used returns how many uses of an event the ledger holds for all purposes, but at most maxCount.
func (l *Ledger) used(key string) int {
	n := 0
	for _, en := range l.entries {
		if en.key == key {
			n += min(en.reserved, maxCount-n)
		}
	}
	return n
}

func fitsBudget(root, at *Ledger, e accountant.Event, count int) (bool, error) {
	more := []*placedLine{{line: Line{Event: e, Count: count}}}
	sum := root.runningWith(at, Transaction{}, more)
	if _, ok := root.runningCost(context.Background(), sum, false); ok {
		return true, nil
	}
	r, err := root.bound(context.Background(), root.event(at, e, count), false)
	if err != nil {
		return false, err
	}
	return r.Upper <= root.budget.Epsilon, nil
}

// maxCount is the largest number of uses in a [accountant.Repeated].
const maxCount = math.MaxInt / 4
