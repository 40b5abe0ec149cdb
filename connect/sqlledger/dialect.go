package sqlledger

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// dialect holds the differences between the databases.
type dialect struct {
	place      string // shown in guarantees, without a password
	mark       string // prefix of a statement's numbered arguments
	begin      *sql.TxOptions
	migrations []string // each leads from one version of the schema to the next

	// exists is a query that reports whether the tables exist.
	exists string
	// migrating is a statement that prevents other migrations until the transaction ends; "" if every
	// transaction does so anyway.
	migrating string
	// head is a query that reads the ledger's last line and the schema's version. It prevents others
	// from adding a line until the transaction ends, and makes the commit durable. Its last column is
	// "on" unless the settings of the database allow it to report writes as durable too early.
	head string

	openRead, openWrite func(create bool) (*database, error)
	// transient reports whether a transaction failed because of another transaction.
	transient func(error) bool
}

// sql returns a statement in the dialect.
func (d *dialect) sql(statement string) string {
	return strings.ReplaceAll(statement, "$", d.mark)
}

// patience is the time during which a transaction is retried.
const patience = 30 * time.Second

// retry repeats a transaction that failed because of another transaction.
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

// transact runs a transaction, and repeats it if it failed because of another transaction.
func (d *dialect) transact(ctx context.Context, db *database, options *sql.TxOptions,
	do func(*sql.Tx) error) error {
	return d.retry(ctx, func() error {
		tx, err := db.BeginTx(ctx, options)
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			_ = tx.Rollback() // the first error is more informative
			return err
		}
		return tx.Commit()
	})
}
