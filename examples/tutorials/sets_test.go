package tutorials_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func Example_sets() {
	ctx := context.Background()
	source := demo.SetSource{Records: 20_000, Universe: 60, MeanItems: 5, MaxItems: 20, Skew: 1,
		Communities: 6, Affinity: 0.7, Seed: 1}
	visits, err := source.Make() // your data: records.Visits groups the rows of a file by person
	check(err)
	visited := records.WithUnit(visits, records.UnitUser) // one record for each person

	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	plan, err := privgen.Independent(visits.Schema(), budget).Nominal(20_000).Plan()
	check(err)
	l := ledger.New(budget, ledger.WithUnit(records.UnitUser))
	gen, err := plan.FitOn(ctx, l, visited)
	check(err)
	synthetic, err := gen.Sample(ctx, 20_000)
	check(err)

	errors, err := evaluate.Queries{Count: 200, Seed: 1}.Compare(visits, synthetic)
	check(err)
	fmt.Println("protects one", gen.Guarantee().Unit)
	fmt.Println("mean relative error below 10 %:", errors.MeanAny() < 0.1)
	// Output:
	// protects one user
	// mean relative error below 10 %: true
}
