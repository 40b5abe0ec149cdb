package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/ledger"
)

// Backend is a [ledger.Backend] that keeps ledgers in a database. It keeps connections only while a
// journal is open. It is safe for concurrent use.
type Backend struct {
	*dialect
	reading, writing *pool
}

func newBackend(d *dialect) *Backend {
	return &Backend{d, &pool{open: d.openRead}, &pool{open: d.openWrite}}
}

// Journal implements [ledger.Backend].
//
// Errors: ledger.ErrNotFound; ErrNewer and ErrOlder; errors of the database.
func (b *Backend) Journal(ctx context.Context, name string, mode ledger.Mode) (ledger.Journal,
	error) {
	p := b.writing
	if mode == ledger.Read {
		p = b.reading
	}
	db, err := p.acquire(mode == ledger.Create)
	if err != nil {
		return nil, failed(err)
	}
	j := &journal{dialect: b.dialect, pool: p, db: db, name: name, mode: mode}
	if err := b.find(ctx, j); err != nil {
		return nil, errors.Join(failed(err), j.Close())
	}
	return j, nil
}

// find checks that the journal exists, or creates it.
func (b *Backend) find(ctx context.Context, j *journal) error {
	err := b.retry(ctx, func() error { return j.db.PingContext(ctx) }) // files are opened here
	if err != nil {
		return err
	}
	if j.mode == ledger.Create {
		if err := b.migrate(ctx, j.db); err != nil {
			return err
		}
		return b.retry(ctx, func() error {
			_, err := j.db.ExecContext(ctx, b.sql(`INSERT INTO privgen_ledgers (name, line, hash)
				VALUES ($1, 0, '') ON CONFLICT DO NOTHING`), j.name)
			return err
		})
	}
	if err := b.current(ctx, j.db); err != nil {
		return err
	}
	var one int
	err = j.db.QueryRowContext(ctx, b.sql(`SELECT 1 FROM privgen_ledgers WHERE name = $1`),
		j.name).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.ErrNotFound
	}
	return err
}

// Names implements [ledger.Backend].
func (b *Backend) Names(ctx context.Context) ([]string, error) {
	db, err := b.reading.acquire(false)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(err)
	}
	names, err := b.names(ctx, db)
	return names, failed(errors.Join(err, b.reading.release()))
}

func (b *Backend) names(ctx context.Context, db *database) ([]string, error) {
	if err := b.current(ctx, db); err != nil {
		if errors.Is(err, ledger.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT name FROM privgen_ledgers`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names) // sorted here, since databases order letters differently
	return names, rows.Err()
}

// failed adds the name of the package to an error and, if a database reports a fault of its disk,
// the error of the system.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if fault := diskFault(err); fault != 0 {
		return fmt.Errorf("sqlledger: %w: %w", fault, err)
	}
	return fmt.Errorf("sqlledger: %w", err)
}
