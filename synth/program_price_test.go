package synth_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
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

// TestPlansPrintNoLess checks that the text of a plan states no ε below the one that holds. A plan
// that rounded to nearest would state a smaller one for about half of the noise multipliers.
func TestPlansPrintNoLess(t *testing.T) {
	prices := regexp.MustCompile(`(alone|together) +ε = (\S+)`)
	for z := 1.0; z < 3; z += 0.1 {
		p := must(synth.NewProgram("reading", records.Interval(2, 0, 1),
			accountant.Budget{Epsilon: 100, Delta: 1e-5}, []synth.Stage{{Purpose: "use",
				Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 2}}, reading{}))(t)
		found := prices.FindAllStringSubmatch(p.String(), -1)
		if strings.Contains(p.String(), "unit:") {
			t.Errorf("a plan for records states a unit:\n%v", &p)
		}
		if len(found) != 2 || found[0][1] != "alone" {
			t.Fatalf("the plan states other prices than those of a stage and of all:\n%v", &p)
		}
		for i, least := range []float64{p.Stages()[0].Epsilon.Upper, p.Total().Upper} {
			got, err := strconv.ParseFloat(found[i][2], 64)
			if err != nil || got < least || got > 1.001*least {
				t.Errorf("the plan states %q, want ε = %v, rounded up", found[i][0], least)
			}
		}
	}
}
