package merf_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Shards keep the unit of their records, the weakest where units differ, and a ledger that promises
// more refuses them before anything is spent.
func TestShardsOfRecordsAreNoShardsOfUsers(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	of := func(units ...string) *merf.Partial {
		s := p.NewPartial()
		for _, unit := range units {
			if err := s.Add(t.Context(), records.WithUnit(data, unit)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	merged := of(records.UnitUser)
	if err := merged.Merge(of(records.UnitRecord)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		shards []*merf.Partial
		ok     bool
	}{
		"users":             {[]*merf.Partial{of(records.UnitUser), of(records.UnitUser)}, true},
		"none, then users":  {[]*merf.Partial{of(), of(records.UnitUser)}, true},
		"records":           {[]*merf.Partial{of(records.UnitRecord)}, false},
		"users and records": {[]*merf.Partial{of(records.UnitUser), of(records.UnitRecord)}, false},
		"in one shard":      {[]*merf.Partial{of(records.UnitUser, records.UnitRecord)}, false},
		"the other way":     {[]*merf.Partial{of(records.UnitRecord, records.UnitUser)}, false},
		"merged":            {[]*merf.Partial{merged}, false},
	} {
		ledger := accountant.NewLedger(c.Budget, accountant.WithUnit(records.UnitUser))
		_, err := p.Release(t.Context(), ledger, test.shards)
		var wrong *param.Error
		if test.ok && err != nil || !test.ok && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if !test.ok && len(ledger.Entries()) > 0 {
			t.Errorf("%s: %v is reserved", name, ledger.Entries())
		}
	}
}
