package dpgm_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestWhatIsPlannedCanBeFitted: a plan that clusters records of bounds without a usable norm is
// refused by Plan, and not only by a fit. The fit refuses it before it spends anything.
func TestWhatIsPlannedCanBeFitted(t *testing.T) {
	for _, bound := range []float64{1e-20, 1e31} {
		s := records.Interval(2, -bound, bound)
		c := small(s, accountant.AddOrRemoveOne)
		c.Features = nil // records are clustered as they are
		p, err := c.Plan()
		if err != nil {
			continue
		}
		l := ledger.New(c.Budget)
		_, err = p.FitOn(t.Context(), l, must(records.FromFlat(s, nil))(t))
		if err != nil {
			t.Errorf("bounds ±%v: the plan is made, but its fit returns %v with %d entries", bound, err,
				len(l.Entries()))
		}
	}
}
