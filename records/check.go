package records

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// maxDefects is the number of defects that are reported individually.
const maxDefects = 20

// A Defect is one violation of the schema by a record. It states the place and the kind of the
// violation, never the value.
type Defect struct {
	Row     int // counted from 0
	Column  int // counted from 0; for a table, the index of the schema's column; -1 for the label
	Problem string

	name string // of the column of a table
}

func (d *Defect) Error() string {
	if d.Column < 0 {
		return fmt.Sprintf("records: row %d, label: %s", d.Row, d.Problem)
	}
	if d.name != "" {
		return fmt.Sprintf("records: row %d, column %q: %s", d.Row, d.name, d.Problem)
	}
	return fmt.Sprintf("records: row %d, column %d: %s", d.Row, d.Column, d.Problem)
}

// defects counts all defects and keeps the first few.
type defects struct {
	first []Defect
	count int
}

func (d *defects) add(row, column int, problem string) {
	if d.count++; len(d.first) < maxDefects {
		d.first = append(d.first, Defect{Row: row, Column: column, Problem: problem})
	}
}

// named sets the column names of the defects if s is the schema of a table.
func (d *defects) named(s Schema) {
	for i := range d.first {
		if at := d.first[i].Column; s.table != nil && at >= 0 && at < len(s.table.columns) {
			d.first[i].name = s.table.columns[at].name
		}
	}
}

func (d *defects) err() error {
	var errs []error
	for i := range d.first {
		errs = append(errs, &d.first[i])
	}
	if more := d.count - len(d.first); more > 0 {
		errs = append(errs, fmt.Errorf("records: and %d more", more))
	}
	return errors.Join(errs...)
}

// Check is a strict test that the owner of the data may run before a fit. It reports values that
// are not numbers, values and labels outside the schema, and items outside the universe. It also
// reports sets with too many items, and rows of a table that break a constraint of the schema.
// Algorithms do not call Check: they read clamped records.
//
// Guarantee: none. The result depends on the records and is not private: show it only to the owner
// of the records. Errors: the first twenty *[Defect] values, joined, and the number of further
// defects; *[param.Error] if d is nil. No error carries a record's value.
func Check(d Data) error {
	if err := given("records.Check", d); err != nil {
		return err
	}
	d = unstated(d)
	switch t := d.(type) {
	case *Table:
		return t.check()
	case *SetTable:
		return t.check()
	case *Frame:
		return t.check()
	case *Persons: // as Data, Persons hold only one row of each person
		return Check(t.rows)
	case *Linked:
		return t.check()
	}
	return checkEncoded(d)
}

func (t *Table) check() error {
	if t.Len() == 0 {
		return nil
	}
	var found defects
	if t.bytes == nil {
		found.dense(t.flat, 0, t.schema)
	}
	found.labels(t.labels.raw, 0, t.schema)
	return found.err()
}

func (t *SetTable) check() error {
	if t.Len() == 0 {
		return nil
	}
	found := t.defects
	found.first = append([]Defect(nil), found.first...)
	found.labels(t.labels.raw, 0, t.schema)
	return found.err()
}

// dense tests values in row-major order. The first value belongs to row base.
func (d *defects) dense(flat []float32, base int, s Schema) {
	e := newEncoder(s)
	for k, v := range flat {
		if problem := e.problem(v); problem != "" {
			d.add(base+k/s.dim, k%s.dim, problem)
		}
	}
}

func (e encoder) problem(v float32) string {
	switch {
	case v != v:
		return "not a number"
	case !(v >= e.lo && v <= e.hi):
		return "outside the bounds"
	case e.binary && v != 0 && v != 1:
		return "neither 0 nor 1"
	}
	return ""
}

func (d *defects) labels(labels []int32, base int, s Schema) {
	for i, l := range labels {
		if l < 0 || int(l) >= s.Classes() {
			d.add(base+i, -1, "none of the classes")
		}
	}
}

// checkEncoded tests the encoded records of a user-defined type. These should already obey the
// schema.
func checkEncoded(d Data) error {
	const chunk = 1024
	var (
		found defects
		b     device.Batch
		s     = d.Schema()
	)
	if err := s.Validate(); err != nil {
		return err
	}
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		if b.Sparse != nil {
			found.sparse(b.Sparse, b.Rows, lo, s)
		} else {
			for i := range b.Rows {
				found.dense(b.Dense.Row(i), lo+i, s)
				found.blocks(b.Dense.Row(i), lo+i, s)
			}
		}
		found.labels(b.Labels, lo, s)
	}
	return found.err()
}

// blocks tests that the coordinates of an encoded row of a table are consistent.
func (d *defects) blocks(values []float32, row int, s Schema) {
	for _, block := range s.Blocks() {
		sum := float32(0)
		at := values[block.Offset:][:block.Width]
		for _, v := range at {
			sum += v
		}
		switch {
		case block.OneHot && (sum != 1 || slices.Max(at) != 1):
			d.add(row, block.Column, "not exactly one level")
		case !block.OneHot && block.Width == 2 && at[1] != 0 && (at[1] != 1 || at[0] != 0):
			d.add(row, block.Column, "marked as missing but has a value")
		}
	}
}

func (d *defects) sparse(m *device.Sparse, rows, base int, s Schema) {
	for i := range rows {
		row := m.Items[m.Offsets[i]:m.Offsets[i+1]]
		if len(row) > s.maxItems {
			d.add(base+i, s.maxItems, "more items than the schema allows")
		}
		for j, item := range row {
			if int64(item) >= int64(s.dim) {
				d.add(base+i, j, "item outside the universe")
			}
		}
	}
}
