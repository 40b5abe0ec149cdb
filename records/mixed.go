package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// mixed is the part of a schema that only tables have. It is immutable, so copies of a schema share
// it.
type mixed struct {
	columns []Column
	blocks  []Block
	cells   []cellCode // one for each column
	label   int        // the column of the class, or -1
	valid   bool       // the columns are known to be valid, which many calls of Validate need

	constraints []Constraint // rules that generated records obey
	rules       []rule       // the constraints, compiled
	fault       error        // the mistakes in the constraints
}

// Block states the position of one column in an encoded vector: the coordinates Offset …
// Offset+Width-1, each in [0, 1].
//
// In a one-hot block exactly one coordinate is 1 and the others are 0. If the column has a missing
// value, the last coordinate of the block stands for it. Any other block is one number. If the
// column has a missing value, the block has a second coordinate: 1 for a missing value (the number
// is then 0) and 0 otherwise. The norm of a block is at most 1 in either case.
//
// The parts of a date, if a column has them, are separate one-hot blocks that follow the block of
// the moment.
type Block struct {
	Column        int
	Offset, Width int
	OneHot        bool
	Part          CalendarParts // the part of a date in the block; 0 for the column itself
}

// NewSchema returns the schema of a table, whose columns may be of different kinds. It may have a
// label or a target, but not both. [Frame] holds such records.
//
// Errors: *[param.Error], joined: a repeated name or level, bounds that are not in order, no column
// to encode, a second label or target, and invalid settings of a column.
func NewSchema(columns ...Column) (Schema, error) {
	columns = slices.Clone(columns)
	if err := validateColumns(columns); err != nil {
		return Schema{}, err
	}
	return tableSchema(columns, true), nil
}

// tableSchema returns the schema of columns, which may be known to be valid.
func tableSchema(columns []Column, valid bool) Schema {
	m := &mixed{columns: columns, label: -1, valid: valid}
	s := Schema{kind: MixedTable, lo: 0, hi: 1, table: m}
	for i, c := range columns {
		code := newCellCode(c, s.dim)
		m.cells = append(m.cells, code)
		switch c.kind.of().role {
		case identifierRole:
			continue
		case classRole:
			m.label = i
			s.classes, s.distinct = slices.Clone(c.levels), true // the columns are valid
			s.unknown = int(code.other)
			continue
		}
		m.blocks = append(m.blocks,
			Block{Column: i, Offset: s.dim, Width: code.width, OneHot: code.oneHot})
		for _, p := range code.parts {
			m.blocks = append(m.blocks,
				Block{Column: i, Offset: p.offset, Width: p.width, OneHot: true, Part: p.part})
		}
		s.dim += code.total()
	}
	return s
}

func validateColumns(columns []Column) error {
	var errs []error
	seen := map[string]bool{}
	special, encoded, width, buckets := 0, 0, 0, 0
	for i, c := range columns {
		if len(errs) >= maxDefects {
			return errors.Join(errs[:maxDefects]...)
		}
		errs = append(errs, c.validate(i)...)
		if seen[c.name] {
			errs = append(errs,
				param.New(fmt.Sprintf("records.Column[%d].Name", i), quotedName(c.name), "a unique name"))
		}
		seen[c.name] = true
		if role := c.kind.of().role; role == classRole || role == targetRole {
			special++
		}
		if c.kind.of().hashed {
			buckets += len(c.levels)
		}
		if c.kind.encoded() {
			encoded++
			width += len(c.levels) + 2
		}
		if c.parts != 0 {
			width += 12 + 7 + 24 + 3
		}
	}
	if buckets > maxBuckets {
		errs = append(errs, param.New("records.NewSchema", fmt.Sprintf("%d buckets", buckets),
			fmt.Sprintf("at most %d in all columns together", maxBuckets)))
	}
	if special > 1 {
		errs = append(errs,
			param.New("records.NewSchema", fmt.Sprintf("%d labels and targets", special), "at most one"))
	}
	if encoded == 0 || width > maxDim {
		errs = append(errs, param.New("records.NewSchema", fmt.Sprintf("%d columns to encode", encoded),
			fmt.Sprintf("at least one besides the label, and at most %d coordinates", maxDim)))
	}
	return errors.Join(errs...)
}

// Columns returns the columns of a table in order, nil for other kinds.
func (s Schema) Columns() []Column {
	if s.table == nil {
		return nil
	}
	return slices.Clone(s.table.columns)
}

// ColumnIndex returns the index of the column with a name, or -1 if there is none.
func (s Schema) ColumnIndex(name string) int {
	if s.table == nil {
		return -1
	}
	return slices.IndexFunc(s.table.columns, func(c Column) bool { return c.name == name })
}

// Blocks returns the layout of a table's encoded vector: one block for every column except the
// label and identifiers, in order, and one for every part of a date. It returns nil for other
// kinds.
func (s Schema) Blocks() []Block {
	if s.table == nil {
		return nil
	}
	return slices.Clone(s.table.blocks)
}

// relabelled returns a table's schema with another label, or without one.
func (s Schema) relabelled(names []string) Schema {
	columns := slices.DeleteFunc(s.Columns(), func(c Column) bool { return c.kind.isClass() })
	if len(names) > 0 {
		name := "class"
		for s.table.label < 0 && s.ColumnIndex(name) >= 0 {
			name += "_"
		}
		if s.table.label >= 0 {
			name = s.table.columns[s.table.label].name
		}
		columns = append(columns, Label(name, names...))
	}
	return s.rebuilt(columns)
}

// rebuilt returns the schema with other columns, keeping the constraints whose columns remain.
func (s Schema) rebuilt(columns []Column) Schema {
	out := tableSchema(columns, validateColumns(columns) == nil)
	var left []Constraint
	for _, c := range s.table.constraints {
		if !slices.ContainsFunc(c.columns, func(name string) bool { return out.ColumnIndex(name) < 0 }) {
			left = append(left, c)
		}
	}
	if len(left) > 0 {
		out = out.WithConstraints(left...)
	}
	return out
}

// withUnknown declares the level that unknown classes of a table become.
func (s Schema) withUnknown(name string) Schema {
	if s.table.label >= 0 {
		columns := s.Columns()
		columns[s.table.label] = columns[s.table.label].WithOther(name)
		s = s.rebuilt(columns)
	}
	return s
}

// equal reports whether both schemas are of tables with the same columns, or neither is of a table.
func (m *mixed) equal(o *mixed) bool {
	if m == nil || o == nil {
		return m == o
	}
	return slices.EqualFunc(m.columns, o.columns, Column.same)
}

// String counts the columns of every kind.
func (m *mixed) String() string {
	var count [columnKindEnd]int
	for _, c := range m.columns {
		count[c.kind]++
	}
	var parts []string
	for k := ColumnKind(1); k < columnKindEnd; k++ {
		if count[k] > 0 && !k.isClass() {
			parts = append(parts, fmt.Sprintf("%d %v", count[k], k))
		}
	}
	return strings.Join(parts, ", ")
}
