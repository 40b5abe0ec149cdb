package ledger_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/ledger/ledgertest"
)

func folders() ledgertest.Subject {
	return ledgertest.Subject{
		Place: func(t *testing.T) string { return t.TempDir() },
		Open:  func(place string) (ledger.Backend, error) { return ledger.Dir(place), nil },
	}
}

func TestDirContract(t *testing.T) {
	t.Parallel() // it waits for the disk
	ledgertest.Run(t, folders())
}
