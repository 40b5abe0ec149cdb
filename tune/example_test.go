package tune_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tune"
)

// The best of about ten runs costs two to three times what one run costs, not ten times.
func ExampleConfig_Plan() {
	schema, err := records.NewSchema(records.Integer("age", 0, 100),
		records.Label("outcome", "home", "stay"))
	if err != nil {
		fmt.Println(err)
		return
	}
	trial, err := merf.Config{Schema: schema,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	search, err := tune.Config{
		Budget:     accountant.Budget{Epsilon: 4, Delta: 1e-6},
		Candidates: []synth.Plan{trial},
		Trials:     tune.Trials{Mean: 10},
		Score:      tune.Accuracy{},
		Noise:      50,
	}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	ratio := search.Total().Upper / trial.Total().Upper
	fmt.Println("more than one run:", ratio > 1, "and less than four:", ratio < 4)
	// Output:
	// more than one run: true and less than four: true
}
