package ledger

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
)

// running is everything reserved on an outermost ledger, reduced entry by entry, so that a further
// reservation takes time for its own events only. It decides only that something fits: what it
// does not prove is priced as a whole. It does not depend on the order of the reservations, so
// processes that read the same journal agree.
type running struct {
	sum     accountant.Reduced
	counted []int // uses of every entry that are in sum
}

// runningWith returns everything reserved and the lines of a transaction in the ledger at. It
// returns nil for a filter, for parts in use and if something cannot be reduced; once something
// reserved cannot be, the sum has no price any more. The caller holds the state lock.
func (l *Ledger) runningWith(at *Ledger, t Transaction, lines []*placedLine) *accountant.Reduced {
	if at != l || l.parent != nil || l.filter != 0 || l.partsUsed() || len(t.Groups) > 0 {
		return nil
	}
	r := &l.running
	if len(r.counted) == 0 {
		r.sum, _ = accountant.Reduce(accountant.Composed{}, l.budget.Relation)
	}
	var missing []accountant.Event
	for i, en := range l.entries {
		if i == len(r.counted) {
			r.counted = append(r.counted, 0)
		}
		if n := en.reserved - r.counted[i]; n > 0 {
			missing = append(missing, accountant.Repeated{Event: en.event, Count: n})
			r.counted[i] = en.reserved
		}
	}
	var err error
	if len(missing) > 0 {
		all := accountant.Composed{Events: missing}
		r.sum, err = accountant.Reduce(all, l.budget.Relation, r.sum)
	}
	out := r.sum
	if err == nil && len(lines) > 0 {
		out, err = accountant.Reduce(t.event(lines), l.budget.Relation, r.sum)
	}
	if err != nil {
		return nil
	}
	return &out
}

// runningCost returns an upper end of the cost of what runningWith returned if it proves that it
// is within the budget, and otherwise false. If precise is false, that is all that it proves.
func (l *Ledger) runningCost(ctx context.Context, sum *accountant.Reduced,
	precise bool) (accountant.Price, bool) {
	if sum == nil {
		return accountant.Price{}, false
	}
	p, err := sum.Price(ctx, l.budget, 0, precise)
	return p, err == nil && p.Upper <= l.budget.Epsilon
}
