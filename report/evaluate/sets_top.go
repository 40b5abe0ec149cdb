package evaluate

import (
	"cmp"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// Set is a combination of items and the number of records that have all of them.
type Set struct {
	Items []uint32
	Count int
}

// TopItemsets returns the k most frequent combinations of two to size items, most frequent first.
// Equally frequent combinations are ordered by their items.
//
// Pairs of popular items are counted in one pass over the records. Larger combinations grow from
// the most frequent pairs, depth first, by adding more popular items (Zaki's Eclat, 2000). The
// smallest support is the k-th best count so far, since a combination is never more frequent than
// its subsets.
func (x *Index) TopItemsets(k, size int) []Set {
	if k < 1 || size < 2 {
		return nil
	}
	order := x.popular(len(x.postings))
	m := &miner{index: x, order: order, size: size, k: k,
		pairs: x.countPairs(order[:min(len(order), pairItems)])}
	m.growPairs()
	for rank := pairItems; rank < len(order) && m.wanted(x.postings[order[rank]].count) &&
		x.postings[order[rank]].count > 0; rank++ {
		m.extend([]int{rank}, x.postings[order[rank]].runs)
	}
	return m.best
}

// pairItems is the number of popular items whose pairs are all counted at once.
const pairItems = 2048

// pairCounts holds the number of records with both items of each pair, where the ranks of the items
// are a > b.
type pairCounts []uint32

func (p pairCounts) at(a, b int) int { return int(p[a*(a-1)/2+b]) }

func (x *Index) countPairs(items []uint32) pairCounts {
	n := len(items)
	rank := make([]int32, len(x.postings))
	for i := range rank {
		rank[i] = -1
	}
	for r, item := range items {
		rank[item] = int32(r)
	}
	total := make(pairCounts, n*(n-1)/2)
	var lock sync.Mutex
	var workers []pairCounts
	compare.Workers((x.records+blockRows-1)/blockRows, func() func(int) {
		own := make(pairCounts, len(total))
		lock.Lock()
		workers = append(workers, own)
		lock.Unlock()
		r := newBlockReader(x.data)
		var row []int32
		return func(block int) {
			lo := block * blockRows
			r.visit(lo, min(lo+blockRows, x.records), func(_ int, set []uint32) {
				row = own.add(row[:0], set, rank)
			})
		}
	})
	for _, own := range workers {
		for i, c := range own {
			total[i] += c
		}
	}
	return total
}

// add counts every pair of one record.
func (p pairCounts) add(row []int32, items []uint32, rank []int32) []int32 {
	for _, item := range items {
		if r := rank[item]; r >= 0 {
			row = append(row, r)
		}
	}
	slices.Sort(row)
	for i, a := range row {
		of := p[int(a)*(int(a)-1)/2:]
		for _, b := range row[:i] {
			of[b]++
		}
	}
	return row
}

// miner keeps the best combinations found. Items are identified by their rank.
type miner struct {
	index   *Index
	order   []uint32
	pairs   pairCounts
	k, size int
	best    []Set
}

// wanted reports whether a combination with this count could still be among the best.
func (m *miner) wanted(count int) bool {
	return len(m.best) < m.k || count >= m.best[len(m.best)-1].Count
}

// growPairs keeps the best pairs. It extends a pair if this could lead to better combinations.
func (m *miner) growPairs() {
	type pair struct{ a, b int }
	var frequent []pair
	for a := range min(len(m.order), pairItems) {
		for b := range a {
			if n := m.pairs.at(a, b); n > 0 && m.wanted(n) {
				m.keep([]int{a, b}, n)
				frequent = append(frequent, pair{a, b})
			}
		}
	}
	slices.SortStableFunc(frequent, func(p, q pair) int {
		return cmp.Compare(m.pairs.at(q.a, q.b), m.pairs.at(p.a, p.b))
	})
	for _, p := range frequent {
		if m.size == 2 || !m.wanted(m.pairs.at(p.a, p.b)) {
			return
		}
		both, _ := meet(m.runs(p.a), m.runs(p.b))
		m.extend([]int{p.a, p.b}, both)
	}
}

func (m *miner) runs(rank int) []container { return m.index.postings[m.order[rank]].runs }

// extend adds to the prefix, in turn, every item more popular than its last one.
func (m *miner) extend(prefix []int, runs []container) {
	for rank := range prefix[len(prefix)-1] {
		if !m.promising(prefix, rank) {
			continue
		}
		both, count := meet(runs, m.runs(rank))
		if count == 0 || !m.wanted(count) {
			continue
		}
		longer := append(slices.Clone(prefix), rank)
		m.keep(longer, count)
		if len(longer) < m.size {
			m.extend(longer, both)
		}
	}
}

// promising reports whether every pair of the combination is frequent enough.
func (m *miner) promising(prefix []int, rank int) bool {
	for _, a := range prefix {
		if a < pairItems && !m.wanted(m.pairs.at(a, rank)) {
			return false
		}
	}
	return true
}

func (m *miner) keep(ranks []int, count int) {
	items := make([]uint32, len(ranks))
	for i, r := range ranks {
		items[i] = m.order[r]
	}
	slices.Sort(items)
	set := Set{items, count}
	at, _ := slices.BinarySearchFunc(m.best, set, func(a, b Set) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Items, b.Items))
	})
	m.best = slices.Insert(m.best, at, set)
	m.best = m.best[:min(len(m.best), m.k)]
}

// meet returns the intersection of two postings.
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
