package classify_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func ExampleNeuralNetwork() {
	schema := records.Binary(2).WithLabels("off", "on")
	table, err := records.FromRows(schema, [][]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 0, 0, 1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	classifier, err := classify.NeuralNetwork{Epochs: 200, LearningRate: 0.05}.Fit(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := classify.Test(classifier, table)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result)
	// Output: [not private] logistic regression: accuracy 1.0000, macro F1 1.0000 over 4 records (computed from real records; covered by no ε)
}

func ExampleRank() {
	scores := []float64{0.9, 0.8, 0.3, 0.1}
	sick := []bool{true, false, true, false}
	r, err := classify.Rank(scores, sick)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ROC %.2f, average precision %.2f\n", r.ROC, r.PRC)
	// Output: ROC 0.75, average precision 0.83
}
