package evaluate

import (
	"sync"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// AnyEach counts, for each query, the records that have at least one of its items. It answers many
// queries at once. It makes one pass over the records if this is cheaper than joining all postings.
// Every item then gets a word for each 64 queries, with a bit for each query that contains the
// item. The bitwise or of the words of a record's items shows the queries that the record
// satisfies.
func (x *Index) AnyEach(queries [][]uint32) []int {
	counts := make([]int, len(queries))
	joined := 0
	for _, q := range queries {
		for _, item := range q {
			joined += x.Count(item)
		}
	}
	if words := (len(queries) + 63) / 64; joined > words*(x.items+x.records) {
		x.scanAny(queries, counts)
		return counts
	}
	compare.Workers(len(queries), func() func(int) {
		return func(i int) { counts[i] = x.Any(queries[i]...) }
	})
	return counts
}

// scanAny makes one pass over the records.
func (x *Index) scanAny(queries [][]uint32, counts []int) {
	masks := make([][]uint64, (len(queries)+63)/64)
	for i := range masks {
		masks[i] = make([]uint64, len(x.postings))
	}
	for i, q := range queries {
		for _, item := range q {
			if int64(item) < int64(len(x.postings)) {
				masks[i/64][item] |= 1 << (i % 64)
			}
		}
	}
	var lock sync.Mutex
	compare.Workers((x.records+scanRows-1)/scanRows, func() func(int) {
		r := newBlockReader(x.data)
		return func(piece int) {
			found := r.scan(piece, min(x.records-piece*scanRows, scanRows), masks)
			lock.Lock()
			defer lock.Unlock()
			for i := range counts {
				counts[i] += found[i/64].count(i % 64)
			}
		}
	})
}

// scanRows is the number of records read between two additions to the counts.
const scanRows = 1 << 12

// tally holds 64 counters in binary, with one word for each binary digit. Adding a word of ones and
// zeros touches two digits on average.
type tally [14]uint64

func (t *tally) add(word uint64) {
	for d := 0; word != 0; d++ {
		t[d], word = t[d]^word, t[d]&word
	}
}

func (t *tally) count(bit int) int {
	n := 0
	for d, digit := range t {
		n |= int(digit>>bit&1) << d
	}
	return n
}

// scan tallies the records of one piece.
func (r *blockReader) scan(piece, rows int, masks [][]uint64) []tally {
	found := make([]tally, len(masks))
	lo := piece * scanRows
	r.data.Range(lo, lo+rows, &r.batch)
	for i := range rows {
		items := r.row(i)
		for m, mask := range masks {
			word := uint64(0)
			for _, item := range items {
				word |= mask[item]
			}
			found[m].add(word)
		}
	}
	return found
}
