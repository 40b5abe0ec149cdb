package synth_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPlansKeepTheirBudget checks that a plan is refused if its stages together cost more than the
// budget.
func TestPlansKeepTheirBudget(t *testing.T) {
	for _, count := range []int{1, 2, 4} {
		var stages []synth.Stage
		for i := range count {
			stages = append(stages, synth.Stage{Purpose: string(rune('a' + i)), Count: 1,
				Event: accountant.Gaussian{NoiseMultiplier: 4}})
		}
		alone, err := accountant.Epsilon(stages[0].Event, 1e-5, accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		budget := accountant.Budget{Epsilon: alone.Upper * 1.001, Delta: 1e-5}
		_, err = synth.NewProgram("reading", records.Interval(2, 0, 1), budget, stages, reading{})
		if count == 1 && err != nil || count > 1 && !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%d stages that each cost the whole budget: error %v", count, err)
		}
	}
}
