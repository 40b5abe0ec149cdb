package ledger_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestOpenOrCreate starts several users of an empty folder at once: all get the same ledger. A
// caller with other terms gets an error, since the ledger would not keep to them.
func TestOpenOrCreate(t *testing.T) {
	for range 10 {
		folder := t.TempDir()
		terms := ledger.Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				l, err := ledger.Dir(folder).OpenOrCreate(t.Context(), "people", terms)
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				if err := l.Spend("count", accountant.Laplace{Scale: 10}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		l, err := ledger.Dir(folder).OpenOrCreate(t.Context(), "people", terms)
		if err != nil || l.Entries()[0].Reserved != 4 {
			t.Fatal(l, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for what, change := range map[string]func(t *ledger.Terms){
			"budget": func(t *ledger.Terms) { t.Budget.Epsilon = 2 },
			"unit":   func(t *ledger.Terms) { t.Unit = "user" },
			"filter": func(t *ledger.Terms) { t.FilterOrder = 8 },
			"limits": func(t *ledger.Terms) { t.Limits = []ledger.Limit{{Epsilon: 0.5}} },
		} {
			other := terms
			change(&other)
			if l, err := ledger.Dir(folder).OpenOrCreate(t.Context(), "people",
				other); !errors.Is(err, ledger.ErrExists) || l != nil {
				t.Errorf("another %s: %v, %v", what, l, err)
			}
		}
		terms.Unit = "record" // the default
		if l, err = ledger.Dir(folder).OpenOrCreate(t.Context(), "people", terms); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
