package baselines_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
)

// TestAPlanIsNeeded: a plan that no method made is refused.
func TestAPlanIsNeeded(t *testing.T) {
	data, err := records.FromItems(records.Sets(3, 2), [][]uint32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*baselines.Plan{nil, {}} {
		var wrong *accountant.ParamError
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		if _, err := p.Fit(context.Background(), data, ledger); !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
	}
}
