package records

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
)

// Overlap reports whether two data sets are known to share records. This is so if one is the other,
// a slice or another view of it, rows taken from it, the same mapped file, or a wrapper around any
// of these, including a wrapper of a user-defined type. Algorithms that take public records use
// Overlap to detect private ones.
//
// It compares where records are stored and which table they were taken from, never their values, so
// its result depends on no record's value. It detects copies only if they were made by Take,
// [Concat], [Binarize], [GroupBy] or [Frame.Encoded]. Rows taken from a table always overlap with a
// slice of the same table, whichever rows they are. Two slices, or two sets of rows taken from one
// table, may be different records and need not overlap.
func Overlap(a, b Data) bool {
	x, y := placesOf(a), placesOf(b)
	return meet(x.own, y.own) || sameFile(x.files, y.files) || descend(x.homes, y.homes) ||
		descend(y.homes, x.homes)
}

// origin identifies a table, and remembers the tables that its records were copied from.
type origin struct{ of []*origin }

func (o *origin) copied() *origin { return &origin{[]*origin{o}} }

// joined returns the origin of copies of all records of some data sets.
func joined(parts []Data) *origin {
	out := new(origin)
	for _, p := range parts {
		out.of = append(out.of, placesOf(p).homes...)
	}
	return out
}

// descend reports whether a table in to was copied, directly or not, from a table in from.
func descend(from, to []*origin) bool {
	seen := map[*origin]bool{}
	for left := slices.Clone(to); len(left) > 0; {
		o := left[len(left)-1]
		left = left[:len(left)-1]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		for _, of := range o.of {
			if slices.Contains(from, of) {
				return true
			}
		}
		left = append(left, o.of...)
	}
	return false
}

// places lists where a data set stores its records.
type places struct {
	own   []extent // storage
	homes []*origin
	files []fs.FileInfo
	seen  map[visit]bool
	left  int // the number of values that may still be examined
	away  int // the number of consecutive pointers followed to values that are not data
}

// visit is an object that has been examined. It includes the type, since a struct and its first
// field have the same address.
type visit struct {
	at   uintptr
	is   reflect.Type
	away int
}

// mostAway is the largest number of consecutive pointers that are followed to values that are not
// data.
const mostAway = 3

// extent is a piece of memory.
type extent struct{ lo, hi uintptr }

// mostPlaces bounds the number of values that are examined, and so the time for a user-defined
// type.
const mostPlaces = 1 << 20

func placesOf(d Data) places {
	p := places{seen: map[visit]bool{}, left: mostPlaces}
	p.walk(reflect.ValueOf(d))
	slices.SortFunc(p.own, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	return p
}

// meet reports whether two lists of extents, both sorted by lo, have a byte in common.
func meet(a, b []extent) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hi <= b[0].lo: // a[0] ends before every extent of b
			a = a[1:]
		case b[0].hi <= a[0].lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

func sameFile(a, b []fs.FileInfo) bool {
	return slices.ContainsFunc(a, func(x fs.FileInfo) bool {
		return slices.ContainsFunc(b, func(y fs.FileInfo) bool { return os.SameFile(x, y) })
	})
}

var dataType = reflect.TypeFor[Data]()

// walk records where a data set, or a field of one, stores records: in other data and in slices of
// numbers. Behind a pointer to a value that is not data, only data count: data sets that share a
// connection or a description do not share records.
func (p *places) walk(v reflect.Value) {
	if p.left--; p.left < 0 || !v.IsValid() || v.Type() == reflect.TypeFor[Schema]() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		p.behind(v.Elem())
	case reflect.Pointer:
		p.behind(v)
	case reflect.Struct:
		if p.known(v) {
			return
		}
		for i := range v.NumField() {
			p.walk(v.Field(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			p.walk(key)
			p.walk(v.MapIndex(key))
		}
	case reflect.Slice:
		if p.away == 0 && numeric(v.Type(), 8) {
			p.add(v.Pointer(), uintptr(v.Len())*v.Type().Elem().Size())
		}
		p.elements(v)
	case reflect.Array:
		p.elements(v)
	}
}

// behind examines the value that a pointer or an interface holds.
func (p *places) behind(v reflect.Value) {
	pointer := v.Kind() == reflect.Pointer
	if !v.IsValid() || pointer && v.IsNil() {
		return
	}
	away := p.away
	defer func() { p.away = away }()
	switch data := v.Type().Implements(dataType); {
	case data:
		p.away = 0
	case p.away == mostAway:
		return
	default:
		p.away++
	}
	if !pointer {
		p.walk(v)
		return
	}
	at := visit{v.Pointer(), v.Type(), p.away}
	if p.seen[at] {
		return
	}
	p.seen[at] = true
	if p.away == 0 && !ownTypes[v.Type().Elem()] {
		p.add(v.Pointer(), v.Type().Elem().Size())
	}
	p.walk(v.Elem())
}

func (p *places) elements(v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Array:
		if p.away > 0 && numeric(v.Type(), 8) {
			return
		}
		for i := range v.Len() {
			p.walk(v.Index(i))
		}
	}
}

// numeric reports whether a type consists of numbers, in slices or structs up to the given depth.
func numeric(t reflect.Type, depth int) bool {
	switch k := t.Kind(); k {
	case reflect.Slice, reflect.Array:
		return depth > 0 && numeric(t.Elem(), depth-1)
	case reflect.Struct:
		for i := range t.NumField() {
			if depth == 0 || !numeric(t.Field(i).Type, depth-1) {
				return false
			}
		}
		return t.NumField() > 0
	default:
		return k >= reflect.Bool && k <= reflect.Complex128
	}
}

func (p *places) add(at, size uintptr) {
	if size > 0 {
		p.own = append(p.own, extent{at, at + size})
	}
}

// ownTypes are this package's types of data.
var ownTypes = map[reflect.Type]bool{reflect.TypeFor[Table](): true, reflect.TypeFor[Frame](): true,
	reflect.TypeFor[SetTable](): true, reflect.TypeFor[MappedSets](): true,
	reflect.TypeFor[PartedTable](): true,
	reflect.TypeFor[Persons]():     true}

// known records the storage of a value of one of this package's types, also if a user-defined type
// embeds it; ok is false for other types. Each of these types has a single field, a reference.
// Reflection cannot use the value of an unexported field as data, but it can read this reference.
func (p *places) known(v reflect.Value) (ok bool) {
	if !ownTypes[v.Type()] {
		return false
	}
	ref := v.Field(0).UnsafePointer()
	if ref == nil {
		return true
	}
	away := p.away
	p.away = 0
	switch v.Type() {
	case reflect.TypeFor[Table]():
		t := (*tableRef)(ref)
		p.table(t.home, t.flat, t.bytes, t.labels.raw)
	case reflect.TypeFor[Frame]():
		t := (*frameRef)(ref)
		p.table(t.home)
		for _, c := range t.cells {
			p.table(nil, c.numbers, c.levels, c.ticks)
		}
	case reflect.TypeFor[SetTable]():
		p.sets(&SetTable{(*setRef)(ref)})
	case reflect.TypeFor[Persons]():
		p.walk(reflect.ValueOf((*personsRef)(ref).rows))
	case reflect.TypeFor[MappedSets]():
		m := (*mappedRef)(ref)
		p.mapped(m.file, m.info)
	case reflect.TypeFor[PartedTable]():
		for _, part := range (*partedRef)(ref).parts {
			p.mapped(part.values.r, nil)
		}
	}
	p.away = away
	return true
}

// table records the storage of a table.
func (p *places) table(home *origin, storage ...any) {
	if home != nil {
		p.homes = append(p.homes, home)
	}
	for _, s := range storage {
		p.walk(reflect.ValueOf(s))
	}
}

// sets records the table's rows by the addresses of their offsets. It does not record other rows of
// the same blocks.
func (p *places) sets(t *SetTable) {
	p.table(t.home, t.labels.raw)
	for i := 0; i < t.n; {
		block, at := t.sets.at(t.first + i)
		n := min(t.n-i, block.rows()-at)
		p.table(nil, block.offsets[at:at+n])
		i += n
	}
}

// mapped records a reader and the reader's file, if there is one.
func (p *places) mapped(r io.ReaderAt, info fs.FileInfo) {
	if info != nil {
		p.files = append(p.files, info)
	} else if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		returns(func() {
			if info, err := f.Stat(); err == nil {
				p.files = append(p.files, info)
			}
		})
	}
	if v := reflect.ValueOf(r); v.Kind() == reflect.Pointer && !v.IsNil() {
		p.add(v.Pointer(), v.Type().Elem().Size())
		p.walk(v.Elem())
	}
}
