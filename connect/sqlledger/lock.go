package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/seed7ba64551/privgen/ledger"
)

// lockPatience is the time that Lock waits.
const lockPatience = 2 * time.Second

// Lock implements [ledger.Locker]. A process that hangs, or a machine that disappears, may keep
// the lock until the server notices. After lockPatience, Lock therefore continues without the lock,
// which only prevents conflicts.
func (j *journal) Lock(ctx context.Context) (unlock func(), err error) {
	if j.mode == ledger.Read {
		return nil, ledger.ErrReadOnly
	}
	short, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err = j.db.lock(ctx, short, j.name)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			unlock()
		}
		return nil, failed(ctx.Err())
	case err == nil:
		return unlock, nil
	case short.Err() != nil, errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	}
	return nil, failed(err)
}

// lockSpace is the first of the two numbers that identify an advisory lock.
const lockSpace = "1886545262"

// lockPostgres takes an advisory lock that belongs to a transaction. Such a lock works through a
// connection pooler and ends with the connection.
func lockPostgres(db *sql.DB) func(ctx, short context.Context, name string) (func(), error) {
	return func(ctx, short context.Context, name string) (func(), error) {
		// All connections of a bounded pool could be held by locks whose holders wait for another.
		if db.Stats().MaxOpenConnections > 0 {
			return nil, errors.ErrUnsupported
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		unlock := func() { _ = tx.Rollback() } // the lock does not survive the connection
		_, err = tx.ExecContext(short, `SELECT pg_advisory_xact_lock(`+lockSpace+`, hashtext($1))`,
			name)
		if err != nil {
			unlock()
		}
		return unlock, err
	}
}
