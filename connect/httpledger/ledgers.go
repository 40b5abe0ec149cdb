package httpledger

import (
	"context"
	"errors"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/store"
)

// ledgers keeps the requested ledgers open.
type ledgers struct {
	ctx   context.Context
	store *store.Store

	mu     sync.Mutex
	closed bool
	open   map[key]*accountant.Ledger
}

// key identifies a ledger that is open for reading or for reserving. Auditors never get a ledger
// that can write.
type key struct {
	name   string
	action Action
}

func newLedgers(ctx context.Context, s *store.Store) *ledgers {
	return &ledgers{ctx: ctx, store: s, open: map[key]*accountant.Ledger{}}
}

func (l *ledgers) get(name string, action Action) (*accountant.Ledger, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	k := key{name, action}
	if ledger := l.open[k]; ledger != nil {
		return ledger, nil
	}
	var ledger *accountant.Ledger
	var err error
	if action == Reserve {
		ledger, err = l.store.Open(l.ctx, name)
	} else {
		ledger, err = l.store.Audit(l.ctx, name)
	}
	if err != nil {
		return nil, err
	}
	l.open[k] = ledger
	return ledger, nil
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
