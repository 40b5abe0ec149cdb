package evaluate

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Agreement counts the classes that a classifier assigns to the samples of one group,
// such as those generated from one cluster.
type Agreement struct {
	Classes []string `json:"classes"`
	Counts  []int    `json:"counts"` // number of samples assigned to each class
}

// LabelAgreement classifies generated records. If a group shows one class, all its records should
// get the same label.
//
// Errors: *[param.Error] for records of another dimension than the classifier's training records.
// The records need no labels. Guarantee: none if the classifier was trained on real records.
func LabelAgreement(c *classify.Classifier, samples records.Data) (Agreement, error) {
	if c == nil {
		return Agreement{}, param.New("evaluate.LabelAgreement c", nil, "a classifier")
	}
	named, err := c.Predict(samples)
	if err != nil {
		return Agreement{}, err
	}
	s := c.Schema()
	a := Agreement{Classes: s.ClassNames(), Counts: make([]int, s.Classes())}
	for _, l := range named {
		a.Counts[l]++
	}
	return a, nil
}

// Class returns the most frequent class, or the first of equally frequent classes.
func (a Agreement) Class() int {
	best := 0
	for i, n := range a.Counts {
		if n > a.Counts[best] {
			best = i
		}
	}
	return best
}

// Share returns the fraction of samples in the most frequent class.
func (a Agreement) Share() float64 {
	total := 0
	for _, n := range a.Counts {
		total += n
	}
	return compare.Share(top(a.Counts), total)
}

// String prints the most frequent class and its share, marked as not private.
func (a Agreement) String() string {
	var b strings.Builder
	name := "none"
	if len(a.Classes) > 0 {
		name = a.Classes[a.Class()]
	}
	fmt.Fprintf(&b, "%s%.1f%% are called %q", judge.Mark, 100*a.Share(), name)
	for i, n := range a.Counts {
		if n > 0 && i != a.Class() {
			fmt.Fprintf(&b, ", %d %q", n, a.Classes[i])
		}
	}
	fmt.Fprintf(&b, " (%s)", judge.Caveat)
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (a Agreement) MarshalJSON() ([]byte, error) {
	type plain Agreement
	return compare.JSON("label agreement", struct {
		Class int     `json:"class"`
		Share float64 `json:"share"`
		plain
	}{a.Class(), a.Share(), plain(a)})
}
