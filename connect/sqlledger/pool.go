package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// database is an open database.
type database struct {
	*sql.DB
	// lock waits for the lock of a name until the second context ends. The lock ends with the first
	// context.
	lock func(ctx, short context.Context, name string) (unlock func(), err error)
	// lost returns an error if the database's file was replaced or removed; the function is nil for
	// databases without a file.
	lost func() error
	// closing frees other resources; may be nil.
	closing func() error
}

// check returns an error if the database's file was replaced or removed.
func (d *database) check() error {
	if d.lost == nil {
		return nil
	}
	return d.lost()
}

// close closes the database.
func (d *database) close() error {
	if d.closing == nil {
		return d.Close()
	}
	return errors.Join(d.Close(), d.closing())
}

// pool keeps a database open while it is in use.
type pool struct {
	open  func(create bool) (*database, error)
	mu    sync.Mutex
	db    *database
	users int
}

func (p *pool) acquire(create bool) (*database, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		db, err := p.open(create)
		if err != nil {
			return nil, err
		}
		p.db = db
	}
	p.users++
	return p.db, nil
}

// release closes the database after its last user.
func (p *pool) release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users > 0 {
		return nil
	}
	db := p.db
	p.db = nil
	return db.close()
}
