package httpledger

import (
	"context"
	"errors"
	"sync"

	"github.com/seed7ba64551/privgen/ledger"
)

// ledgers keeps the requested ledgers open.
type ledgers struct {
	ctx   context.Context
	store *ledger.Store

	mu     sync.Mutex
	closed bool
	open   map[key]*ledger.Ledger
}

// key identifies a ledger that is open for reading or for reserving. Auditors never get a ledger
// that can write.
type key struct {
	name   string
	action Action
}

func newLedgers(ctx context.Context, s *ledger.Store) *ledgers {
	return &ledgers{ctx: ctx, store: s, open: map[key]*ledger.Ledger{}}
}

func (l *ledgers) get(name string, action Action) (*ledger.Ledger, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	k := key{name, action}
	if paid := l.open[k]; paid != nil {
		return paid, nil
	}
	var paid *ledger.Ledger
	var err error
	if action == Reserve {
		paid, err = l.store.Open(l.ctx, name)
	} else {
		paid, err = l.store.Audit(l.ctx, name)
	}
	if err != nil {
		return nil, err
	}
	l.open[k] = paid
	return paid, nil
}

var errClosed = errors.New("httpledger: the handler is closed")

func (l *ledgers) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var errs []error
	for _, ledger := range l.open {
		errs = append(errs, ledger.Close())
	}
	clear(l.open)
	return errors.Join(errs...)
}
