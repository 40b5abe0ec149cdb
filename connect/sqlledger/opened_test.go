//go:build unix

package sqlledger

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestOpenDatabases: a ledger on a database that the caller has opened is the ledger of its
// address. It keeps the budget and leaves the database open.
func TestOpenDatabases(t *testing.T) {
	address := sharedServer(t).database(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	terms := ledger.Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}
	event := accountant.Pure{Epsilon: 0.4}
	spend := func(b *Backend) error {
		l, err := ledger.NewStore(b).OpenOrCreate(t.Context(), "people", terms)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Spend("a count", event)
	}
	byAddress, err := PostgreSQL(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Backend{PostgreSQLDB(db, "the hospital"), byAddress} {
		if err := spend(b); err != nil {
			t.Error(err)
		}
	}
	if err := spend(PostgreSQLDB(db, "the hospital")); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("got %v, want ErrBudgetExceeded", err)
	}
	if names, err := PostgreSQLDB(db, "the hospital").Names(t.Context()); err != nil ||
		strings.Join(names, ",") != "people" {
		t.Errorf("got the ledgers %v, %v", names, err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("the database was closed: %v", err)
	}
}
