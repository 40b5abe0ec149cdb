package kmeans_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// This example clusters two groups of points at ε = 1. Fit checks and reserves the budget before it
// reads any record.
func ExampleFit() {
	schema := records.Interval(2, -1, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]float32
	for i := range 20000 {
		x := 0.6 - 1.2*float32(i%2)
		rows = append(rows,
			[]float32{x + 0.1*float32(rng.NormFloat64()), 0.1 * float32(rng.NormFloat64())})
	}
	data, err := records.FromRows(schema, rows)
	if err != nil {
		fmt.Println(err)
		return
	}

	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	cfg, err := kmeans.Config{K: 2, Iterations: 5}.Calibrate(budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := ledger.New(budget)
	model, err := kmeans.Fit(context.Background(), cfg, kmeans.Raw(schema), data, l)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("clusters at x = ±%.1f, weights %.1f\n", max(model.Centers[0][0], model.Centers[1][0]),
		model.Weights())
	fmt.Println("within budget:", l.Epsilon().Upper <= 1)
	// Output:
	// clusters at x = ±0.6, weights [0.5 0.5]
	// within budget: true
}
