package ledger

import (
	"context"
	"errors"
)

// Affords reports whether everything that the transactions would still reserve fits in the budget
// together with everything reserved. A transaction that the ledger holds under its ID needs nothing
// more. Affords reserves nothing. The ledger prices the transactions in the same way as a
// reservation. A caller that needs several reservations, and must not start without all of them,
// first asks for all of them. Another process may still reserve before the caller does. Neither
// the policy nor the limits of the ledger's terms are consulted.
//
// Errors: nil if they fit; ErrBudgetExceeded, ErrUnsupported; *param.Error for invalid lines.
func (l *Ledger) Affords(list ...Transaction) error {
	l = l.original()
	if err := l.shared.refresh(); err != nil {
		return err
	}
	var all Transaction
	for _, t := range list {
		if err := t.check(l.Relation()); err != nil {
			return err
		}
		if l.find(t.ID) != nil {
			continue
		}
		for _, line := range t.Lines {
			if line.Group > 0 {
				line.Group += len(all.Groups)
			}
			all.Lines = append(all.Lines, line)
		}
		all.Groups = append(all.Groups, t.Groups...)
	}
	if len(all.Lines) == 0 {
		return nil
	}
	lines, err := all.placed(l.Relation())
	if err != nil {
		return err
	}
	q := quote{ctx: context.Background(), left: maxQuotes}
	for {
		if err := l.allowAll(all, lines, &q); !errors.Is(err, errUnpriced) {
			return err
		}
		q.price()
	}
}
