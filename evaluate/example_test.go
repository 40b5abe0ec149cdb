package evaluate_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/evaluate"
	"github.com/seed7ba64551/privgen/records"
)

func ExampleClusteringAccuracy() {
	clusters := []int32{1, 1, 0, 0, 0}
	classes := []int32{0, 0, 1, 1, 0}
	result, err := evaluate.ClusteringAccuracy(clusters, classes, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result)
	// Output: [not private] clustering accuracy 0.8000, purity 0.8000 over 5 records (computed from real records; covered by no ε)
}

func ExampleQueries() {
	schema := records.Sets(3, 3)
	real, err := records.FromItems(schema, [][]uint32{{0, 1}, {1}, {2}, {0, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	synthetic, err := records.FromItems(schema, [][]uint32{{0, 1}, {1, 2}, {2}, {0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := evaluate.Queries{Count: 100, Classes: 1}.Compare(real, synthetic)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Queries, "queries of at most", result.Classes[0].MaxLength, "items")
	// Output: 100 queries of at most 3 items
}

func ExampleLearner() {
	schema := records.Binary(2).WithLabels("off", "on")
	table, err := records.FromRows(schema, [][]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 0, 0, 1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	classifier, err := evaluate.Learner{Epochs: 200, LearningRate: 0.05}.Fit(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := classifier.Test(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result)
	// Output: [not private] logistic regression: accuracy 1.0000, macro F1 1.0000 over 4 records (computed from real records; covered by no ε)
}
