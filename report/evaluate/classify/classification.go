package classify

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Classification measures how well a classifier predicts the classes of records.
//
// There are two conventions for the areas under the curves of a [Ranking], and their values differ
// a lot. Scores ranks records by the classifier's scores. [Classification.Hard] ranks them by the
// predicted class only, as papers on synthetic tables often do.
type Classification struct {
	Model     string   `json:"model"`
	Classes   []string `json:"classes"`
	Confusion [][]int  `json:"confusion"` // number of records by true class, then by predicted class
	// Scores is the ranking by the classifier's scores. For two classes, it is the ranking of the
	// second class. For more classes, it is the mean over the classes of the ranking of each class
	// against the rest. These rankings use probabilities instead of scores if the classifier has
	// them. Classes of no record or of every record are left out of the mean.
	Scores Ranking `json:"on_scores"`
}

// Test predicts the classes of labelled records and compares them with the labels.
//
// Errors: *[param.Error] for records of another dimension or with other classes than the
// classifier's.
// Guarantee: none; see the package.
func Test(c *Classifier, d records.Data) (Classification, error) {
	if err := judge.Given("classify.Test", d); err != nil {
		return Classification{}, err
	}
	s := d.Schema()
	if classes := c.Schema().ClassNames(); !slices.Equal(s.ClassNames(), classes) {
		want := fmt.Sprintf("records with the classifier's %d classes, in the same order",
			len(classes))
		return Classification{}, param.New("classify.Test", s, want)
	}
	scores, err := c.Scores(d)
	if err != nil {
		return Classification{}, err
	}
	labels := judge.Labels(d)
	confusion, err := tabulateClasses(labels, judge.Named(scores, s.Classes()), s.Classes())
	if err != nil {
		return Classification{}, err
	}
	// Of more than two classes, records are ranked by probabilities where there are any, since
	// logarithms of densities compare classes, not records.
	if s.Classes() > 2 {
		if p, err := c.Probabilities(d); err == nil {
			scores = p
		}
	}
	return Classification{c.Name(), s.ClassNames(), confusion,
		rankClasses(scores, labels, s.Classes())}, nil
}

func tabulateClasses(labels, named []int32, k int) ([][]int, error) {
	confusion := make([][]int, k)
	for i := range confusion {
		confusion[i] = make([]int, k)
	}
	if len(labels) != len(named) {
		return nil, param.New("classify.Test", "more or fewer labels than records",
			"one label for each record")
	}
	for i, l := range labels {
		if l < 0 || int(l) >= k {
			return nil, param.New(fmt.Sprintf("classify.Test labels[%d]", i), "no class",
				fmt.Sprintf("a class in [0, %d)", k))
		}
		confusion[l][named[i]]++
	}
	return confusion, nil
}

// Records returns the number of records tested.
func (c Classification) Records() int {
	n := 0
	for _, row := range c.Confusion {
		for _, count := range row {
			n += count
		}
	}
	return n
}

// Accuracy returns the fraction of records classified correctly.
func (c Classification) Accuracy() float64 {
	right := 0
	for i, row := range c.Confusion {
		right += row[i]
	}
	return compare.Share(right, c.Records())
}

// MacroF1 returns the mean over classes of the harmonic mean of precision and recall. A class
// without records that is never predicted is left out.
func (c Classification) MacroF1() float64 {
	sum, classes := 0.0, 0
	for i := range c.Confusion {
		if f1, _, met := c.f1(i); met {
			sum += f1
			classes++
		}
	}
	if classes == 0 {
		return 0
	}
	return sum / float64(classes)
}

// WeightedF1 returns the mean over classes of the harmonic mean of precision and recall, with each
// class weighted by its frequency.
func (c Classification) WeightedF1() float64 {
	sum := 0.0
	for i := range c.Confusion {
		f1, actual, _ := c.f1(i)
		sum += f1 * float64(actual)
	}
	return sum / float64(max(c.Records(), 1))
}

// f1 returns the harmonic mean of precision and recall of one class, the number of records of the
// class, and whether it occurs or is predicted at all.
func (c Classification) f1(class int) (f1 float64, actual int, met bool) {
	named := 0
	for j, n := range c.Confusion[class] {
		actual += n
		named += c.Confusion[j][class]
	}
	if actual+named == 0 {
		return 0, 0, false
	}
	return 2 * float64(c.Confusion[class][class]) / float64(actual+named), actual, true
}

// Hard returns the ranking by the predicted class alone: the score of a record for a class is 1 if
// that class is predicted, and 0 otherwise. For two classes, it is the ranking of the second class,
// and its ROC is the balanced accuracy. For more classes, it is a mean over classes, as in Scores.
func (c Classification) Hard() Ranking {
	k := len(c.Confusion)
	if k == 2 {
		return c.hard(1)
	}
	var mean Ranking
	ranked := 0.0
	for i := range c.Confusion {
		if _, actual, _ := c.f1(i); actual == 0 || actual == c.Records() {
			continue
		}
		r := c.hard(i)
		mean.ROC, mean.PRC, ranked = mean.ROC+r.ROC, mean.PRC+r.PRC, ranked+1
	}
	if ranked == 0 {
		return Ranking{0.5, 0}
	}
	return Ranking{mean.ROC / ranked, mean.PRC / ranked}
}

// hard returns the ranking by whether a record is predicted to be of the class.
func (c Classification) hard(class int) Ranking {
	actual, named, total := 0, 0, c.Records()
	for j, n := range c.Confusion[class] {
		actual += n
		named += c.Confusion[j][class]
	}
	right := c.Confusion[class][class]
	if actual == 0 || actual == total {
		return Ranking{0.5, compare.Share(actual, total)}
	}
	recall, fall := compare.Share(right, actual), compare.Share(named-right, total-actual)
	return Ranking{(1 + recall - fall) / 2,
		recall*compare.Share(right, named) + (1-recall)*compare.Share(actual, total)}
}

// String prints the accuracy and the macro F1, marked as not private.
func (c Classification) String() string {
	return fmt.Sprintf("%s%s: accuracy %.4f, macro F1 %.4f over %d records (%s)", judge.Mark,
		c.Model, c.Accuracy(), c.MacroF1(), c.Records(), judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (c Classification) MarshalJSON() ([]byte, error) {
	type plain Classification
	return compare.JSON("classification", struct {
		Accuracy   float64 `json:"accuracy"`
		MacroF1    float64 `json:"macro_f1"`
		WeightedF1 float64 `json:"weighted_f1"`
		Hard       Ranking `json:"on_hard_predictions"`
		plain
	}{c.Accuracy(), c.MacroF1(), c.WeightedF1(), c.Hard(), plain(c)})
}

// Scores holds the measures of one classifier, or their means over several classifiers.
type Scores struct {
	Accuracy   float64 `json:"accuracy"`
	WeightedF1 float64 `json:"weighted_f1"`
	MacroF1    float64 `json:"macro_f1"`
	OnScores   Ranking `json:"on_scores"`
	OnHard     Ranking `json:"on_hard_predictions"`
}

// Measures returns all measures of one classification.
func (c Classification) Measures() Scores {
	return Scores{c.Accuracy(), c.WeightedF1(), c.MacroF1(), c.Scores, c.Hard()}
}
