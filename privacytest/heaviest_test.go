package privacytest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// largestNorm returns the largest norm of the rows that are only in the larger data set, or that
// differ.
func largestNorm(p Pair) (most float64) {
	data, _ := records.RowsOf(p.Neighbour)
	before, _ := records.RowsOf(p.Data)
	known := map[string]int{}
	for _, row := range recordRows(before) {
		known[row.leaf]++
	}
	for i, row := range recordRows(data) {
		if known[row.leaf]--; known[row.leaf] >= 0 {
			continue
		}
		var b device.Batch
		data.Range(i, i+1, &b)
		square := 0.0
		if b.Sparse != nil {
			square = float64(len(b.Sparse.Row(0)))
		} else {
			for _, v := range b.Dense.Row(0) {
				square += float64(v) * float64(v)
			}
		}
		if s := math.Sqrt(square); !math.IsInf(s, 0) && !(s > 1e20) {
			most = max(most, s)
		}
	}
	return most
}

// TestPairsDifferInTheHeaviest: among the pairs is one whose data sets differ in a record of the
// largest norm, at every edge and for every kind of record and bounds; and persons have one row, as
// many as are read, and many more.
func TestPairsDifferInTheHeaviest(t *testing.T) {
	for _, s := range []records.Schema{records.Interval(2, -3, 1), records.Interval(2, -1, 3),
		records.Interval(2, 2, 5), records.Binary(3), records.Sets(20, 5),
		records.Interval(2, -3, 1).WithLabels("a", "b"), records.Interval(2, -3, 1).ByPerson(2),
		records.Interval(2, -1, 3).ByPerson(3), records.Sets(20, 5).ByPerson(2)} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			near := Neighbours(t, s, r, 4, 1)
			last := edges(t, s, r, 1, func(i, n int) bool { return i == n-1 })
			for what, list := range map[string][]Pair{"neighbours": near, "edges": last} {
				most := 0.0
				for _, p := range list {
					most = max(most, largestNorm(p))
				}
				if math.Abs(most-s.MaxNorm()) > 1e-5*s.MaxNorm() {
					t.Errorf("%v, %v: the %s differ in a record of norm %g at most, want %g", s, r, what, most,
						s.MaxNorm())
				}
			}
			for _, rows := range []int{1, s.RowsPerPerson(), 10 * s.RowsPerPerson()} {
				who := fmt.Sprintf("a person of %d rows", rows)
				if s.RowsPerPerson() > 0 && !slices.ContainsFunc(near, func(p Pair) bool {
					return strings.Contains(p.Name, who)
				}) {
					t.Errorf("%v, %v: no pair differs in %s", s, r, who)
				}
			}
		}
	}
}
