package ledger_test

import (
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/ledger/ledgertest"
)

func TestMemoryContract(t *testing.T) {
	var mu sync.Mutex
	places := map[string]ledger.Backend{}
	ledgertest.Run(t, ledgertest.Subject{
		Place: func(t *testing.T) string {
			mu.Lock()
			defer mu.Unlock()
			places[t.Name()] = ledger.Memory()
			return t.Name()
		},
		Open: func(place string) (ledger.Backend, error) {
			mu.Lock()
			defer mu.Unlock()
			return places[place], nil
		},
	})
}
