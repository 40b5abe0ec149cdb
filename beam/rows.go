package beam

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/records"
)

// A Row is a row of a PCollection.
type Row struct {
	// ID tells the rows of one person apart or, where a row is the unit, all rows. Of several rows
	// with one ID, one counts.
	ID     string
	Person string // who contributes it; ignored where a row is the unit
	// Values are the row of a table as text, one for each column in the schema's order. "" is a
	// missing value, and so is one that a short row lacks; extra values are ignored.
	Values []string
	Items  []uint32 // the row of a set
}

// Parts says how rows of a PCollection are grouped before they are added up.
type Parts struct {
	// Unit is records.UnitRecord (or empty), where every row counts, or records.UnitUser, where all
	// rows of a person become one record: of a table the row with the least ID, of sets all items
	// together, cut to the schema's number of them.
	Unit string
	N    int // number of parts; one worker holds one in memory. 0 for 64
}

const defaultParts = 64

func (p Parts) withDefaults() Parts {
	return Parts{cmp.Or(p.Unit, records.UnitRecord), cmp.Or(p.N, defaultParts)}
}

// SumRows adds up a PCollection of [Row], grouped into parts by row or by person. Like [Sum] it
// returns sealed sums.
func SumRows(s sdk.Scope, set Settings, parts Parts, schema []byte, pass,
	rows sdk.PCollection) sdk.PCollection {
	s = s.Scope("privgen.SumRows")
	parts = parts.withDefaults()
	divided := sdk.ParDo(s, &divideFn{Parts: parts}, rows)
	all := sdk.ParDo(s, marked, sdk.CreateList(s, parts.numbers()))
	return sdk.ParDo(s, &partFn{Settings: set, Parts: parts, Schema: schema},
		sdk.CoGroupByKey(s, divided, all), sdk.SideInput{Input: pass})
}

// numbers are those of all parts. A part without rows has sums, too: otherwise the names in the
// clear would show which parts have rows, and thereby that a person who is alone in one is there.
func (p Parts) numbers() []int {
	list := make([]int, p.N)
	for i := range list {
		list[i] = i
	}
	return list
}

// name is that of a part's sums.
func (p Parts) name(part int) string { return fmt.Sprintf("part %d of %d", part, p.N) }

// marked is a mark that a part is there.
func marked(part int) (int, bool) { return part, true }

// divideFn sends a row to its part.
type divideFn struct{ Parts Parts }

// ProcessElement sends all rows of a person, or a row by its ID, to one part.
func (f *divideFn) ProcessElement(r Row, emit func(int, Row)) {
	emit(groupOf(f.Parts.owner(r), f.Parts.N), r)
}

// owner is what a row belongs to: a unit of the guarantee.
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

// bound makes one record of every unit of a part.
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

// before orders the rows of one owner: by ID, and rows of one ID by what they hold, so that what
// counts does not depend on the order in which they come.
func before(a, b Row) bool {
	if c := cmp.Compare(a.ID, b.ID); c != 0 {
		return c < 0
	}
	return slices.Compare(a.Values, b.Values) < 0
}

// recordsOf makes a data set of rows, one an owner, in the owners' order: every pass over them
// numbers them alike.
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
			if err := b.Add(records.CutSet(slices.Compact(r.Items), s.MaxItems())); err != nil {
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
		clear(row) // missing, where there are fewer values than columns
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
