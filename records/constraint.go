package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Constraint is a public rule that generated records obey. It is declared with a schema by
// [Schema.WithConstraints], or for one draw. Records that are read need not obey it; [Check]
// reports records that break it.
//
// Enforcing a constraint uses only its declaration and generated records. It is post-processing and
// changes no guarantee.
type Constraint struct {
	kind     constraintKind
	columns  []string
	lo, hi   string     // "" for no bound
	rows     [][]string // "" is a missing value
	items    []uint32
	missing  bool
	repaired bool
}

type constraintKind uint8

const (
	noConstraint constraintKind = iota
	withinConstraint
	onlyConstraint
	ascendingConstraint
	strictlyConstraint
	combinationConstraint
	determinesConstraint
	uniqueConstraint
	itemsConstraint
	noItemsConstraint
	constraintEnd
)

var constraintNames = [...]string{"", "within", "only", "ascending", "strictly ascending",
	"combinations", "determines", "unique", "items", "no items"}

// Within requires the values of a column to lie between lo and hi, both included. Bounds are
// numbers, values of [time.Time] or [time.Duration], texts of these, or names of ordered levels;
// nil means no bound. A missing value breaks the constraint unless [Constraint.OrMissing] allows
// it.
func Within(column string, lo, hi any) Constraint {
	return Constraint{kind: withinConstraint, columns: []string{column}, lo: valueText(lo),
		hi: valueText(hi)}
}

// Only requires a column to hold one of the given values. They are written as for [Within] or as
// names of levels. A nil among the values allows a missing value.
func Only(column string, values ...any) Constraint {
	c := Constraint{kind: onlyConstraint, columns: []string{column}}
	for _, v := range values {
		c.rows = append(c.rows, []string{valueText(v)})
	}
	return c
}

// Ascending requires the value of each column to be at most the value of the next column. An
// example is the days on which an order was placed, sent and received. The columns must all be
// numbers, all datetimes, all durations, or all of the same ordered levels. Missing values are
// skipped.
func Ascending(columns ...string) Constraint {
	return Constraint{kind: ascendingConstraint, columns: slices.Clone(columns)}
}

// StrictlyAscending is [Ascending] without equal values.
func StrictlyAscending(columns ...string) Constraint {
	return Constraint{kind: strictlyConstraint, columns: slices.Clone(columns)}
}

// Combinations requires the values of several columns together to form one of the given rows. For
// example, a row may hold a town and its country. A value is given as its text in files, "" if it
// is missing.
func Combinations(columns []string, rows ...[]string) Constraint {
	return Constraint{kind: combinationConstraint, columns: slices.Clone(columns), rows: copied(rows)}
}

// Determines requires the last column to be a function of the columns before it. Two records with
// the same values in these columns then have the same value in the last column. Known rows, each
// with one text per column, fix the function for some values. For all other values, the first
// generated record with these values fixes the function. The function is never learnt from
// sensitive records.
//
// Enforcing the constraint sets the last column, so the constraint alone rejects no record.
func Determines(columns []string, known ...[]string) Constraint {
	return Constraint{kind: determinesConstraint, columns: slices.Clone(columns), rows: copied(known)}
}

// copied returns a copy of rows and of each row.
func copied(rows [][]string) [][]string {
	rows = slices.Clone(rows)
	for i, row := range rows {
		rows[i] = slices.Clone(row)
	}
	return rows
}

// Unique requires that no two records of a draw have the same values in all of the columns. None of
// these values may be missing. Values of an [Identifier] column are always unique.
func Unique(columns ...string) Constraint {
	return Constraint{kind: uniqueConstraint, columns: slices.Clone(columns)}
}

// HasItems requires sets to contain all of the given items.
func HasItems(items ...uint32) Constraint {
	return Constraint{kind: itemsConstraint, items: slices.Clone(items)}
}

// LacksItems requires sets to contain none of the given items.
func LacksItems(items ...uint32) Constraint {
	return Constraint{kind: noItemsConstraint, items: slices.Clone(items)}
}

// OrMissing allows a missing value in a [Within] or an [Only].
func (c Constraint) OrMissing() Constraint {
	c.missing = true
	return c
}

// Repaired changes a record that breaks the constraint instead of rejecting it. A value outside a
// [Within] moves to the nearer bound. The values of an [Ascending] are sorted. The values of a
// [Combinations] become the given row that shares the most values with them, or the first such row
// if there are several. Repair may reduce the quality of the records. Prefer rejection if it is
// cheap.
func (c Constraint) Repaired() Constraint {
	c.repaired = true
	return c
}

// valueText returns the text of a value in files, "" for nil.
func valueText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return string(appendSeconds(nil, x, 9))
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return strings.TrimSpace(fmt.Sprint(v))
}

// Columns returns the names of the columns that a constraint is about; nil for sets.
func (c Constraint) Columns() []string { return slices.Clone(c.columns) }

// Items returns the items that a constraint on sets is about, and whether they must be present or
// absent; nil for tables.
func (c Constraint) Items() (items []uint32, there bool) {
	return slices.Clone(c.items), c.kind == itemsConstraint
}

// Value returns the value of an [Only] with a single value; ok is false for any other constraint.
func (c Constraint) Value() (text string, ok bool) {
	if c.kind != onlyConstraint || len(c.rows) != 1 || c.missing || len(c.rows[0]) != 1 ||
		c.rows[0][0] == "" {
		return "", false
	}
	return c.rows[0][0], true
}

// String describes the constraint in words.
func (c Constraint) String() string {
	text := c.words()
	if c.missing {
		text += ", or missing"
	}
	if c.repaired {
		text += ", repaired"
	}
	return text
}

func (c Constraint) words() string {
	all := strings.Join(c.columns, ", ")
	switch c.kind {
	case withinConstraint:
		switch {
		case c.hi == "" && c.lo != "":
			return fmt.Sprintf("%s >= %s", all, c.lo)
		case c.lo == "" && c.hi != "":
			return fmt.Sprintf("%s <= %s", all, c.hi)
		}
		return fmt.Sprintf("%s within [%s, %s]", all, c.lo, c.hi)
	case onlyConstraint:
		return all + " one of " + few(c.rows)
	case ascendingConstraint:
		return strings.Join(c.columns, " <= ")
	case strictlyConstraint:
		return strings.Join(c.columns, " < ")
	case combinationConstraint:
		return fmt.Sprintf("(%s) one of %d combinations", all, len(c.rows))
	case determinesConstraint:
		last := len(c.columns) - 1
		if last < 1 {
			return all + " determines nothing"
		}
		return fmt.Sprintf("%s determines %s", strings.Join(c.columns[:last], ", "), c.columns[last])
	case uniqueConstraint:
		return fmt.Sprintf("(%s) unique", all)
	case itemsConstraint:
		return fmt.Sprintf("items %v", c.items)
	case noItemsConstraint:
		return fmt.Sprintf("no items %v", c.items)
	}
	return "no constraint"
}

// few lists the first few rows.
func few(rows [][]string) string {
	var texts []string
	for i, row := range rows {
		if i == 5 {
			texts = append(texts, fmt.Sprintf("and %d more", len(rows)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%.40q", strings.Join(row, ", ")))
	}
	return strings.Join(texts, ", ")
}

// constraintJSON is the JSON form of a constraint.
type constraintJSON struct {
	Type     string     `json:"type"`
	Columns  []string   `json:"columns"`
	Lo       string     `json:"lo,omitempty"`
	Hi       string     `json:"hi,omitempty"`
	Rows     [][]string `json:"rows,omitempty"`
	Missing  bool       `json:"or_missing,omitempty"`
	Repaired bool       `json:"repaired,omitempty"`
}

func (c Constraint) json() constraintJSON {
	return constraintJSON{Type: constraintNames[c.kind], Columns: c.columns, Lo: c.lo, Hi: c.hi,
		Rows: c.rows, Missing: c.missing, Repaired: c.repaired}
}

func (j constraintJSON) constraint() (Constraint, error) {
	kind := slices.Index(constraintNames[:itemsConstraint], j.Type)
	if kind < 1 {
		return Constraint{}, fmt.Errorf("records: schema: constraint of type %.40q: want one of %q",
			j.Type, constraintNames[1:itemsConstraint])
	}
	return Constraint{kind: constraintKind(kind), columns: j.Columns, lo: j.Lo, hi: j.Hi, rows: j.Rows,
		missing: j.Missing, repaired: j.Repaired}, nil
}

// MarshalJSON writes the constraint as schemas do. Errors: none.
func (c Constraint) MarshalJSON() ([]byte, error) { return json.Marshal(c.json()) }

// UnmarshalJSON reads a constraint of a table.
//
// Errors: unknown fields and kinds.
func (c *Constraint) UnmarshalJSON(data []byte) error {
	var j constraintJSON
	err := param.Decode(data, &j)
	if err == nil {
		*c, err = j.constraint()
	}
	return err
}

// WithConstraints returns the schema of a table with rules that generated records obey. They
// replace the rules that the schema had. They are applied in the given order. So a [Determines]
// constraint must come before the constraints that depend on its last column. Schemas that differ
// only in constraints are [Schema.Equal].
//
// [Schema.Validate], and every function that takes the schema, reports mistakes in the constraints.
func (s Schema) WithConstraints(list ...Constraint) Schema {
	if s.table == nil {
		if len(list) > 0 {
			s.table = &mixed{label: -1, fault: errNoTable(s.kind)}
		}
		return s
	}
	m := *s.table
	m.constraints = slices.Clone(list)
	m.rules, m.fault = compile(&m, list)
	s.table = &m
	return s
}

// Constraints returns the constraints declared with the schema.
func (s Schema) Constraints() []Constraint {
	if s.table == nil {
		return nil
	}
	return slices.Clone(s.table.constraints)
}
