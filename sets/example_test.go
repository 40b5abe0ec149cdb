package sets_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/demo"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

func Example() {
	visits, err := demo.SetSource{Records: 5000, Universe: 12, MeanItems: 4, MaxItems: 8, Skew: 1,
		Seed: 1}.Make()
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err :=
		sets.MWEM{Common: sets.Common{Schema: visits.Schema(), Budget: budget}}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), visits)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := gen.Sample(context.Background(), 1000, synth.Seed(7))
	fmt.Println(rows.Len(), "records,", rows.Schema(), err)
	fmt.Println("within the budget:", gen.Guarantee().Epsilon <= budget.Epsilon)
	// Output:
	// 1000 records, sets of at most 8 of 12 items <nil>
	// within the budget: true
}
