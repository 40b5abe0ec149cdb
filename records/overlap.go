package records

import (
	"cmp"
	"io/fs"
	"os"
	"reflect"
	"slices"
)

// Overlap reports whether two data sets are known to hold the same records: whether one is the other, a
// slice or another view of it, rows taken from it, the same mapped file, or a wrapper around any of
// these, also one of a type that is not this package's. Algorithms that are told which records are
// public refuse the private ones by it.
//
// It compares where records are stored and which table they were taken from, never what they are, so
// its answer depends on no record's value. It is therefore false for copies that were made in another
// way. Of a table, rows that were taken and a slice count as the same, whichever rows they are; two
// slices, and rows that were taken twice, may be different records.
func Overlap(a, b Data) bool {
	x, y := placesOf(a), placesOf(b)
	return meet(x.own, y.own) || sameFile(x.files, y.files) || descend(x.homes, y.homes) ||
		descend(y.homes, x.homes)
}

// origin tells the records of one table from equal ones, and remembers of which table they are copies.
type origin struct{ of *origin }

func (o *origin) copied() *origin { return &origin{o} }

// descend reports whether one of some tables was copied from one of others.
func descend(from, to []*origin) bool {
	for _, o := range to {
		for o != nil {
			if o = o.of; o != nil && slices.Contains(from, o) {
				return true
			}
		}
	}
	return false
}

// places is where a data set keeps its records.
type places struct {
	own   []extent // storage
	homes []*origin
	files []fs.FileInfo
	seen  map[uintptr]bool
	left  int // how much more is looked at
}

// extent is a piece of memory.
type extent struct{ lo, hi uintptr }

// mostPlaces bounds the time that a foreign type's lists of rows can take.
const mostPlaces = 1 << 20

func placesOf(d Data) places {
	p := places{seen: map[uintptr]bool{}, left: mostPlaces}
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

// walk notes what a data set, or a field of one, holds records in. Of what is not data itself only
// numbers count, and pointers are not followed: data sets that share a connection or a description
// do not share records.
func (p *places) walk(v reflect.Value) {
	if p.left--; p.left < 0 {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() && v.Elem().Type().Implements(dataType) {
			p.walk(v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Implements(dataType) && !p.seen[v.Pointer()] {
			p.seen[v.Pointer()] = true
			p.object(v)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.Type() != reflect.TypeFor[Schema]() {
				p.walk(f)
			}
		}
	case reflect.Slice:
		if numeric(v.Type(), 8) {
			p.add(v.Pointer(), uintptr(v.Len())*v.Type().Elem().Size())
		}
		p.elements(v)
	case reflect.Array:
		p.elements(v)
	}
}

func (p *places) elements(v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Array:
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

// object notes what a pointer to data holds. Reading an unexported field of a foreign type gives no
// value that could be used as data, but its address does.
func (p *places) object(v reflect.Value) {
	switch t := reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Interface().(type) {
	case *Table:
		p.table(t.home, t.flat, t.bytes, t.labels.raw)
	case *Frame:
		p.table(t.home)
		for _, c := range t.cells {
			p.table(nil, c.numbers, c.levels)
		}
	case *SetTable:
		p.sets(t)
	case *MappedSets:
		p.mapped(t)
	default:
		p.add(v.Pointer(), v.Type().Elem().Size())
		p.walk(v.Elem())
	}
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

// mapped notes the reader and, where it has one, the file.
func (p *places) mapped(m *MappedSets) {
	if m.info != nil {
		p.files = append(p.files, m.info)
	} else if f, ok := m.file.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil {
			p.files = append(p.files, info)
		}
	}
	if v := reflect.ValueOf(m.file); v.Kind() == reflect.Pointer && !v.IsNil() {
		p.add(v.Pointer(), v.Type().Elem().Size())
		p.walk(v.Elem())
	}
}
