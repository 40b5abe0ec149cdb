package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Statistics compares synthetic with real sets: how often items occur, how often they occur
// together, how large the sets are, and which combinations are the most frequent. The zero value is
// ready to use.
type Statistics struct {
	Pairs int // number of most popular real items whose pairs are compared; 0 for 100
	Top   int // number of most frequent combinations; 0 for 100
	Size  int // their largest number of items; 0 for 4
}

func (s Statistics) withDefaults() Statistics {
	s.Pairs, s.Top, s.Size = cmp.Or(s.Pairs, 100), cmp.Or(s.Top, 100), cmp.Or(s.Size, 4)
	return s
}

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (s Statistics) validate() error {
	var errs []error
	for _, f := range []struct {
		name     string
		value    int
		lo, most int
	}{{"Pairs", s.Pairs, 2, 1 << 12}, {"Top", s.Top, 1, 1 << 16}, {"Size", s.Size, 2, 16}} {
		if f.value != 0 && (f.value < f.lo || f.value > f.most) {
			errs = append(errs,
				param.New("evaluate.Statistics."+f.name, f.value,
					fmt.Sprintf("a number in [%d, %d], 0 for the default", f.lo, f.most)))
		}
	}
	return errors.Join(errs...)
}

// SetReport describes the differences between synthetic and real sets. Frequencies are fractions of
// the records.
type SetReport struct {
	Items    Difference `json:"items"`    // frequencies of all items
	Pairs    Difference `json:"pairs"`    // of pairs of popular items
	Sizes    float64    `json:"sizes"`    // total variation distance of the sizes
	MeanReal float64    `json:"mean"`     // items of a real record
	MeanFake float64    `json:"mean_syn"` // and of a synthetic one
	// fraction of the most frequent real combinations that are among the synthetic ones
	Top     float64 `json:"top"`
	Support float64 `json:"support"` // mean relative error of their frequencies
}

// Difference describes differences of frequencies.
type Difference struct {
	Mean        float64 `json:"mean"` // of their absolute values
	Max         float64 `json:"max"`
	Correlation float64 `json:"correlation"`
}

// Compare compares synthetic with real sets (or binary vectors).
//
// Errors: *[param.Error] for invalid settings, records that are not binary, different
// universes, or no records at all.
// Guarantee: none; see the package.
func (s Statistics) Compare(real, synthetic records.Data) (SetReport, error) {
	truth, err := NewIndex(real)
	if err != nil {
		return SetReport{}, err
	}
	guess, err := NewIndex(synthetic)
	if err != nil {
		return SetReport{}, err
	}
	return s.CompareIndexes(truth, guess)
}

// CompareIndexes is like Compare for records that are already indexed.
//
// Errors: see [Statistics.Compare].
func (s Statistics) CompareIndexes(real, synthetic *Index) (SetReport, error) {
	err := errors.Join(s.validate(), checkPair("evaluate.Statistics", real, synthetic))
	if err != nil {
		return SetReport{}, err
	}
	s = s.withDefaults()
	var out SetReport
	out.Items = difference(real.frequencies(), synthetic.frequencies())
	popular := real.popular(s.Pairs)
	out.Pairs = difference(real.pairFrequencies(popular), synthetic.pairFrequencies(popular))
	out.Sizes, out.MeanReal, out.MeanFake = sizeDistance(real, synthetic)
	out.Top, out.Support = s.combinations(real, synthetic)
	return out, nil
}

func checkPair(path string, real, synthetic *Index) error {
	if real == nil || synthetic == nil || real.hiddenIndex == nil || synthetic.hiddenIndex == nil {
		return param.New(path+" index", nil, "an index, made by NewIndex")
	}
	if real.Universe() != synthetic.Universe() {
		return param.New(path+" universe", synthetic.Universe(),
			fmt.Sprintf("%d items, as in the real records", real.Universe()))
	}
	if real.records == 0 || synthetic.records == 0 {
		return param.New(path+" records", "none", "real and synthetic records")
	}
	return nil
}

// frequencies returns the fraction of the records that have each item.
func (x *Index) frequencies() []float64 {
	out := make([]float64, len(x.postings))
	for i, p := range x.postings {
		out[i] = compare.Share(p.count, x.records)
	}
	return out
}

// popular returns the n most frequent items; among equals the smaller number comes first.
func (x *Index) popular(n int) []uint32 {
	items := make([]uint32, len(x.postings))
	for i := range items {
		items[i] = uint32(i)
	}
	slices.SortStableFunc(items, func(a, b uint32) int {
		return cmp.Compare(x.postings[b].count, x.postings[a].count)
	})
	return items[:min(n, len(items))]
}

func (x *Index) pairFrequencies(items []uint32) []float64 {
	m := len(items)
	out := make([]float64, m*(m-1)/2)
	compare.Workers(m, func() func(int) {
		return func(i int) {
			for j := range i {
				out[i*(i-1)/2+j] = compare.Share(x.All(items[i], items[j]), x.records)
			}
		}
	})
	return out
}

func difference(real, fake []float64) Difference {
	var d Difference
	n := float64(max(len(real), 1))
	var mx, my, xx, yy, xy float64
	for i, x := range real {
		gap := math.Abs(x - fake[i])
		d.Mean += gap / n
		d.Max = max(d.Max, gap)
		mx, my = mx+x/n, my+fake[i]/n
	}
	for i, x := range real {
		a, b := x-mx, fake[i]-my
		xx, yy, xy = xx+a*a, yy+b*b, xy+a*b
	}
	if xx > 0 && yy > 0 {
		d.Correlation = xy / math.Sqrt(xx*yy)
	}
	return d
}

func sizeDistance(real, fake *Index) (distance, meanReal, meanFake float64) {
	for size := range max(len(real.sizes), len(fake.sizes)) {
		a, b := real.sizeShare(size), fake.sizeShare(size)
		distance += math.Abs(a-b) / 2
		meanReal += float64(size) * a
		meanFake += float64(size) * b
	}
	return distance, meanReal, meanFake
}

func (x *Index) sizeShare(size int) float64 {
	if size >= len(x.sizes) {
		return 0
	}
	return compare.Share(x.sizes[size], x.records)
}

// combinations compares the most frequent combinations of two items or more.
func (s Statistics) combinations(real, fake *Index) (found, support float64) {
	want, have := real.TopItemsets(s.Top, s.Size), map[string]bool{}
	for _, set := range fake.TopItemsets(s.Top, s.Size) {
		have[fmt.Sprint(set.Items)] = true
	}
	for _, set := range want {
		if have[fmt.Sprint(set.Items)] {
			found++
		}
		truth := float64(set.Count) / float64(real.records)
		support += math.Abs(compare.Share(fake.All(set.Items...), fake.records)-truth) / truth
	}
	n := float64(max(len(want), 1))
	return found / n, support / n
}

// String returns a line for each statistic, marked as not private.
func (r SetReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%ssets compared (%s)\n", judge.Mark, judge.Caveat)
	fmt.Fprintf(&b, "  items    mean difference %.5f, largest %.4f, correlation %.4f\n", r.Items.Mean,
		r.Items.Max, r.Items.Correlation)
	fmt.Fprintf(&b, "  pairs    mean difference %.5f, largest %.4f, correlation %.4f\n", r.Pairs.Mean,
		r.Pairs.Max, r.Pairs.Correlation)
	fmt.Fprintf(&b, "  sizes    total variation %.4f, means %.3f and %.3f\n", r.Sizes, r.MeanReal,
		r.MeanFake)
	fmt.Fprintf(&b,
		"  frequent combinations: %.1f %% found, mean relative error of their frequencies %.4f",
		100*r.Top, r.Support)
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (r SetReport) MarshalJSON() ([]byte, error) {
	type plain SetReport
	return compare.JSON("item statistics", plain(r))
}
