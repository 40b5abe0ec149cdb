package records

import (
	"cmp"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// setEncoder turns raw item numbers into a record of a schema. All readers of sets use it.
type setEncoder struct {
	schema  Schema
	scratch []uint32
	defects defects
}

// encode returns one encoded record, valid until the next call.
func (e *setEncoder) encode(row int, raw []uint32) []uint32 {
	set := e.scratch[:0]
	sorted := true
	for j, item := range raw {
		if int64(item) >= int64(e.schema.dim) {
			e.defects.add(row, j, "item outside the universe")
			continue
		}
		sorted = sorted && (len(set) == 0 || set[len(set)-1] < item)
		set = append(set, item)
	}
	e.scratch = set
	if !sorted {
		slices.Sort(set)
		set = slices.Compact(set)
	}
	if len(set) > e.schema.maxItems {
		e.defects.add(row, e.schema.maxItems, "more items than the schema allows")
		set = shorten(set, e.schema.maxItems)
	}
	return set
}

// setBuilder encodes set records one after another into a table.
type setBuilder struct {
	encoder setEncoder
	writer  blockWriter
	n       int
	unit    string
}

func newSetBuilder(s Schema) (*setBuilder, error) {
	if err := setSchema(s); err != nil {
		return nil, err
	}
	s = s.ByPerson(0)
	return &setBuilder{encoder: setEncoder{schema: s}, writer: newBlockWriter(s)}, nil
}

func setSchema(s Schema) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if !s.Sparse() {
		return param.New("records.Schema.Kind", s.kind,
			"sets; vectors and images make a Table, tables a Frame")
	}
	return nil
}

// unlabelledSets returns an error unless a schema is of sets without classes. Some file formats
// have no place for labels.
func unlabelledSets(s Schema) error {
	if err := setSchema(s); err != nil {
		return err
	}
	if s.Classes() > 0 {
		return param.New("records.Schema.Classes", s.Classes(), "none: transactions carry no labels")
	}
	return nil
}

// add encodes one record of raw item numbers.
func (b *setBuilder) add(raw []uint32) {
	if b.writer.add(b.encoder.encode(b.n, raw)) {
		b.writer.seal()
	}
	b.n++
}

func (b *setBuilder) rows() int { return b.n }

func (b *setBuilder) table(labels []int32) (*SetTable, error) {
	s := b.encoder.schema
	if b.n > maxRows {
		return nil, param.New("records rows", "too many", "at most 2³¹-1")
	}
	c, err := newColumn(s, b.n, labels)
	if err != nil {
		return nil, err
	}
	b.writer.seal()
	rows := setRows{schema: s, sets: b.writer.sealed, n: b.n, labels: c, defects: b.encoder.defects,
		unit: b.unit,
		home: new(origin)}
	return &SetTable{setRef: &setRef{&rows}}, nil
}

// CutSet keeps at most limit items of an ascending set, in place. Which items it keeps depends on
// the set only; a schema with that limit encodes records in the same way.
func CutSet(items []uint32, limit int) []uint32 {
	if len(items) <= limit {
		return items
	}
	return shorten(items, max(limit, 0))
}

// shorten keeps limit items of a sorted row. Which items it keeps depends on the set only, so the
// encoding of one record never depends on another. A hash keyed by the whole set chooses the items,
// so no item is preferred throughout the table. If the first items were kept, small numbers would
// be preferred.
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

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection whose every output
// bit depends on every input bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// SetBuilder collects the records of a [SetTable], one at a time.
type SetBuilder struct {
	private
	*setBuilderRef
}

// setBuilderRef hides its target from package fmt; see private.go.
type setBuilderRef struct{ b *setBuilder }

// NewSetBuilder returns a builder without records.
//
// Errors: *[param.Error] for a schema that is not of sets.
func NewSetBuilder(s Schema) (*SetBuilder, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	return &SetBuilder{setBuilderRef: &setBuilderRef{b}}, nil
}

// Add appends one record, encoded as [SetTable] describes.
//
// Errors: *[param.Error] if there are more rows than a table holds.
func (b *SetBuilder) Add(items []uint32) error {
	if b.b.n >= maxRows {
		return param.New("records.SetBuilder.Add", "one more", "at most 2³¹-1")
	}
	b.b.add(items)
	return nil
}

// Len returns the number of records so far.
func (b *SetBuilder) Len() int { return b.b.n }

// Table returns the table of the records so far and resets the builder.
//
// Errors: *[param.Error] for a wrong number of labels. There must be one label for each record if
// the schema has classes, and none otherwise.
func (b *SetBuilder) Table(labels ...int32) (*SetTable, error) {
	t, err := b.b.table(labels)
	if err != nil {
		return nil, err
	}
	b.b, err = newSetBuilder(b.b.encoder.schema)
	return t, err
}
