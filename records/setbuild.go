package records

import (
	"cmp"
	"slices"
)

// setBuilder encodes set records one after another. All readers of sets end
// here.
type setBuilder struct {
	schema  Schema
	offsets []int
	items   []uint32
	scratch []uint32
	defects defects
}

func newSetBuilder(s Schema) (*setBuilder, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if !s.Sparse() {
		return nil, &ShapeError{"records.Schema.Kind", s.kind, "sets: other kinds make a Table"}
	}
	return &setBuilder{schema: s, offsets: []int{0}}, nil
}

// add encodes one record of raw item numbers.
func (b *setBuilder) add(raw []uint32) {
	row := b.scratch[:0]
	for j, item := range raw {
		if int64(item) >= int64(b.schema.dim) {
			b.defects.add(len(b.offsets)-1, j, "item outside the universe")
			continue
		}
		row = append(row, item)
	}
	b.scratch = row
	slices.Sort(row)
	row = slices.Compact(row)
	if len(row) > b.schema.maxItems {
		b.defects.add(len(b.offsets)-1, b.schema.maxItems, "more items than the schema allows")
		row = shorten(row, b.schema.maxItems)
	}
	b.items = append(b.items, row...)
	b.offsets = append(b.offsets, len(b.items))
}

func (b *setBuilder) rows() int { return len(b.offsets) - 1 }

func (b *setBuilder) table(labels []int32) (*SetTable, error) {
	if b.rows() > maxRows {
		return nil, &ShapeError{"records rows", b.rows(), "at most 2³¹-1"}
	}
	c, err := newColumn(b.schema, b.rows(), labels)
	if err != nil {
		return nil, err
	}
	return &SetTable{schema: b.schema, offsets: b.offsets, items: b.items, labels: c, defects: b.defects}, nil
}

// shorten keeps limit items of a sorted row. Which ones is a fixed function of
// the set alone, so the encoding of one record never depends on another; and it
// is a hash keyed by the whole set, so no item is favoured over the table, as it
// would be by keeping the smallest numbers.
func shorten(row []uint32, limit int) []uint32 {
	key := uint64(len(row))
	for _, item := range row {
		key = mix(key ^ uint64(item))
	}
	rank := func(item uint32) uint64 { return mix(key + uint64(item)*0x9e3779b97f4a7c15) }
	slices.SortFunc(row, func(a, b uint32) int { return cmp.Compare(rank(a), rank(b)) })
	row = row[:limit]
	slices.Sort(row)
	return row
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection
// whose every output bit depends on every input bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
