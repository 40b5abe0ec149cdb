package tabular

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// Groups draws distinct groups of way columns each; most bounds the number of groups.
//
// Errors: *[param.Error] for a size outside [1, columns].
func (t *Table) Groups(way, most int, seed uint64) ([][]int, error) {
	n := len(t.columns)
	if way < 1 || way > n {
		return nil, param.New("tabular.Table.Groups way", way, fmt.Sprintf("1 to %d", n))
	}
	rng := rand.New(rand.NewPCG(seed, 0x67726f757073))
	seen, out := map[string]bool{}, [][]int(nil)
	for range 20 * most { // a group that was drawn before counts as a try
		if len(out) == most {
			break
		}
		var group []int
		for _, j := range compare.Subset(rng, n, way) {
			group = append(group, int(j))
		}
		if key := fmt.Sprint(group); !seen[key] {
			seen[key] = true
			out = append(out, group)
		}
	}
	slices.SortFunc(out, slices.Compare[[]int])
	return out, nil
}

// Variation returns, for each group of columns, the total variation distance of their joint levels;
// 0 means identical. Numbers are divided into bins between their public bounds, and a missing value
// is a level.
//
// Errors: *[param.Error] for tables of different columns, or without records.
// Guarantee: none; see the package.
func Variation(real, synthetic *Table, groups [][]int, bins int) ([]float64, error) {
	if err := alike("tabular.Variation", real, synthetic); err != nil {
		return nil, err
	}
	a, b := real.binned(bins), synthetic.binned(bins)
	out := make([]float64, len(groups))
	compare.Each(len(groups), func(i int) {
		p, q := make([]prepared, 0, 8), make([]prepared, 0, 8)
		for _, j := range groups[i] {
			p, q = append(p, a[j]), append(q, b[j])
		}
		out[i] = tabulate(p...).variation(tabulate(q...))
	})
	return out, nil
}

// binned returns the columns as levels, with numbers in bins.
func (t *Table) binned(bins int) []prepared {
	out := make([]prepared, len(t.columns))
	for j, c := range t.columns {
		p := prepared{column: c}
		p.coded, p.levels = c.coded(bins)
		out[j] = p
	}
	return out
}
