package records

import "reflect"

// Public holds records that the caller has declared public; see [DeclarePublic]. Arguments whose
// records are used without noise have this type. The zero value holds no records.
type Public struct{ data Data }

// DeclarePublic declares records public.
//
// Guarantee: none. Algorithms use these records without noise and without a price. The caller
// promises that none of them is a record of the private data, and that whatever is computed from
// them may be published. No value is compared, because a comparison would reveal information about
// private records. Only a mistake that needs no comparison is found; see [Public.Overlaps].
func DeclarePublic(data Data) Public { return Public{data} }

// Data returns the records, or nil for the zero value.
func (p Public) Data() Data { return p.data }

// Overlaps reports whether these records are known to be private ones too. They are if they are the
// same value, or if one was made from the other by functions of this package, such as Slice, Take,
// [Concat], [Binarize], [GroupBy], [WithUnit] and [Frame.Encoded]. A structure that embeds Data is
// what it embeds. Two slices of one table may be different records and do not overlap. Other copies
// and wrappers are not recognised.
func (p Public) Overlaps(private Data) bool {
	a, b := bare(p.data), bare(private)
	if a == nil || b == nil {
		return false
	}
	if reflect.ValueOf(a).Comparable() && a == b {
		return true
	}
	x, y := originOf(a), originOf(b)
	return x.includes(y) || y.includes(x)
}

// bare returns the data in wrappers of this package, and in structures that embed Data.
func bare(d Data) Data {
	for range mostWrappers {
		if wrapper, ok := d.(interface{ base() Data }); ok {
			d = wrapper.base()
			continue
		}
		v := reflect.Indirect(reflect.ValueOf(d))
		if v.Kind() != reflect.Struct {
			return d
		}
		f, ok := v.Type().FieldByName("Data")
		if !ok || !f.Anonymous || f.Type != dataType || len(f.Index) != 1 {
			return d
		}
		d, _ = v.FieldByIndex(f.Index).Interface().(Data)
	}
	return nil // wrappers in a circle
}

func (c *clamped) base() Data { return c.data }

func (p *Persons) base() Data {
	if p == nil || p.personsRef == nil {
		return nil
	}
	return p.rows
}

// An origin is the identity of a table. It names the tables that the table was made from, and holds
// no record.
type origin struct{ of []*origin }

// derived returns the origin of a table that is made from a table with origin o.
func (o *origin) derived() *origin { return &origin{of: []*origin{o}} }

// joined returns the origin of copies of all records of some data sets.
func joined(parts []Data) *origin {
	out := new(origin)
	for _, p := range parts {
		if o := originOf(bare(p)); o != nil {
			out.of = append(out.of, o)
		}
	}
	return out
}

// originOf returns the origin of a table of this package, and of data that embed one; nil for other
// data.
func originOf(d Data) *origin {
	if t, ok := d.(interface{ origin() *origin }); ok {
		return t.origin()
	}
	return nil
}

func (t *Table) origin() *origin {
	if t == nil || t.tableRef == nil {
		return nil
	}
	return t.home
}

func (f *Frame) origin() *origin {
	if f == nil || f.frameRef == nil {
		return nil
	}
	return f.home
}

func (t *SetTable) origin() *origin {
	if t == nil || t.setRef == nil {
		return nil
	}
	return t.home
}

// includes reports whether a table with origin o was made from a table with origin other.
func (o *origin) includes(other *origin) bool {
	if o == nil || other == nil {
		return false
	}
	seen, left := map[*origin]bool{}, []*origin{o}
	for len(left) > 0 {
		o, left = left[len(left)-1], left[:len(left)-1]
		if o == other {
			return true
		}
		if o != nil && !seen[o] {
			seen[o] = true
			left = append(left, o.of...)
		}
	}
	return false
}
