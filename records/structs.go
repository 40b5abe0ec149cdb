package records

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/param"
)

// structTag is the key of the field tags that name columns.
const structTag = "privgen"

// FromStructs returns a frame of rows that are structs, one record each.
//
// A field belongs to the column that its tag names, as in
//
//	Age int `privgen:"age"`
//
// or, without a tag, to the column with the field's name; the tag "-" excludes a field. The fields
// of embedded structs count as the struct's own. A field is a text, a number, a bool, a type with
// one of these as its underlying type, an [encoding.TextMarshaler] or a [time.Time]. It may also be
// a pointer to one of these types; nil is a missing value. Values are read as [FrameBuilder.Append]
// reads them. Invalid values are not an error; [Check] reports them. An [Identifier] needs no
// field; if it has one, the field is not read.
//
// Errors: *[param.Error] if the schema is not of a table or T is not a struct, if a column has no
// field or two fields, if a tag names no column, or if a field has another type.
func FromStructs[T any](s Schema, rows []T) (*Frame, error) {
	b, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	fields, err := bind("records.FromStructs", s, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	for j, f := range fields {
		if f.index == nil || s.table.columns[j].kind == DatetimeColumn && f.isTime() {
			continue
		}
		if !cellLike(f.typ) {
			return nil, f.wrong("records.FromStructs", s, j, "a text, a number, a bool or a pointer to one")
		}
	}
	if len(rows) > maxRows {
		return nil, param.New("records.FromStructs.rows", "too many", fmt.Sprintf("at most %d", maxRows))
	}
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for j, f := range fields {
			if f.index == nil {
				b.appendMissing(j)
			} else {
				b.appendField(j, row.FieldByIndex(f.index))
			}
		}
		b.n++
	}
	return b.Frame(), nil
}

// Into returns the records of a table as structs. It may read generated records, for example.
// Fields are found as [FromStructs] finds them. A column of numbers fills a float. A column of
// whole numbers fills an integer type that holds its bounds, or a float type that represents all of
// its values. A datetime fills a [time.Time]. A duration fills a [time.Duration], or a float64 of
// seconds. An identifier fills a text, and needs no field. A column of levels fills a text or a
// type with UnmarshalText. If it has two levels, it may also fill a bool, which is true for the
// second level. A column with a missing value needs a pointer, which is nil for a missing value.
//
// Errors: *[param.Error] for data that are not a table, for the mistakes in structs listed at
// [FromStructs], and if a field cannot hold every value of its column. An example is a type whose
// UnmarshalText rejects a level. All of this is tested before a record is read.
func Into[T any](d Data) ([]T, error) {
	const path = "records.Into"
	if err := given(path, d); err != nil {
		return nil, err
	}
	s := d.Schema()
	if s.Kind() != MixedTable {
		return nil, param.New(path, s.Kind(), "records of a table")
	}
	fields, err := bind(path, s, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	for j, f := range fields {
		if f.index == nil {
			continue
		}
		if want := f.holds(s.table.columns[j]); want != "" {
			return nil, f.wrong(path, s, j, want)
		}
	}
	f, err := frameOf(s, d)
	if err != nil {
		return nil, err
	}
	rows := make([]T, f.Len())
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for j, field := range fields {
			if field.index == nil {
				continue
			}
			if !f.fill(row.FieldByIndex(field.index), i, j) { // the type rejects a level now
				return nil, field.wrong(path, s, j, "a type that reads a level the same way each time")
			}
		}
	}
	return rows, nil
}

// structField is the field that belongs to a column.
type structField struct {
	index []int
	name  string
	typ   reflect.Type
}

func (f structField) wrong(path string, s Schema, column int, want string) error {
	return param.New(fmt.Sprintf("%s field %s of column %q", path, f.name,
		s.table.columns[column].name), f.typ.String(), want)
}

// isTime reports whether a field is a time.Time, or a pointer to one.
func (f structField) isTime() bool {
	return f.typ == timeType || f.typ.Kind() == reflect.Pointer && f.typ.Elem() == timeType
}

// bind finds the field of each column. An identifier needs no field.
func bind(path string, s Schema, t reflect.Type) ([]structField, error) {
	if t.Kind() != reflect.Struct {
		return nil, param.New(path, t.String(), "a struct")
	}
	fields := make([]structField, len(s.table.columns))
	var c param.Checker
	for _, f := range reflect.VisibleFields(t) {
		name, tagged := f.Tag.Lookup(structTag)
		if name == "-" || f.Anonymous && !tagged {
			continue
		}
		if !tagged {
			name = f.Name
		}
		j := s.ColumnIndex(name)
		if j < 0 {
			c.OK(!tagged, path+" field "+f.Name, name, "the name of a column")
			continue
		}
		c.OK(f.IsExported() &&
			direct(t, f.Index), path+" field "+f.Name, "unexported or behind a pointer",
			"an exported field, not behind a pointer")
		c.OK(fields[j].index == nil, path+" field "+f.Name, fmt.Sprintf("column %q again", name),
			"one field for a column")
		fields[j] = structField{f.Index, f.Name, f.Type}
	}
	for j, f := range fields {
		name := s.table.columns[j].name
		optional := s.table.columns[j].kind == IdentifierColumn
		c.OK(f.index != nil || optional, path, fmt.Sprintf("no field for column %q", name),
			fmt.Sprintf("a field with the tag `%s:%q`", structTag, name))
	}
	return fields, c.Err()
}

// direct reports whether a field is reached without following a pointer, which may be nil.
func direct(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() != reflect.Struct {
			return false
		}
	}
	return true
}

var (
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	timeType        = reflect.TypeFor[time.Time]()
	durationType    = reflect.TypeFor[time.Duration]()
)

// cellLike reports whether values of a type can be read as cells.
func cellLike(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return reflect.PointerTo(t).Implements(textMarshaler) || slices.Contains(cellKinds, t.Kind())
}

// cellKinds are the kinds of value that FrameBuilder.Append reads.
var cellKinds = []reflect.Kind{reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
	reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
	reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64}

// appendField adds one cell. If MarshalText fails, the cell is unknown; the error may hold the
// value and is not returned.
func (b *FrameBuilder) appendField(j int, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			b.appendMissing(j)
			return
		}
		v = v.Elem()
	}
	if v.Type() == timeType && b.schema.table.columns[j].kind == DatetimeColumn {
		_ = b.appendValue(j, v.Interface())
		return
	}
	if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err != nil {
			b.appendUnknown(j)
		} else {
			b.appendText(j, strings.TrimSpace(string(text)))
		}
		return
	}
	_ = b.appendValue(j, v.Interface()) // its type has been checked
}

// holds returns "" if a field can hold every value of a column, and otherwise a description of a
// type that can.
func (f structField) holds(c Column) string {
	t, pointer := f.typ, f.typ.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	switch {
	case c.missing && !pointer:
		return "a pointer, which is nil for a missing value"
	case c.kind == IdentifierColumn:
		if t.Kind() != reflect.String {
			return "a text"
		}
	case c.kind == DatetimeColumn:
		if t != timeType {
			return "a time.Time"
		}
	case c.kind == DurationColumn:
		if t != durationType && t.Kind() != reflect.Float64 {
			return "a time.Duration, or a float64 of seconds"
		}
	case c.kind.hasLevels():
		text := t.Kind() == reflect.String || reflect.PointerTo(t).Implements(textUnmarshaler)
		if !text && !(t.Kind() == reflect.Bool && len(c.levels) == 2) {
			return "a text, or a bool for two levels"
		}
		if i := slices.IndexFunc(c.levels, func(l string) bool { return !takes(t, l) }); i >= 0 {
			return fmt.Sprintf("a type that reads the level %q", c.levels[i])
		}
	case t.Kind() == reflect.Float64 && !(c.kind == IntegerColumn && c.inTicks()):
	case t.Kind() == reflect.Float32 && (c.kind != IntegerColumn || max(-c.lo, c.hi) <= 1<<24):
	case c.kind != IntegerColumn:
		return "a float64 or float32"
	case !integersHold(t, c.least, c.most):
		return fmt.Sprintf("a type of number that holds %d to %d", c.least, c.most)
	}
	return ""
}

// takes reports whether a type accepts a level. Levels are public, so the result reveals nothing
// about the records.
func takes(t reflect.Type, level string) bool {
	u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	return !ok || u.UnmarshalText([]byte(level)) == nil
}

// integersHold reports whether a type is an integer type that holds both bounds.
func integersHold(t reflect.Type, lo, hi int64) bool {
	zero := reflect.Zero(t)
	switch {
	case zero.CanInt():
		return !zero.OverflowInt(lo) && !zero.OverflowInt(hi)
	case zero.CanUint():
		return lo >= 0 && !zero.OverflowUint(uint64(hi))
	}
	return false
}

// fill sets a field that can hold every value of its column to one cell, and reports whether the
// field's type accepted it.
func (f *Frame) fill(v reflect.Value, row, column int) bool {
	number, level := f.Number(row, column), f.Level(row, column)
	c := &f.schema.table.columns[column]
	if c.kind == IdentifierColumn {
		text, missing := f.text(row, column)
		if v.Kind() != reflect.Pointer {
			v.SetString(text)
		} else if !missing {
			v.Set(reflect.New(v.Type().Elem()))
			v.Elem().SetString(text)
		}
		return true
	}
	if v.Kind() == reflect.Pointer {
		if number != number && level < 0 {
			return true
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Type() == timeType:
		m, _ := f.Time(row, column)
		v.Set(reflect.ValueOf(m))
	case v.Type() == durationType && c.kind == DurationColumn:
		d, _ := f.Duration(row, column)
		v.SetInt(int64(d))
	case c.kind == IntegerColumn && !v.CanFloat():
		whole, _ := f.Whole(row, column)
		if v.CanInt() {
			v.SetInt(whole)
		} else {
			v.SetUint(uint64(whole))
		}
	case !c.kind.hasLevels():
		v.SetFloat(number)
	case v.Kind() == reflect.Bool:
		v.SetBool(level == 1)
	default:
		if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return u.UnmarshalText([]byte(c.levels[level])) == nil
		}
		v.SetString(c.levels[level])
	}
	return true
}
