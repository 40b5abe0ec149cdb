package evaluate

import (
	"cmp"
	"slices"
)

// Itemset is a combination of items and how many records have all of them.
type Itemset struct {
	Items []uint32
	Count int
}

// TopItemsets are the k most frequent combinations of two up to size items, the most frequent first and in order of
// their items among equals. It walks depth first over ever rarer prefixes (Zaki's Eclat, 2000) with the k-th best count so
// far as the least support, since a combination is never more frequent than a part of it.
func (x *Index) TopItemsets(k, size int) []Itemset {
	m := &miner{size: size, k: k}
	if k < 1 || size < 2 {
		return nil
	}
	order := x.popular(len(x.postings))
	for i, a := range order {
		first := x.postings[a]
		if first.count == 0 || !m.wanted(first.count) {
			break // those that follow are rarer still
		}
		m.extend(x, []uint32{a}, first.runs, order[:i])
	}
	return m.best
}

// miner keeps the best combinations found.
type miner struct {
	k, size int
	best    []Itemset
}

// wanted reports whether a combination of this count could still be among the best.
func (m *miner) wanted(count int) bool {
	return len(m.best) < m.k || count >= m.best[len(m.best)-1].Count
}

// extend tries every more popular item beside a prefix.
func (m *miner) extend(x *Index, prefix []uint32, runs []container, candidates []uint32) {
	for i, item := range candidates {
		both, count := meet(runs, x.postings[item].runs)
		if count == 0 || !m.wanted(count) {
			continue
		}
		items := append(slices.Clone(prefix), item)
		m.keep(items, count)
		if len(items) < m.size {
			m.extend(x, items, both, candidates[:i])
		}
	}
}

func (m *miner) keep(items []uint32, count int) {
	items = slices.Sorted(slices.Values(items))
	set := Itemset{items, count}
	at, _ := slices.BinarySearchFunc(m.best, set, func(a, b Itemset) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Items, b.Items))
	})
	m.best = slices.Insert(m.best, at, set)
	m.best = m.best[:min(len(m.best), m.k)]
}

// meet is where two postings both occur.
func meet(a, b []container) (both []container, count int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].block < b[0].block:
			a = a[1:]
		case b[0].block < a[0].block:
			b = b[1:]
		default:
			if rows := intersection(nil, []container{a[0], b[0]}); len(rows) > 0 {
				both = append(both, container{block: a[0].block, rows: rows})
				count += len(rows)
			}
			a, b = a[1:], b[1:]
		}
	}
	return both, count
}
