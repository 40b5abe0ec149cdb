package beam

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/records"
)

// A Row is a row of a PCollection.
type Row struct {
	// ID distinguishes the rows of one person or, if the unit is a row, all rows. Of several rows
	// with the same ID, only one counts.
	ID     string
	Person string // the person who contributes the row; ignored if the unit is a row
	// Values are the cells of a table's row as text, one for each column in the schema's order. ""
	// is a missing value. The cells that a short row lacks at its end are missing, too. Extra
	// values are ignored.
	Values []string
	Items  []uint32 // the items of a set's row
}

// Parts describes how rows of a PCollection are grouped before they are added up.
type Parts struct {
	// Unit is records.UnitRecord (or empty) or records.UnitUser. With UnitRecord every ID is a
	// record: a guarantee holds for all rows of an ID together. With UnitUser all rows of a person
	// become one record. In a table it is the row with the smallest ID, and of rows with the same ID
	// the first by content. For sets it is the union of all items, cut to the schema's maximum number.
	// A row that names no person, or no ID if the unit is a row, is dropped: one record of all such
	// rows would be a second record of their persons.
	Unit string
	N    int // number of parts, each of which must fit into one worker's memory; 0 for 64
}

const defaultParts = 64

func (p Parts) withDefaults() Parts {
	return Parts{cmp.Or(p.Unit, records.UnitRecord), cmp.Or(p.N, defaultParts)}
}

// SumRows adds up a PCollection of [Row], grouped into parts by row or by person. It returns sealed
// sums, as [Sum] does.
func SumRows(s sdk.Scope, set Settings, parts Parts, schema []byte, pass,
	rows sdk.PCollection) sdk.PCollection {
	s = s.Scope("privgen.SumRows")
	parts = parts.withDefaults()
	divided := sdk.ParDo(s, &divideFn{Parts: parts}, rows)
	all := sdk.ParDo(s, marked, sdk.CreateList(s, parts.numbers()))
	return sdk.ParDo(s, &partFn{Settings: set, Parts: parts, Schema: schema},
		sdk.CoGroupByKey(s, divided, all), sdk.SideInput{Input: pass})
}

// numbers returns the numbers of all parts. A part without rows has sums, too. Otherwise the
// unencrypted names would reveal which parts have rows. They could reveal a person who is alone in
// a part.
func (p Parts) numbers() []int {
	list := make([]int, p.N)
	for i := range list {
		list[i] = i
	}
	return list
}

// name returns the name of a part's sums.
func (p Parts) name(part int) string { return fmt.Sprintf("part %d of %d", part, p.N) }

// marked returns a mark for a part, so that parts without rows are processed too.
func marked(part int) (int, bool) { return part, true }

// divideFn sends a row to its part.
type divideFn struct{ Parts Parts }

// ProcessElement sends all rows of a person, or a row by its ID, to one part. It drops a row
// without an owner.
func (f *divideFn) ProcessElement(r Row, emit func(int, Row)) {
	if owner := f.Parts.owner(r); strings.TrimSpace(owner) != "" {
		emit(groupOf(owner, f.Parts.N), r)
	}
}

// owner returns the unit of the guarantee to which a row belongs.
func (p Parts) owner(r Row) string {
	if p.Unit == records.UnitRecord {
		return r.ID
	}
	return r.Person
}

// partFn adds up a part.
type partFn struct {
	Settings
	Parts  Parts
	Schema []byte
	step   step
}

// ProcessElement adds up the units of one part.
func (f *partFn) ProcessElement(ctx context.Context, part int, rows func(*Row) bool,
	_ func(*bool) bool, pass []byte, emit func(int, []byte)) error {
	f.step.Settings = f.Settings
	var schema records.Schema
	if err := schema.UnmarshalJSON(f.Schema); err != nil {
		return err
	}
	sums, err := f.step.empty(pass)
	if err != nil {
		return err
	}
	if err := sums.Begin(f.Parts.name(part)); err != nil {
		return err
	}
	data, err := f.Parts.bound(schema, part, rows)
	if err != nil {
		return err
	}
	if err := sums.Add(ctx, data); err != nil {
		return err
	}
	return f.step.emit(sums, f.Parts.name(part), emit)
}

// bound returns one record for every unit of a part.
func (p Parts) bound(s records.Schema, part int, rows func(*Row) bool) (records.Data, error) {
	units := map[string]Row{}
	for r := (Row{}); rows(&r); r = (Row{}) {
		owner := p.owner(r)
		kept, known := units[owner]
		switch {
		case !known:
			kept = r
		case s.Sparse():
			kept.Items = append(kept.Items, r.Items...)
		case before(r, kept):
			kept = r
		}
		units[owner] = kept
	}
	d, err := recordsOf(s, units)
	if err != nil {
		return nil, err
	}
	return records.WithPart(records.WithUnit(d, p.Unit), part, p.N), nil
}

// before orders the rows of one owner by ID, and rows with the same ID by their content. The
// counted row therefore does not depend on the order of arrival.
func before(a, b Row) bool {
	if c := cmp.Compare(a.ID, b.ID); c != 0 {
		return c < 0
	}
	return slices.Compare(a.Values, b.Values) < 0
}

// recordsOf returns a data set with one row for each owner, in the order of owners. Every pass
// therefore gives each row the same number.
func recordsOf(s records.Schema, units map[string]Row) (records.Data, error) {
	owners := slices.Sorted(maps.Keys(units))
	if s.Sparse() {
		b, err := records.NewSetBuilder(s)
		if err != nil {
			return nil, err
		}
		for _, owner := range owners {
			r := units[owner]
			slices.Sort(r.Items)
			if err := b.Add(slices.Compact(r.Items)); err != nil { // drops unknown items, and cuts the rest
				return nil, err
			}
		}
		return b.Table()
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	row := make([]any, len(s.Columns()))
	for _, owner := range owners {
		r := units[owner]
		clear(row) // cells without a value are missing
		for j, v := range r.Values[:min(len(r.Values), len(row))] {
			if v != "" {
				row[j] = v
			}
		}
		if err := b.Append(row...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}
