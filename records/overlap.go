package records

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// Overlap reports whether two data sets are known to share records. They are if one is the other, a
// slice or another view of it, or rows taken from it. They also are if both are the same mapped
// file. Wrappers around such data share records too, even if their types are user-defined.
// Algorithms that take public records use Overlap to detect private ones.
//
// Overlap compares the places of the records in memory and the tables that they were taken from. It
// never compares values, so its result depends on no record's value. It detects copies only if they
// were made by Take, [Concat], [Binarize], [GroupBy] or [Frame.Encoded]. Rows taken from a table
// always overlap with a slice of the same table, whichever rows they are. Two slices, or two sets
// of rows taken from one table, may be different records and need not overlap. Two data sets of
// user-defined types that share a list of numbers overlap, even if the list holds no records.
func Overlap(a, b Data) bool {
	x, y := placesOf(a), placesOf(b)
	return equal(x.held, y.held) || meet(x.own, y.own) || sameFile(x.files, y.files) ||
		descend(x.homes, b, y.homes) || descend(y.homes, a, x.homes)
}

// equal reports whether the same value of one type is in both lists. Lists and maps are the same if
// they are at the same place, and functions if they have the same code and the same variables.
func equal(a, b []reflect.Value) bool {
	return slices.ContainsFunc(a, func(x reflect.Value) bool {
		return slices.ContainsFunc(b, func(y reflect.Value) bool {
			return x.Type() == y.Type() && sameValue(addressable(x), addressable(y))
		})
	})
}

// addressable returns a copy of a value, if it may be copied, whose fields have addresses.
func addressable(v reflect.Value) reflect.Value {
	if !v.CanInterface() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

// sameFunc compares the variables of functions where the functions have addresses, and only their
// code elsewhere.
func sameFunc(x, y reflect.Value) bool {
	if x.CanAddr() && y.CanAddr() {
		return variables(x) == variables(y)
	}
	return x.Pointer() == y.Pointer()
}

// variables returns the place of a function's code and variables, which its value points to.
func variables(v reflect.Value) unsafe.Pointer {
	return *(*unsafe.Pointer)(v.Addr().UnsafePointer())
}

func sameValue(x, y reflect.Value) bool {
	switch x.Kind() {
	case reflect.Struct:
		for i := range x.NumField() {
			if !sameValue(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range x.Len() {
			if !sameValue(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Interface:
		x, y = x.Elem(), y.Elem()
		return x.IsValid() == y.IsValid() && (!x.IsValid() || x.Type() == y.Type() && sameValue(x, y))
	case reflect.Slice:
		return x.Pointer() == y.Pointer() && x.Len() == y.Len()
	case reflect.Map:
		return x.Pointer() == y.Pointer()
	case reflect.Func:
		return sameFunc(x, y)
	}
	return x.Equal(y)
}

// origin is the identity of a table's records, whatever their values. It also holds the sources of
// the records: the origins of tables in of, and data of other types, which have no origin, in kept.
type origin struct {
	of   []*origin
	kept []Data
}

func (o *origin) copied() *origin { return &origin{of: []*origin{o}} }

// joined returns the origin of copies of all records of some data sets.
func joined(parts []Data) *origin {
	out := new(origin)
	for _, p := range parts {
		out.of = append(out.of, placesOf(p).homes...)
		if !hasOrigin(p) {
			out.kept = append(out.kept, p)
		}
	}
	return out
}

// hasOrigin reports whether the origins in a data set identify all of its records.
func hasOrigin(d Data) bool {
	switch own := d.(type) {
	case stated:
		return hasOrigin(own.Data)
	case *Table, *Frame, *SetTable:
		return true
	}
	return false
}

// descend reports whether a table in of was copied from data. from lists the origins in data.
func descend(of []*origin, data Data, from []*origin) bool {
	seen := map[*origin]bool{}
	for left := slices.Clone(of); len(left) > 0; {
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
		if slices.ContainsFunc(o.kept, func(d Data) bool { return Overlap(d, data) }) {
			return true
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
	held  []reflect.Value // data of other types, in wrappers too
	seen  map[visit]bool
	left  int // the number of values that may still be examined
	deep  int // the number of values around the one that is examined
	away  int // the number of consecutive pointers followed to values that are not data
}

// visit is an object that has been examined. It includes the type, since a struct and its first
// field have the same address.
type visit struct {
	at   uintptr
	is   reflect.Type
	away int
	n    int // of a list
}

// mostAway limits how many consecutive pointers are followed to values that are not data.
const mostAway = 3

// numbersAway limits how many such pointers may lead to numbers that count as records. One is
// enough for a structure with a pointer to its records.
const numbersAway = 1

// mostDeep bounds the stack that structures within structures take.
const mostDeep = 1000

// extent is a piece of memory.
type extent struct{ lo, hi uintptr }

// mostPlaces bounds the number of values that are examined, and so the time for a user-defined
// type.
const mostPlaces = 1 << 20

func placesOf(d Data) places {
	p := places{seen: map[visit]bool{}, left: mostPlaces}
	p.walk(reflect.ValueOf(bare(d)))
	slices.SortFunc(p.own, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	return p
}

// bare returns the data in wrappers of this package, whose fields reflection cannot copy.
func bare(d Data) Data {
	for {
		switch own := d.(type) {
		case stated:
			d = own.Data
		case *clamped:
			d = own.data
		default:
			return d
		}
	}
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

// walk records the storage of a data set or of one of its fields: data, and numbers up to
// numbersAway pointers away. Data sets may share a connection or a description without sharing
// records, so bytes behind a pointer do not count.
func (p *places) walk(v reflect.Value) {
	if p.left--; p.left < 0 || p.deep == mostDeep || !v.IsValid() || passed(v.Type()) {
		return
	}
	p.deep++
	defer func() { p.deep-- }()
	if k := v.Kind(); k != reflect.Pointer && k != reflect.Interface && v.Type().Name() != "" &&
		!ownTypes[v.Type()] && v.Type().Implements(dataType) && !v.IsZero() {
		p.held = append(p.held, v)
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
		if p.counts(v.Type()) {
			p.add(v.Pointer(), uintptr(v.Len())*v.Type().Elem().Size())
		}
		if !numeric(v.Type(), 8) { // may lead back here
			at := visit{v.Pointer(), v.Type(), p.away, v.Len()}
			if p.seen[at] {
				return
			}
			p.seen[at] = true
		}
		p.elements(v)
	case reflect.Array:
		if p.counts(v.Type()) && v.CanAddr() {
			p.add(v.UnsafeAddr(), v.Type().Size())
		}
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
	at := visit{v.Pointer(), v.Type(), p.away, 1}
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
		if p.away > numbersAway && numeric(v.Type(), 8) {
			return
		}
		for i := 0; i < v.Len() && p.left > 0; i++ {
			p.walk(v.Index(i))
		}
	}
}

// passed reports whether values of a type are not examined: schemas, and time zones, which moments
// share.
func passed(t reflect.Type) bool {
	return t == reflect.TypeFor[Schema]() || t == reflect.TypeFor[time.Location]()
}

// numeric reports whether a type consists of numbers, in slices or structs up to the given depth.
// A struct may have texts beside its numbers.
func numeric(t reflect.Type, depth int) bool {
	switch k := t.Kind(); k {
	case reflect.Slice, reflect.Array:
		return depth > 0 && numeric(t.Elem(), depth-1)
	case reflect.Struct:
		numbers := 0
		for i := range t.NumField() {
			f := t.Field(i).Type
			if f.Kind() == reflect.String {
				continue
			}
			if depth == 0 || !numeric(f, depth-1) {
				return false
			}
			numbers++
		}
		return numbers > 0
	default:
		return k >= reflect.Bool && k <= reflect.Complex128
	}
}

// counts reports whether a slice or an array of this type is storage of records where it was found.
func (p *places) counts(t reflect.Type) bool {
	return p.away <= numbersAway && numeric(t, 8) && (p.away == 0 || t.Elem().Kind() != reflect.Uint8)
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

// known records the storage of a value of one of this package's types, even if a user-defined type
// embeds the value. ok is false for other types. Each of these types has a single field, a
// reference. Reflection cannot use the value of an unexported field as data, but it can read this
// reference.
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
