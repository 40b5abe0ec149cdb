package records

import (
	"reflect"

	"github.com/seed7ba64551/privgen/internal/param"
)

// The units that one record can be.
const (
	UnitRecord = "record" // a row as it was read; a person may have several rows
	UnitUser   = "user"   // all that one person contributes
	// UnitPart is the unit of rows of users if one user may have several rows. This is possible if
	// rows were taken twice, or if joined pieces do not state different parts. No ledger promises to
	// protect UnitPart. If each user has only one row, the caller can state this by [WithUnit].
	UnitPart = "part of a user"
)

// UnitOf returns the unit whose presence a guarantee about these records protects. It is UnitRecord
// by default, and UnitUser if every row holds all that one person contributes, bounded by the
// schema. Data of any type may state their unit by a method Unit() string. A structure that embeds
// Data without this method has the unit of the embedded data.
func UnitOf(d Data) string {
	for range mostWrappers {
		if u, ok := d.(interface{ Unit() string }); ok && u.Unit() != "" {
			return u.Unit()
		}
		inner, ok := embedded(d)
		if !ok {
			return UnitRecord
		}
		d = inner
	}
	return UnitPart // wrappers in a circle
}

// mostWrappers is how many structures around data are opened.
const mostWrappers = 64

// embedded returns the first data that a structure embeds, by interface, by value or by pointer.
func embedded(d Data) (Data, bool) {
	v := reflect.Indirect(reflect.ValueOf(d))
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	v = addressable(v)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.Anonymous || !reflect.PointerTo(f.Type).Implements(dataType) &&
			!f.Type.Implements(dataType) {
			continue
		}
		field := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer())
		if inner, ok := field.Elem().Interface().(Data); ok {
			return inner, true
		}
		if inner, ok := field.Interface().(Data); ok {
			return inner, true
		}
	}
	return nil, false
}

var dataType = reflect.TypeFor[Data]()

// addressable returns a copy of a value, if it may be copied, whose fields have addresses.
func addressable(v reflect.Value) reflect.Value {
	if !v.CanInterface() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

// WithUnit returns the same records and states their unit: each record is all that one such unit
// contributes. The caller is responsible for the truth of the statement. WithUnit(nil, …) is nil.
func WithUnit(d Data, unit string) Data {
	if d == nil {
		return nil
	}
	return stated{Data: d, unit: unit}
}

// WithPart returns the same records and states their part. Each unit that contributes to these
// records, such as a user, contributes to no other part. part is counted from 0, and parts is the
// number of parts. The caller is responsible for the truth of the statement. A part can be chosen
// by a hash of the user's name, for example. Sums over records that arrive in pieces protect a user
// only if the pieces state different parts; see package merf. WithPart(nil, …) is nil, and an
// invalid part is ignored.
func WithPart(d Data, part, parts int) Data {
	if d == nil || part < 0 || part >= parts {
		return d
	}
	return stated{Data: d, unit: UnitOf(d), part: part, parts: parts}
}

// PartOf returns the part stated by [WithPart] and the number of parts, or 0 and 0 if no part is
// stated. Data of any type may state it by a method Part() (part, parts int). A structure that
// embeds Data must have this method if its records are all in the part of what it embeds: this is
// not assumed, since it may hold other records too.
func PartOf(d Data) (part, parts int) {
	switch own := d.(type) {
	case stated:
		if own.parts == 0 {
			return PartOf(own.Data)
		}
		return own.part, own.parts
	case *clamped:
		return PartOf(own.data)
	case interface{ Part() (part, parts int) }:
		if part, parts = own.Part(); part >= 0 && part < parts {
			return part, parts
		}
	}
	return 0, 0
}

// jointUnit returns the unit of the rows of several data sets together. A single data set keeps its
// unit. Otherwise the unit is UnitRecord if all rows are records, and UnitPart if not.
func jointUnit(parts []Data) string {
	if len(parts) == 1 {
		return UnitOf(parts[0])
	}
	for _, p := range parts {
		if UnitOf(p) != UnitRecord {
			return UnitPart
		}
	}
	return UnitRecord
}

// given returns an error if data are nil.
func given(path string, d Data) error {
	if d == nil {
		return param.New(path, nil, "records")
	}
	return nil
}

// restated returns out with the unit and the part that the data set of states. Each record of out
// must be a record of that data set.
func restated(out, of Data) Data {
	unit := UnitOf(of)
	part, parts := PartOf(of)
	if unit != UnitOf(out) || parts > 0 {
		return stated{Data: out, unit: unit, part: part, parts: parts}
	}
	return out
}

type stated struct {
	private
	Data
	unit        string
	part, parts int
}

func (s stated) Unit() string { return s.unit }
func (s stated) Stated() Data { return s.Data } // for package sgd

// unstated returns the records in wrappers that state a unit or a part, and other data unchanged.
func unstated(d Data) Data {
	for s, ok := d.(stated); ok; s, ok = d.(stated) {
		d = s.Data
	}
	return d
}
