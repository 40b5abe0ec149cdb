package privacytest

import (
	"context"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestVacuousReplays checks that a replay that compares nothing has a finding: if every run is
// refused, or ends in a panic, and if the data sets are not neighbours.
func TestVacuousReplays(t *testing.T) {
	released := func(context.Context, *ledger.Ledger, []float64) (any, error) { return 1, nil }
	refused := func(_ context.Context, l *ledger.Ledger, d []float64) (any, error) {
		if err := l.Spend("sum", accountant.Pure{Epsilon: 1e6}); err != nil {
			return nil, err
		}
		return d, nil // this leak is never reached
	}
	panics := func(context.Context, *ledger.Ledger, []float64) (any, error) { panic("no") }
	one := Replay[[]float64]{Data: []float64{1, 2}, Neighbour: []float64{1, 2, 3},
		Budget: toyBudget(accountant.AddOrRemoveOne)}
	for name, c := range map[string]struct {
		run             func(context.Context, *ledger.Ledger, []float64) (any, error)
		data, neighbour []float64
		relation        accountant.Relation
		changed         []int
		refused         bool
		want            string
	}{
		"released":           {run: released},
		"refused":            {run: refused, want: "every run ended"},
		"refused on purpose": {run: refused, refused: true},
		"a panic":            {run: panics, want: "every run ended"},
		"the same data":      {run: released, data: []float64{1, 2, 3}, want: "not neighbours"},
		"other data":         {run: released, data: []float64{4, 5}, want: "not neighbours"},
		"two records more":   {run: released, data: []float64{1}, want: "not neighbours"},
		"replace one":        {run: released, relation: accountant.ReplaceOne, data: []float64{1, 2, 4}},
		"replace two": {run: released, relation: accountant.ReplaceOne, data: []float64{1, 5, 4},
			want: "not neighbours"},
		"replace none": {run: released, relation: accountant.ReplaceOne, data: []float64{1, 2, 3},
			want: "not neighbours"},
		"no data": {run: released, data: []float64{}, neighbour: []float64{},
			want: "not neighbours"},
		"replace one of more": {run: released, relation: accountant.ReplaceOne, want: "not neighbours"},
		"stated rows": {run: released, relation: accountant.ReplaceOne, data: []float64{1, 5, 4},
			changed: []int{1, 2}},
	} {
		r := one
		r.Run, r.Refused, r.Changed = c.run, c.refused, c.changed
		if c.data != nil {
			r.Data = c.data
		}
		if c.neighbour != nil {
			r.Neighbour = c.neighbour
		}
		if c.relation != r.Budget.Relation {
			r.Budget = toyBudget(c.relation)
		}
		f := r.Findings(t)
		if found := len(f) == 1 && strings.Contains(f[0], c.want); found != (c.want != "") {
			t.Errorf("%s: findings %q, want %q", name, f, c.want)
		}
	}
}
