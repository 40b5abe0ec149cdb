package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// database is an open one.
type database struct {
	*sql.DB
	// lock waits for the lock of a name until the second context ends; it ends with the first.
	lock func(ctx, short context.Context, name string) (unlock func(), err error)
	// lost says that it is no longer the one at its place; nil where that cannot be.
	lost func() error
	// closing frees what else it holds; may be nil.
	closing func() error
}

// check says that the database is no longer the one at its place.
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

// pool holds a database open while it is used.
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
