package tabular_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/tabular"
)

func read(t *testing.T, d records.Data) *tabular.Table {
	t.Helper()
	table, err := tabular.Read(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestHistograms checks that the shares and the fraction of missing values add up to 1, and
// compares the shares with counts.
func TestHistograms(t *testing.T) {
	for name, pair := range tables(t) {
		for _, f := range pair {
			for j, h := range read(t, f).Histograms(7) {
				sum := h.Missing
				for i, s := range h.Shares {
					sum += s.Part
					n := 0
					for r := range f.Len() {
						v := f.Number(r, j)
						last := i == len(h.Shares)-1
						if h.Number && v >= s.From && (v < s.To || last && v <= s.To) ||
							!h.Number && s.Level == f.Value(r, j) {
							n++
						}
					}
					if math.Abs(float64(n)/float64(f.Len())-s.Part) > 1e-12 {
						t.Errorf("%s: %s [%v, %v) %s is %v, counted %d", name, h.Column, s.From, s.To, s.Level,
							s.Part, n)
					}
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("%s: shares of %s add up to %v", name, h.Column, sum)
				}
			}
		}
	}
}

// TestVariationByHand counts the joint levels of three columns.
func TestVariationByHand(t *testing.T) {
	pair := tables(t)["missing"]
	a, b := read(t, pair[0]), read(t, pair[1])
	groups := [][]int{{4, 5, 6}, {5, 6, 7}} // columns of levels
	got, err := tabular.Variation(a, b, groups, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range groups {
		shares := [2]map[string]float64{{}, {}}
		for side, f := range pair {
			for r := range f.Len() {
				key := f.Value(r, g[0]) + "|" + f.Value(r, g[1]) + "|" + f.Value(r, g[2])
				shares[side][key] += 1 / float64(f.Len())
			}
		}
		want := 0.0
		for key, p := range shares[0] {
			want += math.Abs(p-shares[1][key]) / 2
		}
		for key, q := range shares[1] {
			if _, both := shares[0][key]; !both {
				want += q / 2
			}
		}
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("group %v has distance %v, want %v", g, got[i], want)
		}
	}
	same, err := tabular.Variation(a, a, groups, 5)
	if err != nil || same[0] != 0 || same[1] != 0 {
		t.Errorf("a table has the distances %v from itself (%v), want 0", same, err)
	}
}

func TestGroups(t *testing.T) {
	a := read(t, tables(t)["missing"][0])
	groups, err := a.Groups(3, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range groups {
		if !(0 <= g[0] && g[0] < g[1] && g[1] < g[2] && g[2] < 8) || seen[fmt.Sprint(g)] {
			t.Errorf("group %v", g)
		}
		seen[fmt.Sprint(g)] = true
	}
	// There are 56 groups of 3 out of 8 columns. The probability that 20,000 draws miss a group is
	// 10^-154.
	if len(groups) != 56 {
		t.Errorf("%d groups", len(groups))
	}
	for _, way := range []int{0, 9} {
		if _, err := a.Groups(way, 1, 1); err == nil {
			t.Errorf("groups of %d columns are accepted", way)
		}
	}
}

// TestQueriesAreCounts checks that an answer is a count of records. The counts of two parts must
// add up to the count of all records. Most queries must count some records but not all.
func TestQueriesAreCounts(t *testing.T) {
	f := tables(t)["missing"][0]
	whole := read(t, f)
	asked := whole.Queries(200, 5)
	all := whole.Answer(asked)
	first, rest := read(t, f.Slice(0, 100)), read(t, f.Slice(100, f.Len()))
	a, b := first.Answer(asked), rest.Answer(asked)
	between := 0
	for i := range all {
		n := all[i] * float64(f.Len())
		if math.Abs(n-math.Round(n)) > 1e-9 ||
			math.Abs(n-a[i]*100-b[i]*float64(f.Len()-100)) > 1e-9 {
			t.Errorf("query %d: %v of all, %v and %v of the parts", i, all[i], a[i], b[i])
		}
		if n > 0 && all[i] < 1 {
			between++
		}
	}
	if between < 100 {
		t.Errorf("only %d of 200 queries count some records but not all", between)
	}
}

// TestVectors checks that the coordinates of vectors are columns.
func TestVectors(t *testing.T) {
	d, err := records.FromFlat(records.Interval(2, -1, 3).WithLabels("a", "b"),
		[]float32{-1, 3, 0, 1, 1, 1, 5, -9}, 0, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := read(t, d).Histograms(4)
	want := [][]float64{{0.25, 0.25, 0.25, 0.25}, {0.25, 0, 0.5, 0.25}, {0.25, 0.75}}
	for j := range want {
		for i, p := range want[j] {
			if h[j].Shares[i].Part != p {
				t.Errorf("column %d: %+v, want %v", j, h[j].Shares, want[j])
			}
		}
	}
	some, err := tabular.Read(d, []int32{1, 2})
	if err != nil || some.Len() != 2 || some.Histograms(2)[2].Shares[1].Part != 1 {
		t.Errorf("two rows are %d (%v)", some.Len(), err)
	}
}

// TestReadRefuses checks that records without columns and tables of different columns are refused.
// A table must print as private.
func TestReadRefuses(t *testing.T) {
	for _, d := range []records.Data{nil, must(records.FromItems(records.Sets(3, 3), nil)),
		must(records.FromFlat(records.Image(2, 2), nil))} {
		if _, err := tabular.Read(d, nil); err == nil {
			t.Errorf("%T is accepted", d)
		}
	}
	a, b := read(t, tables(t)["missing"][0]), read(t, tables(t)["numbers"][0])
	if _, err := tabular.Compare(a, b, 0, 0); err == nil {
		t.Error("tables of different columns are accepted")
	}
	if _, err := tabular.Compare(a, nil, 0, 0); err == nil {
		t.Error("a nil table is accepted")
	}
	if got := fmt.Sprintf("%v %+v %#v", a, *a, struct{ T *tabular.Table }{a}); len(got) > 90 {
		t.Errorf("a table prints as %.200s", got)
	}
}

func must[D records.Data](d D, err error) records.Data {
	if err != nil {
		panic(err)
	}
	return d
}
