package sqlledger

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/store"
	"github.com/seed7ba64551/privgen/store/storetest"
)

// open opens a place of a subject: a file, or the address of a server.
func open(place string) (store.Backend, error) {
	if strings.HasPrefix(place, "host=") {
		return PostgreSQL(place)
	}
	return SQLite(place), nil
}

func sqliteSubject() storetest.Subject {
	return storetest.Subject{Open: open, Place: func(t *testing.T) string {
		return filepath.Join(t.TempDir(), "a database?#%41.db") // an awkward name
	}}
}

func postgresSubject() storetest.Subject {
	return storetest.Subject{Open: open, Place: func(t *testing.T) string {
		return sharedServer(t).database(t)
	}}
}

func TestContractSQLite(t *testing.T) { storetest.Run(t, sqliteSubject()) }

func TestContractPostgreSQL(t *testing.T) { storetest.Run(t, postgresSubject()) }
