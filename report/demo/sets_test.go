package demo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/report/demo"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestSetSource(t *testing.T) {
	g := demo.SetSource{Records: 20000, Universe: 200, MeanItems: 5.26, MaxItems: 57, Skew: 0.9,
		Communities: 12, Affinity: 0.7, Seed: 2}
	table := must(g.Make())(t)
	total, longest := 0, 0
	counts := make([]int, 200)
	for i := range table.Len() {
		items := table.Items(i)
		total += len(items)
		longest = max(longest, len(items))
		for _, item := range items {
			counts[item]++
		}
	}
	slices.Sort(counts)
	if mean := float64(total) / 20000; mean < 5.1 || mean > 5.4 || longest > 57 || longest < 30 ||
		counts[199] < 5*counts[20] {
		t.Errorf("got mean %.2f, longest %d, counts from %d to %d", mean, longest, counts[0], counts[199])
	}
	if again := must(g.Make())(t); !slices.Equal(again.Items(777), table.Items(777)) {
		t.Error("the same source makes other sets")
	}
	bad := demo.SetSource{Records: -1, Universe: 5, MeanItems: 0.5, MaxItems: 4, Skew: -1, Shift: -1,
		Communities: 9, Affinity: 2}
	if _, err := bad.Make(); err == nil || strings.Count(err.Error(), "SetSource") != 6 {
		t.Errorf("got error %v, want six mistakes", err)
	}
	for _, g := range []demo.SetSource{demo.CallRecords(), demo.TransitRecords()} {
		if err := g.Validate(); err != nil {
			t.Error(err)
		}
	}
}
