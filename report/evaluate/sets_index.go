package evaluate

import (
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Index answers counting queries over binary records. For every item it holds the records with the
// item, in blocks of 65,536 records. A block with many such records is a bitmap. A block with few
// is a list of 16-bit numbers, as in the roaring bitmaps of Chambi et al. 2016. It is safe for
// concurrent use. It prints as "[private]", since the records may be real ones.
type Index struct{ *hiddenIndex }

// hiddenIndex keeps records behind two pointers, which package fmt does not follow from an
// unexported field of another struct.
type hiddenIndex struct{ *postingLists }

type postingLists struct {
	data     records.Data
	records  int
	items    int // of all records together
	longest  int
	sizes    []int // number of records by number of items
	postings []posting
}

// posting is the list of places where one item occurs.
type posting struct {
	count int
	runs  []container // numbers of the blocks where it occurs, ascending
}

// container holds the places of one item within a block; exactly one of rows and words is set.
type container struct {
	block int
	rows  []uint16
	words *window
}

// window has one bit for every record of a block.
type window [blockRows / 64]uint64

const (
	blockRows = 1 << 16
	// denseRows is the length at which a list takes as much memory as a bitmap.
	denseRows = blockRows / 16
)

// NewIndex reads binary vectors, binary images or sets once. An item is a
// coordinate that is 1.
//
// Errors: *[param.Error] for records of another kind.
func NewIndex(d records.Data) (*Index, error) {
	if err := judge.Given("evaluate.NewIndex", d); err != nil {
		return nil, err
	}
	s := d.Schema()
	if !s.IsBinary() {
		return nil, param.New("evaluate.NewIndex", s, "binary records or sets")
	}
	d = judge.InSchema(d)
	x := &Index{&hiddenIndex{&postingLists{data: d, records: d.Len(),
		postings: make([]posting, s.Dim())}}}
	blocks := make([]indexedBlock, (d.Len()+blockRows-1)/blockRows)
	compare.Workers(len(blocks), func() func(int) {
		r := newBlockReader(d)
		return func(b int) { blocks[b] = r.read(b) }
	})
	for b := range blocks {
		x.join(&blocks[b])
		blocks[b] = indexedBlock{}
	}
	return x, nil
}

// Format writes "[private]" for every verb.
func (Index) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (Index) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (Index) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const redacted = "[private]"

// join adds the items of one block.
func (x *Index) join(b *indexedBlock) {
	for i, item := range b.items {
		p := &x.postings[item]
		p.count += b.counts[i]
		x.items += b.counts[i]
		p.runs = append(p.runs, b.runs[i])
	}
	for size, n := range b.sizes {
		if size >= len(x.sizes) {
			x.sizes = append(x.sizes, make([]int, size+1-len(x.sizes))...)
		}
		x.sizes[size] += n
	}
	x.longest = max(len(x.sizes)-1, 0)
}

// indexedBlock holds the containers of one block of records, by item.
type indexedBlock struct {
	items  []uint32
	counts []int
	runs   []container
	sizes  []int
}

// blockReader turns blocks of records into containers, by a counting sort of their items.
type blockReader struct {
	data   records.Data
	batch  device.Batch
	starts []uint32 // of each item's rows among the block's
	items  []uint32
	owners []uint16 // the record of each item
	one    []uint32
}

func newBlockReader(d records.Data) *blockReader {
	return &blockReader{data: d, starts: make([]uint32, d.Schema().Dim()+1)}
}

func (r *blockReader) read(block int) indexedBlock {
	var out indexedBlock
	clear(r.starts)
	r.items, r.owners = r.items[:0], r.owners[:0]
	lo := block * blockRows
	r.visit(lo, min(lo+blockRows, r.data.Len()), func(row int, items []uint32) {
		for len(items) >= len(out.sizes) {
			out.sizes = append(out.sizes, 0)
		}
		out.sizes[len(items)]++
		for _, item := range items {
			r.starts[item+1]++
			r.items = append(r.items, item)
			r.owners = append(r.owners, uint16(row-lo))
		}
	})
	r.sort(block, &out)
	return out
}

// sort gives every item of the block its container.
func (r *blockReader) sort(block int, out *indexedBlock) {
	for i := 1; i < len(r.starts); i++ {
		if n := r.starts[i]; n > 0 {
			out.items = append(out.items, uint32(i-1))
			out.counts = append(out.counts, int(n))
		}
		r.starts[i] += r.starts[i-1]
	}
	rows := make([]uint16, len(r.items))
	for k, item := range r.items {
		rows[r.starts[item]] = r.owners[k]
		r.starts[item]++ // which ends up as the start of the next
	}
	for i, item := range out.items {
		end := int(r.starts[item])
		out.runs = append(out.runs, contain(block, rows[end-out.counts[i]:end:end]))
	}
}

// contain returns the smaller form. It copies a list, because the list would otherwise keep the
// storage of the whole block.
func contain(block int, rows []uint16) container {
	if len(rows) <= denseRows {
		return container{block: block, rows: slices.Clone(rows)}
	}
	words := new(window)
	words.add(rows)
	return container{block: block, words: words}
}

func (w *window) add(rows []uint16) {
	for _, row := range rows {
		w[row/64] |= 1 << (row % 64)
	}
}

// visit calls each with the items of records lo … hi-1.
func (r *blockReader) visit(lo, hi int, each func(row int, items []uint32)) {
	const chunk = 4096
	for ; lo < hi; lo += chunk {
		r.data.Range(lo, min(lo+chunk, hi), &r.batch)
		for i := range r.batch.Rows {
			each(lo+i, r.row(i))
		}
	}
}

func (r *blockReader) row(i int) []uint32 {
	if r.batch.Sparse != nil {
		return r.batch.Sparse.Row(i)
	}
	r.one = r.one[:0]
	for j, v := range r.batch.Dense.Row(i) {
		if v >= 0.5 {
			r.one = append(r.one, uint32(j))
		}
	}
	return r.one
}

// Records returns the number of records.
func (x *Index) Records() int { return x.records }

// Universe returns the number of items.
func (x *Index) Universe() int { return len(x.postings) }

// Longest returns the largest number of items in a record.
func (x *Index) Longest() int { return x.longest }

// Count returns the number of records that have one item.
func (x *Index) Count(item uint32) int { return x.posting(item).count }

// Sizes returns how many records have 0, 1, 2, … items.
func (x *Index) Sizes() []int { return slices.Clone(x.sizes) }

// cursors walk several postings block by block.
type cursors [][]container

func (x *Index) cursors(items []uint32) cursors {
	at := make(cursors, 0, len(items))
	for _, item := range items {
		if runs := x.posting(item).runs; len(runs) > 0 {
			at = append(at, runs)
		}
	}
	return at
}

// next returns every cursor's container of a block, in the order of the cursors.
func (at cursors) next(block int, found []container) []container {
	for i, runs := range at {
		if len(runs) > 0 && runs[0].block == block {
			found = append(found, runs[0])
			at[i] = runs[1:]
		}
	}
	return found
}

func (x *Index) blocks() int { return (x.records + blockRows - 1) / blockRows }

// Any counts the records that have at least one of the items. Without items the count is 0.
func (x *Index) Any(items ...uint32) int {
	if len(items) == 1 {
		return x.Count(items[0])
	}
	at, count := x.cursors(items), 0
	var found []container
	for block := range x.blocks() {
		found = at.next(block, found[:0])
		count += union(found)
	}
	return count
}

func union(of []container) int {
	if len(of) == 0 {
		return 0
	}
	var w window
	for _, c := range of {
		if c.words == nil {
			w.add(c.rows)
			continue
		}
		for i, word := range c.words {
			w[i] |= word
		}
	}
	return w.ones()
}

func (w *window) ones() int {
	count := 0
	for _, word := range w {
		count += bits.OnesCount64(word)
	}
	return count
}

// All counts the records that have all of the items. Without items it counts every record.
func (x *Index) All(items ...uint32) int {
	switch len(items) {
	case 0:
		return x.records
	case 1:
		return x.Count(items[0])
	}
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b uint32) int { return x.Count(a) - x.Count(b) })
	if x.Count(items[0]) == 0 {
		return 0
	}
	at, count := x.cursors(items), 0
	var found []container
	var rows []uint16
	for block := range x.blocks() {
		if found = at.next(block, found[:0]); len(found) == len(items) {
			rows = intersection(rows[:0], found)
			count += len(rows)
		}
	}
	return count
}

// intersection appends the rows that every container has. It is fastest if the rarest container
// comes first.
func intersection(rows []uint16, of []container) []uint16 {
	rows = of[0].appendRows(rows)
	for _, c := range of[1:] {
		if len(rows) == 0 {
			return rows
		}
		rows = c.keep(rows)
	}
	return rows
}

func (c container) appendRows(rows []uint16) []uint16 {
	if c.words == nil {
		return append(rows, c.rows...)
	}
	for i, word := range c.words {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint16(i*64+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// keep filters ascending rows in place and returns the rows that the container has.
func (c container) keep(rows []uint16) []uint16 {
	kept := rows[:0]
	if c.words != nil {
		for _, row := range rows {
			if c.words[row/64]>>(row%64)&1 == 1 {
				kept = append(kept, row)
			}
		}
		return kept
	}
	rest := c.rows
	for _, row := range rows {
		for len(rest) > 0 && rest[0] < row {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] == row {
			kept = append(kept, row)
		}
	}
	return kept
}

func (x *Index) posting(item uint32) posting {
	if int64(item) >= int64(len(x.postings)) {
		return posting{}
	}
	return x.postings[item]
}
