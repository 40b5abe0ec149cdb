package sqlledger

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// dialect is what the databases do differently.
type dialect struct {
	place      string // for guarantees, without a password
	mark       string // of a statement's numbered arguments
	begin      *sql.TxOptions
	migrations []string // each leads from one version of the schema to the next

	// exists asks whether there is a schema at all.
	exists string
	// migrating keeps others from migrating until the transaction ends; "" where every transaction
	// does.
	migrating string
	// head reads the ledger's last line and the schema's version, keeps others from adding a line
	// until the transaction ends, makes the commit durable, and says "on" where the database keeps
	// what it has called durable.
	head string

	openRead, openWrite func(create bool) (*database, error)
	// transient reports that a transaction came to nothing because of another one.
	transient func(error) bool
}

// sql is a statement in the dialect.
func (d *dialect) sql(statement string) string {
	return strings.ReplaceAll(statement, "$", d.mark)
}

// patience is how long a transaction is tried again.
const patience = 30 * time.Second

// retry repeats a transaction that came to nothing because of another one.
func (d *dialect) retry(ctx context.Context, transaction func() error) error {
	pause := time.Millisecond
	for begin := time.Now(); ; {
		err := transaction()
		if err == nil || !d.transient(err) {
			return err
		}
		if time.Since(begin) > patience {
			return fmt.Errorf("the database was busy for %v: %w", patience, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, 64*time.Millisecond)
	}
}

// transact carries out a transaction, again where it came to nothing because of another one.
func (d *dialect) transact(ctx context.Context, db *database, options *sql.TxOptions,
	do func(*sql.Tx) error) error {
	return d.retry(ctx, func() error {
		tx, err := db.BeginTx(ctx, options)
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			_ = tx.Rollback() // the first error says more
			return err
		}
		return tx.Commit()
	})
}
