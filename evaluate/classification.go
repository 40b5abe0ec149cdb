package evaluate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// Classification says how well a classifier names the classes of records.
type Classification struct {
	Model     string   `json:"model"`
	Classes   []string `json:"classes"`
	Confusion [][]int  `json:"confusion"` // records by true class, then by named class
}

// Test names the classes of labelled records and compares.
//
// Errors: *[ConfigError] for records of another dimension or with other classes
// than the classifier's.
// Guarantee: none; see the package.
func (c *Classifier) Test(d records.Data) (Classification, error) {
	s := d.Schema()
	if !slices.Equal(s.ClassNames(), c.schema.ClassNames()) {
		return Classification{}, &ConfigError{"evaluate.Classifier.Test", s, fmt.Sprintf("records with the classifier's %d classes", c.schema.Classes())}
	}
	named, err := c.Predict(d)
	if err != nil {
		return Classification{}, err
	}
	confusion, err := tabulateClasses(d, named)
	return Classification{Model: c.name, Classes: s.ClassNames(), Confusion: confusion}, err
}

func tabulateClasses(d records.Data, named []int32) ([][]int, error) {
	k := d.Schema().Classes()
	labels := labelsOf(d)
	confusion := make([][]int, k)
	for i := range confusion {
		confusion[i] = make([]int, k)
	}
	if len(labels) != len(named) {
		return nil, &ConfigError{"evaluate labels", len(labels), "one for each record"}
	}
	for i, l := range labels {
		confusion[l][named[i]]++
	}
	return confusion, nil
}

// Records is the number of records tested.
func (c Classification) Records() int {
	n := 0
	for _, row := range c.Confusion {
		for _, count := range row {
			n += count
		}
	}
	return n
}

// Accuracy is the part of the records named rightly.
func (c Classification) Accuracy() float64 {
	right := 0
	for i, row := range c.Confusion {
		right += row[i]
	}
	return ratio(right, c.Records())
}

// MacroF1 is the mean over classes of the harmonic mean of precision and recall;
// a class that neither occurs nor is ever named is left out.
func (c Classification) MacroF1() float64 {
	sum, classes := 0.0, 0
	for i, row := range c.Confusion {
		actual, named := 0, 0
		for j := range row {
			actual += row[j]
			named += c.Confusion[j][i]
		}
		if actual+named > 0 {
			sum += 2 * float64(row[i]) / float64(actual+named)
			classes++
		}
	}
	if classes == 0 {
		return 0
	}
	return sum / float64(classes)
}

// String prints the accuracy, marked as not private.
func (c Classification) String() string {
	return fmt.Sprintf("%s%s: accuracy %.4f, macro F1 %.4f over %d records (%s)", mark, c.Model, c.Accuracy(), c.MacroF1(), c.Records(), caveat)
}

// Table prints the confusion matrix.
func (c Classification) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s: records by true class (down) and named class (across) (%s)\n", mark, c.Model, caveat)
	for i, row := range c.Confusion {
		fmt.Fprintf(&b, "%12s |", c.Classes[i])
		for _, n := range row {
			fmt.Fprintf(&b, " %6d", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (c Classification) MarshalJSON() ([]byte, error) {
	type plain Classification
	return marshal("classification", struct {
		Accuracy float64 `json:"accuracy"`
		MacroF1  float64 `json:"macro_f1"`
		plain
	}{c.Accuracy(), c.MacroF1(), plain(c)})
}

// Utility compares a classifier trained on synthetic records with the same
// trained on real ones, both tested on real records that neither saw.
type Utility struct {
	Synthetic Classification `json:"synthetic"` // trained on synthetic, tested on real
	Real      Classification `json:"real"`      // trained on real, tested on real
}

// Utility trains on synthetic and on real records in turn and tests on held-out
// real ones.
//
// Errors: those of [Learner.Fit] and [Classifier.Test], joined.
// Guarantee: none; see the package.
func (l Learner) Utility(synthetic, train, test records.Data) (Utility, error) {
	a, first := l.fitAndTest(synthetic, test)
	b, second := l.fitAndTest(train, test)
	return Utility{Synthetic: a, Real: b}, errors.Join(first, second)
}

func (l Learner) fitAndTest(train, test records.Data) (Classification, error) {
	c, err := l.Fit(train)
	if err != nil {
		return Classification{}, err
	}
	return c.Test(test)
}

// Gap is the accuracy lost by training on synthetic records.
func (u Utility) Gap() float64 { return u.Real.Accuracy() - u.Synthetic.Accuracy() }

// String prints both accuracies, marked as not private.
func (u Utility) String() string {
	return fmt.Sprintf("%s%s tested on %d real records: accuracy %.4f trained on synthetic, %.4f on real ones (%s)",
		mark, u.Synthetic.Model, u.Synthetic.Records(), u.Synthetic.Accuracy(), u.Real.Accuracy(), caveat)
}

// MarshalJSON writes the result with its caveat.
func (u Utility) MarshalJSON() ([]byte, error) {
	type plain Utility
	return marshal("train on synthetic, test on real", plain(u))
}
