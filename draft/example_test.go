package draft_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// The candidates are wide enough for every record. The draft is narrowed to the records, and its
// price is on the ledger.
func ExampleFit() {
	candidates, err := records.NewSchema(
		records.Integer("age", 0, 1000),
		records.Categorical("plan", "basic", "plus", "gold", "legacy", "other").WithOther("other"))
	if err != nil {
		fmt.Println(err)
		return
	}
	members, err := records.NewFrameBuilder(candidates)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 9000 {
		if err := members.Append(20+i%50, []string{"basic", "plus"}[i%2]); err != nil {
			fmt.Println(err)
			return
		}
	}
	config := draft.Config{Candidates: candidates,
		Budget: accountant.Budget{Epsilon: 0.5, Delta: 1e-6}, FalseAlarm: 1e-9}
	plan, err := config.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := draft.Fit(context.Background(), plan, members.Frame(),
		ledger.New(plan.Config.Budget))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range d.Schema.Columns() {
		lo, hi := c.Bounds()
		fmt.Println(c.Name(), lo, hi, c.Levels())
	}
	// Output:
	// age 19 75 []
	// plan 0 0 [basic plus other]
}

// A schema drafted from public rows is written for review.
func ExampleFromPublic() {
	brochure := "age,plan,churn\n34,basic,no\n71,?,yes\n"
	schema, err := draft.FromPublic(strings.NewReader(brochure), records.CSV{Header: true},
		draft.Public{Label: "churn"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := records.WriteSchema(os.Stdout, schema); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	// 	"kind": "table",
	// 	"columns": [
	// 		{
	// 			"name": "age",
	// 			"type": "integer",
	// 			"lo": 34,
	// 			"hi": 71
	// 		},
	// 		{
	// 			"name": "plan",
	// 			"type": "categorical",
	// 			"levels": [
	// 				"basic"
	// 			],
	// 			"missing": true
	// 		},
	// 		{
	// 			"name": "churn",
	// 			"type": "label",
	// 			"levels": [
	// 				"no",
	// 				"yes"
	// 			]
	// 		}
	// 	]
	// }
}
