package evaluate_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func ExampleClusteringAccuracy() {
	clusters := []int32{1, 1, 0, 0, 0}
	classes := []int32{0, 0, 1, 1, 0}
	result, err := evaluate.ClusteringAccuracy(clusters, classes, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy %.1f, purity %.1f\n", result.Accuracy(), result.Purity())
	// Output: accuracy 0.8, purity 0.8
}

// twoClasses draws records of two coordinates. The first coordinate depends on the class.
func twoClasses(seed uint64, n int) *records.Table {
	rng := rand.New(rand.NewPCG(seed, 1))
	flat, labels := make([]float32, 2*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(2)
		flat[2*i] = 0.4*rng.Float32() + 0.5*float32(labels[i])
		flat[2*i+1] = rng.Float32()
	}
	t, err := records.FromFlat(records.Interval(2, 0, 1).WithLabels("no", "yes"), flat, labels...)
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleSuite() {
	synthetic, train, test := twoClasses(1, 300), twoClasses(2, 300), twoClasses(3, 300)
	suite := evaluate.Suite{Methods: []classify.Method{classify.GaussianBayes{},
		classify.RandomForest{Trees: 20}}}
	result, err := suite.Compare(synthetic, train, test)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range result.Methods {
		fmt.Printf("%s: accuracy %.2f, ROC on scores %.2f, on hard predictions %.2f\n",
			m.Synthetic.Model, m.Synthetic.Accuracy(), m.Synthetic.Scores.ROC, m.Synthetic.Hard().ROC)
	}
	// Output:
	// Gaussian naive Bayes: accuracy 1.00, ROC on scores 1.00, on hard predictions 1.00
	// random forest: accuracy 1.00, ROC on scores 1.00, on hard predictions 1.00
}

func ExampleReview() {
	synthetic, train, test := twoClasses(1, 300), twoClasses(2, 300), twoClasses(3, 300)
	review := evaluate.Review{Suite: evaluate.Suite{
		Methods: []classify.Method{classify.LogisticRegression{}},
	}}
	report, err := review.Report(synthetic, train, test)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("column shapes %.2f, of held-out real records %.2f\n",
		report.Similarity.Shapes.Synthetic, report.Similarity.Shapes.HeldOut)
	fmt.Println("classes that a classifier tells apart:",
		len(report.Utilities.Methods[0].Synthetic.Classes))
	// Output:
	// column shapes 0.96, of held-out real records 0.91
	// classes that a classifier tells apart: 2
}
