package records

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Concat joins data of one schema into a single table, in order: a [*SetTable] for sets, a [*Frame]
// for tables, a [*Table] otherwise. Without parts the result is an empty table. If several parts
// hold rows of users, the unit of the result is [UnitPart]. A frame or table whose unit is not a
// record is wrapped by [WithUnit]. A copy of one part that states [WithPart] states it, too.
//
// Errors: *param.Error if a part has another schema.
func Concat(s Schema, parts ...Data) (Data, error) {
	s, n := s.ByPerson(0), 0
	for _, p := range parts {
		if err := given("records.Concat", p); err != nil {
			return nil, err
		}
		if _, persons := AsPersons(p); persons {
			return nil, param.New("records.Concat", "persons", "rows, such as those of Persons.Rows")
		}
		if !p.Schema().Equal(s) {
			return nil, &param.Error{Path: "records.Concat", Value: p.Schema().String(), Want: s.String()}
		}
		n += p.Len()
	}
	unit := jointUnit(parts)
	if s.Sparse() {
		t, err := concatSets(s, parts)
		if err != nil {
			return nil, err
		}
		t.unit, t.home = unit, joined(parts)
		return alone(t, parts), nil
	}
	out, err := concatOthers(s, n, parts)
	if err == nil && len(parts) == 1 {
		return alone(out, parts), nil
	}
	if err != nil || unit == UnitRecord {
		return out, err
	}
	return WithUnit(out, unit), nil
}

// alone returns out with the unit and the part of the only data set that it has the records of.
// Several data sets lose their part.
func alone(out Data, parts []Data) Data {
	if len(parts) != 1 {
		return out
	}
	return restated(out, parts[0])
}

func concatOthers(s Schema, n int, parts []Data) (Data, error) {
	if s.kind == MixedTable {
		return concatFrames(s, parts)
	}
	return concatRows(s, n, parts)
}

func concatRows(s Schema, n int, parts []Data) (Data, error) {
	flat := make([]float32, 0, n*s.Dim())
	var labels []int32
	for _, p := range parts {
		flat, labels = appendRows(flat, labels, p)
	}
	t, err := FromFlat(s, flat, labels...)
	if err != nil {
		return nil, err
	}
	t.home = joined(parts)
	return t, nil
}

// appendRows appends the encoded rows and the labels of data.
func appendRows(flat []float32, labels []int32, d Data) ([]float32, []int32) {
	var b device.Batch
	d.Range(0, d.Len(), &b)
	for i := range b.Rows {
		flat = append(flat, b.Dense.Row(i)...)
	}
	return flat, append(labels, b.Labels...)
}

func concatSets(s Schema, parts []Data) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	var labels []int32
	for _, p := range parts {
		if s.Classes() > 0 {
			labels = append(labels, labelsOf(p)...)
		}
		err := EachSet(p, func(_ int, items []uint32) error {
			b.add(items)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return b.table(labels)
}

func labelsOf(d Data) []int32 {
	var b device.Batch
	d.Range(0, d.Len(), &b)
	return b.Labels
}

// AsFrame returns d if it is a frame, or the frame that [WithUnit] or [WithPart] wraps; ok is false
// for other data. The frame alone does not state the wrapper's unit and part: its unit is a record.
func AsFrame(d Data) (f *Frame, ok bool) {
	f, ok = unstated(d).(*Frame)
	return f, ok
}

// frameOf returns d as a frame: the frame of AsFrame if there is one, and d's decoded rows
// otherwise.
func frameOf(s Schema, d Data) (*Frame, error) {
	if f, ok := AsFrame(d); ok {
		return f, nil
	}
	flat, labels := appendRows(nil, nil, d)
	f, err := DecodeFlat(s, flat, labels...)
	if err == nil {
		f.home = joined([]Data{d})
	}
	return f, err
}
