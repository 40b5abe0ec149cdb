// Command quickstart makes a private synthetic copy of a table. Run it in its folder: people.csv
// holds 2,000 made-up rows.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

func main() {
	schema, err := records.NewSchema( // public: bounds and levels are declared, never read from data
		records.Integer("age", 17, 90),
		records.Categorical("work", "private", "self", "state", "none"),
		records.Integer("hours", 0, 99),
		records.Label("income", "<=50K", ">50K"))
	check(err)
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5} // add or remove one record

	plan, err := privgen.MERF(schema, budget).Train(merf.GeneratorConfig{Steps: 300}).Plan()
	check(err)
	fmt.Println(plan) // the price of every stage, before a record is read

	table, err := records.CSV{Header: true}.OpenFrame("people.csv", schema)
	check(err)
	gen, err := plan.Fit(context.Background(), table) // the only call that sees records
	check(err)
	rows, err := gen.Sample(context.Background(), 1000)
	check(err)
	fmt.Println(rows.Len(), "synthetic rows")
	fmt.Println(gen.Guarantee())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
