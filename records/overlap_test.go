package records_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// wrapped and hidden are user-defined types around data.
type wrapped struct{ records.Data }

type hidden struct {
	schema records.Schema
	inner  records.Data
	name   []string
}

func (h hidden) Schema() records.Schema               { return h.schema }
func (h hidden) Len() int                             { return h.inner.Len() }
func (h hidden) Gather(rows []int32, b *device.Batch) { h.inner.Gather(rows, b) }
func (h hidden) Range(lo, hi int, b *device.Batch)    { h.inner.Range(lo, hi, b) }

// rows is data of another type, with its own storage.
type rows struct {
	schema records.Schema
	list   [][]float32
	shared *link
}

// link is shared by data sets that are read through one connection.
type link struct {
	name   string
	buffer []byte
}

func (r rows) Schema() records.Schema               { return r.schema }
func (r rows) Len() int                             { return len(r.list) }
func (r rows) Gather(rows []int32, b *device.Batch) {}
func (r rows) Range(lo, hi int, b *device.Batch)    {}

type view struct {
	name string
	data records.Data
	want bool
}

// check tests Overlap of private and each view, in both orders of the arguments.
func check(t *testing.T, private records.Data, views ...view) {
	t.Helper()
	for _, v := range views {
		if records.Overlap(private, v.data) != v.want || records.Overlap(v.data, private) != v.want {
			t.Errorf("%s: Overlap does not return %v", v.name, v.want)
		}
	}
}

func TestOverlapOfTables(t *testing.T) {
	s := records.Interval(2, 0, 1).WithLabels("a", "b")
	flat, labels := make([]float32, 40), make([]int32, 20)
	make1 := func(flat []float32) *records.Table {
		return must(records.FromFlat(s, flat, labels[:len(flat)/2]...))(t)
	}
	a := make1(flat)
	own := func() *records.Table {
		return must(records.FromFlat(s, make([]float32, 40), make([]int32, 20)...))(t)
	}
	other := own()
	check(t, a,
		view{"itself", a, true},
		view{"all of it", a.Slice(0, 20), true},
		view{"one row", a.Slice(19, 20), true},
		view{"no row", a.Slice(5, 5), false},
		view{"the same storage", make1(flat), true},
		view{"without labels", a.WithoutLabels(), true},
		view{"a statement", records.WithUnit(a, records.UnitUser), true},
		view{"a statement about a wrapper", records.WithUnit(wrapped{a}, records.UnitUser), true},
		view{"clamped", records.Clamped(wrapped{a}), true},
		view{"a wrapper", wrapped{a.Slice(3, 4)}, true},
		view{"a pointer to a wrapper", &wrapped{a}, true},
		view{"a wrapper that hides it", hidden{schema: s, inner: hidden{schema: s, inner: a}}, true},
		view{"a map in a wrapper", &hidden{schema: s, inner: shelves{schema: s,
			by: map[string]records.Data{"a": a}}}, true},
		view{"a pointer in a wrapper", &hidden{schema: s, inner: &hidden{schema: s, inner: a}}, true},
		view{"rows of it", a.Take([]int32{7, 3}), true},
		view{"joined with others", must(records.Concat(s, other, a))(t), true},
		view{"rows joined twice", must(records.Concat(s, must(records.Concat(s,
			a.Take([]int32{1})))(t), other))(t), true},
		view{"others joined", must(records.Concat(s, other, own()))(t), false},
		view{"rows of rows of it", a.Take([]int32{7, 3}).Take([]int32{1}).WithoutLabels(), true},
		view{"a slice of rows of it", a.Take([]int32{7, 3}).Slice(0, 1), true},
		view{"binarised", records.Binarize(a, 0.5), true}, // shares labels
		view{"others of the same values", other, false},
		view{"a wrapper around others", &hidden{schema: s, inner: other}, false},
		view{"rows of others", other.Take([]int32{1}), false},
		view{"nothing", nil, false},
		view{"a table that is none", (*records.Table)(nil), false},
		view{"a wrapper around nothing", wrapped{}, false},
	)
	check(t, a.Slice(0, 10), view{"the other half", a.Slice(10, 20), false},
		view{"one row too many", a.Slice(9, 20), true})
	check(t, a.Take([]int32{1, 2}), view{"other rows", a.Take([]int32{3}), false})
	pixels := must(records.FromBytes(records.Image(2, 2), make([]uint8, 16)))(t)
	check(t, pixels, view{"a slice of bytes", pixels.Slice(1, 2), true},
		view{"black and white", records.Binarize(pixels, 0.5), true})
}

func TestOverlapOfFramesAndSets(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Label("y", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	frame := func() *records.Frame {
		return must(records.FromValues(s, []any{0.1, "a"}, []any{0.2, "b"}, []any{0.1, "a"}))(t)
	}
	f := frame()
	check(t, f, view{"itself", f, true}, view{"a slice", f.Slice(1, 2), true},
		view{"without labels", f.WithoutLabels(), true}, view{"rows", f.Take([]int32{2}), true},
		view{"joined", must(records.Concat(s, frame(), f))(t), true},
		view{"a slice of rows", f.Take([]int32{2, 1}).Slice(0, 1), true},
		view{"encoded", f.Encoded(), true},
		view{"encoded rows", f.Take([]int32{2}).Encoded().Take([]int32{0}), true},
		view{"persons", must(records.GroupBy(f, []int{1, 1, 2}, 2))(t), true},
		view{"others encoded", frame().Encoded(), false},
		view{"others of the same values", frame(), false})
	encoded := f.Encoded()
	check(t, encoded, view{"rows of it", encoded.Take([]int32{1}), true})
	check(t, f.Slice(0, 1), view{"the rest", f.Slice(1, 3), false})

	many := make([][]uint32, 9000) // more than two blocks; all sets but one are empty
	many[4000] = []uint32{1}
	sets := must(records.FromItems(records.Sets(9, 3), many))(t)
	check(t, sets, view{"itself", sets, true}, view{"an empty set", sets.Slice(8999, 9000), true},
		view{"rows", sets.Take([]int32{5}), true}, view{"without labels", sets.WithoutLabels(), true},
		view{"others", must(records.FromItems(records.Sets(9, 3), many))(t), false})
	check(t, sets.Slice(0, 4096), view{"the rest", sets.Slice(4096, 9000), false},
		view{"one more", sets.Slice(4095, 9000), true})
	check(t, sets.Slice(10, 20), view{"before", sets.Slice(0, 10), false},
		view{"after", sets.Slice(20, 30), false})
}

func TestOverlapOfMappedFiles(t *testing.T) {
	sets := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2}}))(t)
	var text bytes.Buffer
	if err := records.WriteSets(&text, sets); err != nil {
		t.Fatal(err)
	}
	var opened []*records.MappedSets
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m := must(records.OpenSets(path))(t)
			defer m.Close()
			opened = append(opened, m)
		}
		file := must(os.Open(path))(t)
		defer file.Close()
		opened = append(opened, must(records.ReadSets(file, int64(text.Len())))(t))
	}
	read := func(b []byte) records.Data {
		return must(records.ReadSets(bytes.NewReader(b), int64(len(b))))(t)
	}
	check(t, opened[0], view{"the file once more", opened[1], true},
		view{"through a file", opened[2], true},
		view{"an equal file", opened[3], false}, view{"a reader", read(text.Bytes()), false})
	check(t, read(text.Bytes()),
		view{"another reader of the bytes", wrapped{read(text.Bytes())}, true},
		view{"a copy of the bytes", read(bytes.Clone(text.Bytes())), false})
}

func TestOverlapOfOtherTypes(t *testing.T) {
	s := records.Interval(2, 0, 1)
	table := link{"database", make([]byte, 16)}
	make1 := func() rows {
		return rows{s, [][]float32{make([]float32, 2), make([]float32, 2)}, &table}
	}
	r, other := make1(), make1()
	part := rows{s, [][]float32{r.list[1]}, &table}
	names := []string{"x"}
	check(t, r, view{"itself", r, true}, view{"a pointer to it", &r, true},
		view{"some of its rows", part, true}, view{"others", other, false})
	check(t, &r, view{"a wrapper of a slice", wrapped{rows{s, r.list[1:], nil}}, true})
	check(t, hidden{s, r, names}, view{"the same names", hidden{s, other, names}, false})
	a := &wrapped{}
	a.Data = a // in a circle
	check(t, a, view{"a circle", a, true}, view{"beside a circle", r, false})
}

// A pointing value only points to its records. The records of an opaque value are not in memory.
type (
	pointing struct {
		schema records.Schema
		flat   *[]float32
	}
	opaque struct {
		schema records.Schema
		link   *link
		query  string
	}
)

func (p pointing) Schema() records.Schema { return p.schema }
func (p pointing) Len() int               { return len(*p.flat) / p.schema.Dim() }

func (p pointing) Gather(rows []int32, b *device.Batch) { p.table().Gather(rows, b) }
func (p pointing) Range(lo, hi int, b *device.Batch)    { p.table().Range(lo, hi, b) }

func (p pointing) table() *records.Table {
	t, _ := records.FromFlat(p.schema, *p.flat)
	return t
}

func (o opaque) Schema() records.Schema               { return o.schema }
func (o opaque) Len() int                             { return 0 }
func (o opaque) Gather(rows []int32, b *device.Batch) {}
func (o opaque) Range(lo, hi int, b *device.Batch)    {}

// TestOverlapBehindPointers checks structures without numbers of their own.
func TestOverlapBehindPointers(t *testing.T) {
	s, l := records.Interval(2, 0, 1), &link{"database", make([]byte, 16)}
	d := pointing{s, &[]float32{.1, .2, .3, .4}}
	part := (*d.flat)[2:]
	check(t, d, view{"itself", d, true}, view{"a pointer to it", &d, true},
		view{"in a wrapper", &wrapped{d}, true}, view{"some rows", pointing{s, &part}, true},
		view{"others", pointing{s, &[]float32{.1, .2, .3, .4}}, false})
	array := &[4]float32{.1, .2}
	held := array[:]
	check(t, distant{any: array}, view{"a slice of an array", pointing{s, &held}, true},
		view{"another array", distant{any: new([4]float32)}, false})
	check(t, opaque{s, l, "a"}, view{"itself", opaque{s, l, "a"}, true},
		view{"another query", opaque{s, l, "b"}, false})
}

// TestOverlapOfCopiesOfOtherTypes checks that Overlap recognises copies made by Concat and GroupBy
// if the records were of a user-defined type or in a file. It must also recognise copies of these
// copies.
func TestOverlapOfCopiesOfOtherTypes(t *testing.T) {
	s := records.Interval(2, 0, 1)
	numbers := func() records.Data { return pointing{s, &[]float32{.1, .2, .3, .4}} }
	sets := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2}}))(t)
	var file bytes.Buffer
	if err := records.WriteSets(&file, sets); err != nil {
		t.Fatal(err)
	}
	mapped := func() records.Data {
		return must(records.ReadSets(bytes.NewReader(bytes.Clone(file.Bytes())), int64(file.Len())))(t)
	}
	for name, make1 := range map[string]func() records.Data{"numbers": numbers, "sets": mapped} {
		d, other := make1(), make1()
		joined := must(records.Concat(d.Schema(), d))(t)
		again := must(records.Concat(d.Schema(), joined, make1()))(t)
		grouped := must(records.GroupBy(d, []int{0, 1}, 1))(t)
		check(t, d, view{name + " joined", joined, true}, view{name + " joined twice", again, true},
			view{name + " grouped", grouped, true}, view{name + " wrapped", wrapped{joined}, true},
			view{name + " of others", must(records.Concat(d.Schema(), other))(t), false})
	}
}

// The types whose names begin with holds embed a type of package records by value. distant holds
// data behind a value that is not data.
type (
	holdsTable  struct{ records.Table }
	holdsSets   struct{ records.SetTable }
	holdsFrame  struct{ records.Frame }
	holdsMapped struct{ records.MappedSets }

	store   struct{ inner records.Data }
	distant struct {
		rows
		store *store
		any   any
	}
)

func TestOverlapThroughStructures(t *testing.T) {
	s := records.Interval(2, 0, 1)
	make1 := func() *records.Table { return must(records.FromFlat(s, make([]float32, 40)))(t) }
	a, b := make1(), make1()
	check(t, a, view{"by value", &holdsTable{*a}, true}, view{"another", &holdsTable{*b}, false},
		view{"by value, wrapped", wrapped{&holdsTable{*a.Slice(2, 3)}}, true},
		view{"behind a structure", distant{store: &store{a}}, true},
		view{"behind any", &distant{any: &store{hidden{inner: a}}}, true},
		view{"behind another", distant{store: &store{b}}, false},
		view{"behind nothing", distant{}, false}, view{"none", &holdsTable{}, false})
	schema := must(records.NewSchema(records.Numeric("x", 0, 1)))(t)
	f := must(records.FromValues(schema, []any{0.1}))(t)
	check(t, f, view{"a frame", &holdsFrame{*f}, true}, view{"none", &holdsFrame{}, false})
	sets := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2}}))(t)
	check(t, sets, view{"sets", &holdsSets{*sets}, true}, view{"none", &holdsSets{}, false})
	var file bytes.Buffer
	if err := records.WriteSets(&file, sets); err != nil {
		t.Fatal(err)
	}
	m := must(records.ReadSets(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
	check(t, m, view{"mapped", &holdsMapped{*m}, true}, view{"none", &holdsMapped{}, false})
}

// shelves holds data by name.
type shelves struct {
	records.Data
	schema records.Schema
	by     map[string]records.Data
}
