package evaluate

import (
	"math/bits"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Index answers counting queries over binary records: for every item it holds
// the records that have it, as a bitmap where they are many and as a list where
// they are few. It is safe for concurrent use.
type Index struct {
	records  int
	longest  int
	postings []posting
}

// posting is where one item occurs: exactly one of the two where it does.
type posting struct {
	count int
	rows  []uint32
	words []uint64
}

// NewIndex reads binary vectors, binary images or sets once. An item is a
// coordinate that is 1.
//
// Errors: *[ConfigError] for records of another kind.
func NewIndex(d records.Data) (*Index, error) {
	s := d.Schema()
	if !s.IsBinary() {
		return nil, &ConfigError{"evaluate.NewIndex", s, "binary records or sets"}
	}
	x := &Index{records: d.Len(), postings: make([]posting, s.Dim())}
	visit(d, func(_ int, items []uint32) {
		x.longest = max(x.longest, len(items))
		for _, item := range items {
			x.postings[item].count++
		}
	})
	x.allocate()
	visit(d, func(row int, items []uint32) {
		for _, item := range items {
			x.postings[item].add(uint32(row))
		}
	})
	return x, nil
}

// allocate gives each item whichever form is smaller.
func (x *Index) allocate() {
	words := (x.records + 63) / 64
	for i := range x.postings {
		p := &x.postings[i]
		switch {
		case p.count == 0:
		case p.count >= 2*words:
			p.words = make([]uint64, words)
		default:
			p.rows = make([]uint32, 0, p.count)
		}
	}
}

func (p *posting) add(row uint32) {
	if p.words != nil {
		p.words[row/64] |= 1 << (row % 64)
	} else {
		p.rows = append(p.rows, row)
	}
}

func (p *posting) has(row uint32) bool {
	if p.words != nil {
		return p.words[row/64]>>(row%64)&1 == 1
	}
	_, found := slices.BinarySearch(p.rows, row)
	return found
}

// visit hands out the items of every record.
func visit(d records.Data, each func(row int, items []uint32)) {
	const chunk = 4096
	var (
		b     device.Batch
		items []uint32
	)
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		for i := range b.Rows {
			if b.Sparse != nil {
				each(lo+i, b.Sparse.Row(i))
				continue
			}
			items = items[:0]
			for j, v := range b.Dense.Row(i) {
				if v >= 0.5 {
					items = append(items, uint32(j))
				}
			}
			each(lo+i, items)
		}
	}
}

// Records is the number of records.
func (x *Index) Records() int { return x.records }

// Universe is the number of items.
func (x *Index) Universe() int { return len(x.postings) }

// Longest is the largest number of items in a record.
func (x *Index) Longest() int { return x.longest }

// Any counts the records that have at least one of the items. No items count
// nothing.
func (x *Index) Any(items ...uint32) int {
	union := make([]uint64, (x.records+63)/64)
	for _, item := range items {
		p := x.posting(item)
		for i, w := range p.words {
			union[i] |= w
		}
		for _, row := range p.rows {
			union[row/64] |= 1 << (row % 64)
		}
	}
	return ones(union)
}

// All counts the records that have every one of the items. No items count every
// record.
func (x *Index) All(items ...uint32) int {
	if len(items) == 0 {
		return x.records
	}
	lists := make([]posting, len(items))
	for i, item := range items {
		lists[i] = x.posting(item)
	}
	slices.SortFunc(lists, func(a, b posting) int { return a.count - b.count })
	if lists[0].words == nil {
		return scan(lists[0].rows, lists[1:])
	}
	both := slices.Clone(lists[0].words) // the rarest is a bitmap, so all are
	for _, p := range lists[1:] {
		for i, w := range p.words {
			both[i] &= w
		}
	}
	return ones(both)
}

// scan counts the rows that every posting has.
func scan(rows []uint32, in []posting) int {
	count := 0
	for _, row := range rows {
		if !slices.ContainsFunc(in, func(p posting) bool { return !p.has(row) }) {
			count++
		}
	}
	return count
}

func (x *Index) posting(item uint32) posting {
	if int64(item) >= int64(len(x.postings)) {
		return posting{}
	}
	return x.postings[item]
}

func ones(words []uint64) int {
	count := 0
	for _, w := range words {
		count += bits.OnesCount64(w)
	}
	return count
}
