package records

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
)

// Overlap reports whether two data sets are known to hold the same records: whether one is the
// other, a slice or another view of it, rows taken from it, the same mapped file, or a wrapper
// around any of these, also one of a type that is not this package's. Algorithms that take
// public records use it to detect private ones.
//
// It compares where records are stored and which table they were taken from, never their values,
// so its result depends on no record's value. It returns false for copies made in other ways than
// by Take, [Concat], [Binarize], [GroupBy] and [Frame.Encoded]. Of a table, rows that were taken
// and a slice count as the same, whichever rows they are; two slices, and rows that were taken
// twice, may be different records.
func Overlap(a, b Data) bool {
	x, y := placesOf(a), placesOf(b)
	return meet(x.own, y.own) || sameFile(x.files, y.files) || descend(x.homes, y.homes) ||
		descend(y.homes, x.homes)
}

// origin tells the records of one table from equal ones, and remembers of which tables they are
// copies.
type origin struct{ of []*origin }

func (o *origin) copied() *origin { return &origin{[]*origin{o}} }

// joined is the origin of copies of all records of some data sets.
func joined(parts []Data) *origin {
	out := new(origin)
	for _, p := range parts {
		out.of = append(out.of, placesOf(p).homes...)
	}
	return out
}

// descend reports whether one of some tables was copied from one of others.
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

// places is where a data set keeps its records.
type places struct {
	own   []extent // storage
	homes []*origin
	files []fs.FileInfo
	seen  map[visit]bool
	left  int // how much more is looked at
	away  int // pointers to what is no data, one behind the other, that were followed to get here
}

// visit is an object that was looked at. A structure and its first field have one address.
type visit struct {
	at   uintptr
	is   reflect.Type
	away int
}

// mostAway bounds how many pointers to what is no data are followed one behind the other.
const mostAway = 3

// extent is a piece of memory.
type extent struct{ lo, hi uintptr }

// mostPlaces bounds the time that a user-defined type's lists of rows can take.
const mostPlaces = 1 << 20

func placesOf(d Data) places {
	p := places{seen: map[visit]bool{}, left: mostPlaces}
	p.walk(reflect.ValueOf(d))
	slices.SortFunc(p.own, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	return p
}

// meet reports whether two lists in order of their starts have a byte in common.
func meet(a, b []extent) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hi <= b[0].lo: // nor does it reach those that start later
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

// walk notes what a data set, or a field of one, holds records in: data, and numbers. Behind a
// pointer to what is no data only data count: data sets that share a connection or a description do
// not share records.
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

// behind looks at what a pointer or an interface holds.
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

// numeric reports whether a type is made of numbers, in rows or structures up to a depth.
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

// known notes what a structure of this package's types holds, also where a user-defined type has
// embedded it; ok is false for other types. Each is one reference: reading an unexported field
// gives no value that could be used as data, but the reference can be read.
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

// table notes the storage of a table.
func (p *places) table(home *origin, storage ...any) {
	if home != nil {
		p.homes = append(p.homes, home)
	}
	for _, s := range storage {
		p.walk(reflect.ValueOf(s))
	}
}

// sets notes the table's rows and no others of their blocks, by where a row's offset is.
func (p *places) sets(t *SetTable) {
	p.table(t.home, t.labels.raw)
	for i := 0; i < t.n; {
		block, at := t.sets.at(t.first + i)
		n := min(t.n-i, block.rows()-at)
		p.table(nil, block.offsets[at:at+n])
		i += n
	}
}

// mapped notes a reader and, where it has one, its file.
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
