package evaluate_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// TestNoRecordsAreAnError calls every function that takes records without records. It must return
// an error and must not panic.
func TestNoRecordsAreAnError(t *testing.T) {
	some, err := records.FromFlat(records.Interval(1, 0, 1).WithLabels("a", "b"),
		[]float32{0, 1, 0, 1}, 0, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := classify.GaussianBayes{}.Fit(some)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	second := func(_ any, err error) error { return err }
	got := map[string]error{
		"Agreement":      second(evaluate.LabelAgreement(c, nil)),
		"Test":           second(classify.Test(c, nil)),
		"Predict":        second(c.Predict(nil)),
		"Scores":         second(c.Scores(nil)),
		"Probabilities":  second(c.Probabilities(nil)),
		"Inception":      second(evaluate.Inception(c, some, nil)),
		"NewIndex":       second(evaluate.NewIndex(nil)),
		"ItemStatistics": second(evaluate.Statistics{}.Compare(nil, nil)),
		"indexes":        second(evaluate.Statistics{}.CompareIndexes(nil, nil)),
		"Queries":        second(evaluate.Queries{}.Compare(nil, nil)),
		"query indexes":  second(evaluate.Queries{}.CompareIndexes(nil, nil)),
		"Gaussians":      second(evaluate.Gaussians{}.Discrepancy(some, nil, some)),
		"Fidelity":       second(evaluate.Fidelity{}.Compare(nil, some, some)),
		"JensenShannon": second(evaluate.JensenShannon(classify.GaussianBayes{}, some,
			some, nil)),
		"no method": second(evaluate.JensenShannon(nil, some, some, some)),
		"Suite":     second(evaluate.Suite{}.Compare(some, nil, some)),
		"Review":    second(evaluate.Review{}.Report(some, nil, some)),
		"nil in a suite": second(
			evaluate.Suite{Methods: []classify.Method{nil}}.Compare(some, some, some)),
		"no scorer": second(classify.NewClassifier("none", some.Schema(),
			nil).Predict(some)),
		"samples of other dimensions": second(evaluate.LabelAgreement(c, wide)),
		"training without classes": second(evaluate.CompareTraining(classify.NeuralNetwork{},
			some.WithoutLabels(), some, some)),
		"no classifier":             second(evaluate.LabelAgreement(nil, some)),
		"no classifier for a score": second(evaluate.Inception(nil, some, some)),
		"nothing to compare":        second(evaluate.CompareTraining(nil, some, some, some)),
		"Utility": second(evaluate.CompareTraining(classify.NeuralNetwork{}, nil,
			some, some)),
	}
	for _, m := range classify.Methods(some.Schema(), 1) {
		got[m.Name()] = second(m.Fit(nil))
	}
	for name, err := range got {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
