package evaluate

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Utility compares a classifier trained on synthetic records with the same classifier trained on
// real ones. Both are tested on real records that neither has seen.
type Utility struct {
	Synthetic classify.Classification `json:"synthetic"` // trained on synthetic, tested on real
	Real      classify.Classification `json:"real"`      // trained on real, tested on real
}

// CompareTraining trains a method on synthetic and on real records in turn and tests
// on held-out real ones; [Suite] does so for several methods.
//
// Errors: all errors of [classify.Method.Fit] and [classify.Classifier.Test], joined. Guarantee:
// none; see the package.
func CompareTraining(m classify.Method, synthetic, train, test records.Data) (Utility, error) {
	if m == nil {
		return Utility{}, param.New("evaluate.CompareTraining m", nil, "a method")
	}
	a, first := trainAndTest(m, synthetic, test)
	b, second := trainAndTest(m, train, test)
	return Utility{Synthetic: a, Real: b}, errors.Join(first, second)
}

func trainAndTest(m classify.Method, train, test records.Data) (classify.Classification, error) {
	c, err := m.Fit(train)
	if err != nil {
		return classify.Classification{}, err
	}
	return classify.Test(c, test)
}

// String prints both accuracies, marked as not private.
func (u Utility) String() string {
	return fmt.Sprintf(
		"%s%s tested on %d real records: accuracy %.4f trained on synthetic, %.4f on real ones (%s)",
		judge.Mark, u.Synthetic.Model, u.Synthetic.Records(), u.Synthetic.Accuracy(),
		u.Real.Accuracy(), judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (u Utility) MarshalJSON() ([]byte, error) {
	type plain Utility
	return compare.JSON("train on synthetic, test on real", plain(u))
}
