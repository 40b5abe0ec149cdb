package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

func main() {
	schema, err := records.NewSchema(records.Integer("age", 17, 90),
		records.Categorical("work", "private", "state"), records.Label("income", "low", "high"))
	check(err)
	private, err := records.FromValues(schema, []any{31, "private", "low"}, []any{58, "state", "high"})
	check(err)
	plan, err := merf.Config{Schema: schema, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
	check(err)
	gen, err := plan.Fit(context.Background(), private)
	check(err)
	rows, err := gen.Sample(context.Background(), 1000)
	check(err)
	fmt.Println(rows.Len(), gen.Guarantee())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
