package ledger

import (
	"context"
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
)

// quote is the answer of the budget to a transaction, for one version of the ledger. It is computed
// without the ledger's locks, since a price may take seconds, and holds while the version is the
// same.
type quote struct {
	ctx  context.Context
	left int // quotes that may still be requested, before the price is computed under the locks

	known   bool
	version uint64
	err     error // why the transaction cannot be reserved; nil if the budget allows it

	at           *Ledger             // the budget and the filter; nothing else is set
	sum          *accountant.Reduced // everything reserved, with the transaction; or nil
	with, before accountant.Event    // everything reserved, with and without the transaction
	whole        bool                // the sum did not prove that the transaction fits
	purpose      string
}

// maxQuotes bounds how often changes by others may make a quote worthless.
const maxQuotes = 3

// errUnpriced demands a quote, by price, before the transaction is tried again.
var errUnpriced = errors.New("ledger: no quote for this version")

// price prices the transaction, by the running sum if that proves that it fits. Otherwise the
// quote is not known yet, and the whole ledger is priced the next time.
func (q *quote) price() {
	if q.sum != nil {
		_, q.known = q.at.runningCost(q.ctx, q.sum, false)
		q.whole, q.err = !q.known, nil
		return
	}
	q.known = true
	cost, err := q.at.bound(q.ctx, q.with, false)
	if err == nil && !(cost.Upper <= q.at.budget.Epsilon) {
		err = q.at.refusal(q.ctx, "the budget", q.purpose, q.at.budget.Epsilon, q.before, cost.Upper)
	}
	q.err = err
}

// allowAll checks whether all lines fit together. It returns errUnpriced if q holds no longer.
func (l *Ledger) allowAll(t Transaction, lines []*placedLine, q *quote) error {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	root := l.shared.root
	if root.fault != nil {
		return root.fault
	}
	if err := l.checkNames(t); err != nil {
		return err
	}
	if err := l.checkReadable(t, lines); err != nil {
		return err
	}
	if err := l.countable(lines); err != nil {
		return err
	}
	if err := q.ctx.Err(); err != nil {
		return err
	}
	if q.known && q.version == root.version {
		return q.err
	}
	q.known, q.version, q.purpose = false, root.version, lines[0].line.Purpose
	q.at = &Ledger{&book{budget: root.budget, filter: root.filter}}
	if q.sum = nil; !q.whole {
		q.sum = root.runningWith(l, t, lines)
	}
	if q.left--; q.left < 0 && q.sum != nil {
		if q.price(); q.known {
			return q.err
		}
		q.sum = nil
	}
	if q.sum == nil {
		q.with, q.before = root.event(l, t.event(lines), 1), root.event(nil, nil, 0)
	}
	if q.left >= 0 {
		return errUnpriced
	}
	q.price()
	return q.err
}

// quote computes the price of everything set aside without the ledger's locks, so that others can
// use the ledger meanwhile. Whoever asks for the price afterwards finds it, or computes it under
// the lock if changes by others have made all quotes worthless.
func (l *Ledger) quote() {
	for range maxQuotes {
		l.shared.state.Lock()
		root := l.shared.root
		version := root.version
		known := root.fault != nil || l.bracket.valid && l.bracket.version == version
		at := &Ledger{&book{budget: l.budget, filter: l.filter, shared: &ledgerShared{},
			version: version}}
		at.shared.root = at
		if l == root {
			at.sum = l.runningWith(l, Transaction{}, nil)
		}
		all := l.event(nil, nil, 0)
		l.shared.state.Unlock()
		if known {
			return
		}
		reduced, err := accountant.Reduce(all, l.budget.Relation)
		if err != nil {
			return // whoever asks finds the error
		}
		at.reduced = &reduced
		_, _ = at.priceFull() // which keeps the error
		l.shared.state.Lock()
		l.published, l.bracket = at.published, at.bracket // worth nothing for another version
		l.shared.state.Unlock()
	}
}
