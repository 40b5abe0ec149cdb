package merf_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// This example trains two generators against one release.
func Example() {
	schema, err := records.NewSchema(records.Integer("age", 17, 90),
		records.Categorical("work", "private", "state"), records.Label("income", "low", "high"))
	if err != nil {
		panic(err)
	}
	private, err := records.FromValues(schema, []any{31, "private", "low"},
		[]any{58, "state", "high"})
	if err != nil {
		panic(err)
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err := merf.Config{Schema: schema, Budget: budget}.Plan()
	if err != nil {
		panic(err)
	}
	ctx, l := context.Background(), ledger.New(budget)
	embedding, err := plan.Embed(ctx, l, private)
	if err != nil {
		panic(err)
	}
	for _, hidden := range []int{10, 20} { // training costs no privacy
		g := merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{hidden}}, Steps: 10}
		gen, err := merf.Train(ctx, embedding, g)
		if err != nil {
			panic(err)
		}
		for rows, err := range gen.Stream(ctx, 500) {
			if err != nil {
				panic(err)
			}
			fmt.Println(rows.Len(), "records")
		}
	}
	fmt.Println("within the budget:", l.Epsilon().Upper <= 1)
	// Output:
	// 500 records
	// 500 records
	// within the budget: true
}

// Release merges the sums of shards before it adds noise. All shards together are therefore one
// release.
func ExamplePlan_Release() {
	schema := records.Binary(4)
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err := merf.Config{Schema: schema, Budget: budget, Features: 50}.Plan()
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	var shards []*mechanism.Partial
	for _, bits := range [][]float32{{1, 0, 0, 1}, {0, 1, 1, 1}} {
		data, err := records.FromFlat(schema, bits)
		if err != nil {
			panic(err)
		}
		sum := plan.NewPartial()
		if err := sum.Add(ctx, data); err != nil {
			panic(err)
		}
		fmt.Println(sum)
		shards = append(shards, sum)
	}
	embedding, err := plan.Release(ctx, ledger.New(budget), shards)
	if err != nil {
		panic(err)
	}
	fmt.Println(embedding.Features(), "features")
	// Output:
	// [private]
	// [private]
	// 50 features
}
