package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/ledger"
)

var (
	// ErrNewer is returned if the database's tables were made by a later version of this package.
	ErrNewer = errors.New("the schema is newer than this program")
	// ErrOlder is returned if the database's tables were made by an earlier version of this package.
	ErrOlder = errors.New("the schema is older than this program: call Migrate")
)

// Migrate creates the tables, or updates the tables of an earlier version, in one transaction.
// Programs of the earlier version can then no longer use the database.
//
// Errors: ErrNewer; errors of the database.
func (b *Backend) Migrate(ctx context.Context) error {
	db, err := b.writing.acquire(true)
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(b.migrate(ctx, db), b.writing.release()))
}

// migrate implements Migrate. If the schema is up to date it writes nothing and needs no permission
// to write.
func (d *dialect) migrate(ctx context.Context, db *database) error {
	if version, err := d.version(ctx, db); err != nil || d.fits(version) == nil {
		return err
	}
	return d.transact(ctx, db, nil, func(tx *sql.Tx) error {
		if d.migrating != "" {
			if _, err := tx.ExecContext(ctx, d.migrating); err != nil {
				return err
			}
		}
		version, err := d.version(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(d.migrations) {
			return d.fits(version)
		}
		for ; version < len(d.migrations); version++ {
			if _, err := tx.ExecContext(ctx, d.migrations[version]); err != nil {
				return fmt.Errorf("migration to version %d: %w", version+1, err)
			}
		}
		_, err = tx.ExecContext(ctx, d.sql(`UPDATE privgen_schema SET version = $1`), version)
		return err
	})
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the schema, 0 if there is no schema.
func (d *dialect) version(ctx context.Context, q querier) (version int, err error) {
	var exists bool
	if err := q.QueryRowContext(ctx, d.exists).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `SELECT version FROM privgen_schema`).Scan(&version)
	return version, err
}

// current returns an error if the schema has another version than this program.
func (d *dialect) current(ctx context.Context, q querier) error {
	version, err := d.version(ctx, q)
	if err != nil {
		return err
	}
	return d.fits(version)
}

func (d *dialect) fits(version int) error {
	want := len(d.migrations)
	switch {
	case version == 0:
		return ledger.ErrNotFound
	case version < want:
		return fmt.Errorf("%w: got version %d, want %d", ErrOlder, version, want)
	case version > want:
		return fmt.Errorf("%w: got version %d, want %d", ErrNewer, version, want)
	}
	return nil
}
