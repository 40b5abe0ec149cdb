package tables

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
)

// covers says how the counts of candidates are computed. Some tables are counted row by row. The
// counts of every other table are sums of the counts of a table that contains it, its cover. The
// results are the same, since counts are whole numbers.
type covers struct {
	domain  graphical.Domain // with coarse groups: see columnsOf
	groups  []marginal.Grouping
	list    []candidate
	fine    []int     // for each table, the index of the fine table of its attributes, or its own
	counted []int     // indices of the tables that are counted
	summed  []covered // the other tables; each follows its cover
}

// covered is a table whose counts are sums of its cover's counts. The cover has one more attribute,
// or it has the same attributes with their fine groups.
type covered struct {
	table, cover int
	attribute    int // position in the cover of the additional attribute; -1 for fine groups
}

// mostCover is the largest number of cells of a cover. Adding up the cells of larger tables would
// take longer than counting rows drawn from a model.
const mostCover = leastDrawn

func newCovers(domain graphical.Domain, groups []marginal.Grouping, list []candidate) covers {
	c := covers{domain: domain, groups: groups, list: list}
	fine := make(map[[mostFlags]int]int) // the index of each table with fine groups
	for i, one := range list {
		if one.fine() {
			fine[attributeKey(one.attributes)] = i
		}
	}
	best := make([]covered, len(list))
	for i := range best {
		best[i].cover = -1
	}
	offer := func(o covered) {
		b := &best[o.table]
		if n := list[o.cover].cells; n <= mostCover && (b.cover < 0 || n < list[b.cover].cells) {
			*b = o
		}
	}
	for i, one := range list {
		by, ok := fine[attributeKey(one.attributes)]
		if !ok {
			by = i
		}
		if c.fine = append(c.fine, by); by != i {
			offer(covered{i, by, -1})
		}
		for k := range one.attributes {
			rest := slices.Delete(slices.Clone(one.attributes), k, k+1)
			if part, ok := fine[attributeKey(rest)]; ok && one.fine() {
				offer(covered{part, i, k})
			}
		}
	}
	for i, b := range best {
		if b.cover < 0 {
			c.counted = append(c.counted, i)
		} else {
			c.summed = append(c.summed, b)
		}
	}
	slices.SortStableFunc(c.summed, func(a, b covered) int {
		return list[b.table].rank() - list[a.table].rank()
	})
	return c
}

// attributeKey identifies the attributes of a table.
func attributeKey(attributes []int) (key [mostFlags]int) {
	for k, a := range attributes {
		key[k] = a + 1
	}
	return key
}

// fine reports whether the table has no coarse groups.
func (c candidate) fine() bool { return slices.Equal(c.attributes, c.columns) }

// rank is smaller than the rank of every possible cover of the table.
func (c candidate) rank() int {
	if c.fine() {
		return 2*len(c.attributes) + 1
	}
	return 2 * len(c.attributes)
}

// count adds the weights of rows to the counts of the tables that are counted.
func (c covers) count(codes [][]uint16, shares, counts []int64) {
	marginal.InParallel(len(c.counted), func(k int) {
		i := c.counted[k]
		marginal.CountCells(c.domain, c.list[i].columns, codes, shares, c.of(i, counts))
	})
}

// countRows sets the counts to those of rows drawn from a model. It leaves those of tables without
// a fresh attribute; nil means that all are fresh.
func (c covers) countRows(codes [][]uint16, counts []int64, fresh []bool) {
	marginal.InParallel(len(c.counted), func(k int) {
		i := c.counted[k]
		one := c.list[i]
		if fresh == nil || slices.ContainsFunc(one.attributes, func(a int) bool { return fresh[a] }) {
			clear(c.of(i, counts))
			marginal.CountRows(c.domain, one.columns, codes, c.of(i, counts))
		}
	})
}

// of returns the counts of the i-th table.
func (c covers) of(i int, counts []int64) []int64 {
	return counts[c.list[i].first : c.list[i].first+c.list[i].cells]
}

// sum computes the counts of the other tables. It replaces their previous values.
func (c covers) sum(counts []int64) {
	for _, s := range c.summed {
		out, in := c.of(s.table, counts), c.of(s.cover, counts)
		clear(out)
		if s.attribute < 0 {
			for cell, k := range c.list[s.table].merged(c.groups) {
				out[k] += in[cell]
			}
			continue
		}
		attributes := c.list[s.cover].attributes
		size := c.domain[attributes[s.attribute]]
		inner := int(c.domain.Cells(attributes[s.attribute+1:]))
		for ; len(out) > 0; out = out[inner:] {
			for range size {
				for k, n := range in[:inner] {
					out[k] += n
				}
				in = in[inner:]
			}
		}
	}
}
