package sets_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSetPlansThatCannotBeDrawnAreRefused checks that a plan for sets is refused or can be fitted,
// for every budget and for both records and persons. A fit that failed at its first draw would have
// spent the budget.
func TestSetPlansThatCannotBeDrawnAreRefused(t *testing.T) {
	rows := must(records.FromItems(records.Sets(6, 3), [][]uint32{{1}, {2, 3}}))(t)
	persons := must(records.GroupBy(rows, []string{"a", "a"}, 3))(t)
	refused, fitted := 0, 0
	for _, epsilon := range []float64{1e-12, 3e-8, 1e-7, 1e-6, 1, 1e7, 3e8, 1e9, 1e18} {
		for _, data := range []records.Data{rows, persons} {
			b := accountant.Budget{Epsilon: epsilon, Delta: 1e-12}
			c := sets.Common{Schema: data.Schema(), Budget: b}
			for name, plan := range map[string]func() (synth.PassProgram, error){
				"mwem":        sets.MWEM{Common: c, Rounds: 2, Queries: 9}.Plan,
				"independent": sets.Independent{Common: c}.Plan} {
				p, err := plan()
				if err != nil {
					var bad *param.Error
					if !errors.Is(err, accountant.ErrBudgetExceeded) &&
						!(errors.As(err, &bad) && strings.HasSuffix(bad.Path, ".Budget")) {
						t.Errorf("%s, ε = %v: got error %v, want ErrBudgetExceeded or a *param.Error for Budget",
							name, epsilon, err)
					}
					refused++
					continue
				}
				if _, err := p.Fit(context.Background(), data); err != nil {
					t.Errorf("%s of %d records, ε = %v: the plan is accepted, but its fit fails: %v", name,
						data.Len(), epsilon, err)
				}
				fitted++
			}
		}
	}
	if refused < 6 || fitted < 20 {
		t.Errorf("%d plans were refused and %d fitted, want at least 6 and 20", refused, fitted)
	}
}
