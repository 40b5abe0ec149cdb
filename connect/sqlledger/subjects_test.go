//go:build unix

package sqlledger

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/ledger/ledgertest"
)

// open returns the backend of a place of a test subject, which is a file or the address of a
// server.
func open(place string) (ledger.Backend, error) {
	if strings.HasPrefix(place, "host=") {
		return PostgreSQL(place)
	}
	return SQLite(place), nil
}

func sqliteSubject() ledgertest.Subject {
	return ledgertest.Subject{Open: open, Place: func(t *testing.T) string {
		return filepath.Join(t.TempDir(), "a database?#%41.db") // a name that needs escaping
	}}
}

func postgresSubject() ledgertest.Subject {
	return ledgertest.Subject{Open: open, Place: func(t *testing.T) string {
		return sharedServer(t).database(t)
	}}
}

func TestContractSQLite(t *testing.T) { ledgertest.Run(t, sqliteSubject()) }

func TestContractPostgreSQL(t *testing.T) { ledgertest.Run(t, postgresSubject()) }
