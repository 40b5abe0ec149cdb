package sets_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

func Example() {
	visits, err := records.NewSetBuilder(records.Sets(12, 8)) // at most 8 of 12 stations
	for i := 0; i < 5000 && err == nil; i++ {
		err = visits.Add([]uint32{uint32(i % 3), uint32(3 + i%4), uint32(7 + i%5)})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := visits.Table()
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err :=
		sets.MWEM{Common: sets.Common{Schema: data.Schema(), Budget: budget}}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), data)
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
