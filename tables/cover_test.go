package tables

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/records"
)

// TestSummedCountsAreCounts compares the counts that are sums of other tables' counts with counts
// of the rows, for every candidate. Counts are computed twice, for rows and for additional rows.
func TestSummedCountsAreCounts(t *testing.T) {
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("level ", i))
		}
		return list
	}
	class := records.Label("class", "u", "v", "w")
	for name, c := range map[string]struct {
		columns        []records.Column
		order, counted int // counted is the number of tables that are counted row by row
	}{
		"all groups of three": {[]records.Column{records.Numeric("x", 0, 1).WithMissing(),
			records.Categorical("a", names(5)...), records.Integer("n", 0, 6), class}, 3, 4},
		"pairs": {[]records.Column{records.Numeric("x", 0, 1), records.Flag("f", "no", "yes"),
			records.Categorical("a", names(9)...), class}, 2, 6},
		"large tables": {[]records.Column{records.Categorical("a", names(60)...),
			records.Categorical("b", names(70)...), records.Categorical("c", names(80)...), class}, 3, 12},
		"no class": {[]records.Column{records.Numeric("x", 0, 1), records.Numeric("y", 0, 1),
			records.Integer("n", 0, 3)}, 3, 1},
	} {
		s := must(records.NewSchema(c.columns...))(t)
		m := methodFor(t, s, 0)
		m.order = c.order
		var groups []marginal.Grouping
		for _, a := range m.attributes {
			part := make([]float64, a.Codes)
			for code := range part {
				part[code] = 1 / float64(a.Codes)
			}
			g := a.Grouped(part, 0, 8)
			a.Coarsen(&g, 3)
			groups = append(groups, g)
		}
		domain := columnsOf(groups)
		list := m.candidates(domain)
		tables := newCovers(domain, groups, list)
		if len(tables.counted) != c.counted || len(tables.counted)+len(tables.summed) != len(list) {
			t.Errorf("%s: %d tables are counted and %d summed, want %d counted of %d", name,
				len(tables.counted), len(tables.summed), c.counted, len(list))
		}
		rng := rand.New(rand.NewPCG(5, 6))
		last := list[len(list)-1]
		got, want := make([]int64, last.first+last.cells), make([]int64, last.first+last.cells)
		var buffers [][]uint16
		for range 2 {
			codes, shares := make([][]uint16, len(groups)), make([]int64, 500)
			for i := range shares {
				shares[i] = rng.Int64N(9)
				for j, g := range groups {
					codes[j] = append(codes[j], uint16(rng.IntN(g.Size)))
				}
			}
			all := withCoarse(groups, codes, &buffers)
			tables.count(all, shares, got)
			tables.sum(got)
			for _, one := range list {
				marginal.CountCells(domain, one.columns, all, shares, want[one.first:one.first+one.cells])
			}
			for i, one := range list {
				if !slices.Equal(tables.of(i, got), tables.of(i, want)) {
					t.Errorf("%s: the summed counts of columns %v differ from counted ones", name, one.columns)
				}
			}
			rows, ones := make([]int64, len(got)), make([]int64, len(got))
			tables.countRows(all, rows, nil)
			tables.count(all, slices.Repeat([]int64{1}, len(shares)), ones)
			if !slices.Equal(rows, ones) {
				t.Errorf("%s: numbers of rows differ from counts with weights of 1", name)
			}
		}
	}
}
