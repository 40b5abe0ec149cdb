package ledger_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestTransactionsKeepTheirOwnEvents: a reserved transaction does not become cheaper if the
// caller later changes the event that it passed.
func TestTransactionsKeepTheirOwnEvents(t *testing.T) {
	epsilon := func(change bool) float64 {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		events := []accountant.Event{accountant.Gaussian{NoiseMultiplier: 1},
			accountant.Gaussian{NoiseMultiplier: 2}}
		if _, err := l.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
			{Purpose: "a", Event: accountant.Composed{Events: events}, Count: 1}}}); err != nil {
			t.Fatal(err)
		}
		if change {
			events[0] = accountant.Gaussian{NoiseMultiplier: 1000}
		}
		// The second reservation makes the ledger price all events again instead of using its cache.
		if _, err := l.Reserve("b", accountant.Gaussian{NoiseMultiplier: 50}, 1); err != nil {
			t.Fatal(err)
		}
		return l.Epsilon().Upper
	}
	if kept, changed := epsilon(false), epsilon(true); kept != changed {
		t.Errorf("ε = %v, but %v if the caller changes the event", kept, changed)
	}
}
