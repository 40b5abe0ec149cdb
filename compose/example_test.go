package compose_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// The best of about ten runs costs two to three times what one run costs, not ten times.
func ExampleSearch_PlanFor() {
	schema, err := records.NewSchema(records.Integer("age", 0, 100),
		records.Label("outcome", "home", "stay"))
	if err != nil {
		fmt.Println(err)
		return
	}
	trial, err := merf.Config{}.PlanFor(schema, accountant.Budget{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	search, err := compose.Search{
		Candidates: []synth.Design{compose.Fixed(trial)},
		Trials:     compose.Trials{Mean: 10},
		Score:      compose.Accuracy{},
		Noise:      50,
	}.PlanFor(schema, accountant.Budget{Epsilon: 4, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	ratio := search.Total().Upper / trial.Total().Upper
	fmt.Println("more than one run:", ratio > 1, "and less than four:", ratio < 4)
	// Output:
	// more than one run: true and less than four: true
}
