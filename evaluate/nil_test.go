package evaluate_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/evaluate"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoRecordsAreAnError, not a panic, wherever records are asked for.
func TestNoRecordsAreAnError(t *testing.T) {
	some, err := records.FromFlat(records.Interval(1, 0, 1).WithLabels("a", "b"), []float32{0, 1, 0, 1}, 0, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := evaluate.GaussianBayes{}.Fit(some)
	if err != nil {
		t.Fatal(err)
	}
	second := func(_ any, err error) error { return err }
	got := map[string]error{
		"Agreement":      second(c.Agreement(nil)),
		"Test":           second(c.Test(nil)),
		"Predict":        second(c.Predict(nil)),
		"Scores":         second(c.Scores(nil)),
		"Probabilities":  second(c.Probabilities(nil)),
		"Inception":      second(c.Inception(some, nil)),
		"NewIndex":       second(evaluate.NewIndex(nil)),
		"ItemStatistics": second(evaluate.ItemStatistics{}.Compare(nil, nil)),
		"indexes":        second(evaluate.ItemStatistics{}.CompareIndexes(nil, nil)),
		"Queries":        second(evaluate.Queries{}.Compare(nil, nil)),
		"query indexes":  second(evaluate.Queries{}.CompareIndexes(nil, nil)),
		"Gaussians":      second(evaluate.Gaussians{}.Discrepancy(some, nil, some)),
		"Fidelity":       second(evaluate.Fidelity{}.Compare(nil, some, some)),
		"JensenShannon":  second(evaluate.JensenShannon(evaluate.GaussianBayes{}, some, some, nil)),
		"no method":      second(evaluate.JensenShannon(nil, some, some, some)),
		"Suite":          second(evaluate.Suite{}.Compare(some, nil, some)),
		"Review":         second(evaluate.Review{}.Report(some, nil, some)),
		"nil in a suite": second(evaluate.Suite{Methods: []evaluate.Method{nil}}.Compare(some, some, some)),
		"no scorer":      second(evaluate.NewClassifier("none", some.Schema(), nil).Predict(some)),
		"Utility":        second(evaluate.Learner{}.Utility(nil, some, some)),
	}
	for _, m := range evaluate.Methods(some.Schema(), 1) {
		got[m.Name()] = second(m.Fit(nil))
	}
	for name, err := range got {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
