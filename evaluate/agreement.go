package evaluate

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Agreement says what a classifier calls the samples of one group, such as those
// generated from one cluster.
type Agreement struct {
	Classes []string `json:"classes"`
	Counts  []int    `json:"counts"` // samples by the class they are called
}

// Agreement names generated records. A group that shows one thing is called the
// same throughout.
//
// Errors: *[param.Error] for records of another dimension than those the
// classifier was trained on. They need no labels.
// Guarantee: none where the classifier was trained on real records.
func (c *Classifier) Agreement(samples records.Data) (Agreement, error) {
	named, err := c.Predict(samples)
	if err != nil {
		return Agreement{}, err
	}
	a := Agreement{Classes: c.schema.ClassNames(), Counts: make([]int, c.schema.Classes())}
	for _, l := range named {
		a.Counts[l]++
	}
	return a, nil
}

// Class is the commonest name, the first of equals.
func (a Agreement) Class() int {
	best := 0
	for i, n := range a.Counts {
		if n > a.Counts[best] {
			best = i
		}
	}
	return best
}

// Share is the part of the samples that have the commonest name.
func (a Agreement) Share() float64 {
	total := 0
	for _, n := range a.Counts {
		total += n
	}
	return ratio(top(a.Counts), total)
}

// String prints the commonest name and its share, marked as not private.
func (a Agreement) String() string {
	var b strings.Builder
	name := "none"
	if len(a.Classes) > 0 {
		name = a.Classes[a.Class()]
	}
	fmt.Fprintf(&b, "%s%.1f%% are called %q", mark, 100*a.Share(), name)
	for i, n := range a.Counts {
		if n > 0 && i != a.Class() {
			fmt.Fprintf(&b, ", %d %q", n, a.Classes[i])
		}
	}
	fmt.Fprintf(&b, " (%s)", caveat)
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (a Agreement) MarshalJSON() ([]byte, error) {
	type plain Agreement
	return marshal("label agreement", struct {
		Class int     `json:"class"`
		Share float64 `json:"share"`
		plain
	}{a.Class(), a.Share(), plain(a)})
}

// labelsOf are the labels of all records.
func labelsOf(d records.Data) []int32 {
	const chunk = 4096
	var b device.Batch
	out := make([]int32, 0, d.Len())
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		out = append(out, b.Labels...)
	}
	return out
}
