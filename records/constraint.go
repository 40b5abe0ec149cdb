package records

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Constraint is a public rule that generated records obey: declared with a schema by
// [Schema.WithConstraints], or for one draw. Records that are read need not obey it; [Check] tells
// which do not.
//
// Whatever enforces a constraint uses what is declared in it and generated records alone. That is
// post-processing: it changes no guarantee.
type Constraint struct {
	kind     constraintKind
	columns  []string
	lo, hi   string     // "" for none
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

// Within wants the values of a column from lo to hi, both included: numbers, a [time.Time] or
// [time.Duration], texts of these, or names of ordered levels; nil for no bound. A missing value is
// not among them unless [Constraint.OrMissing] lets it be.
func Within(column string, lo, hi any) Constraint {
	return Constraint{kind: withinConstraint, columns: []string{column}, lo: valueText(lo),
		hi: valueText(hi)}
}

// Only wants one of some values, given as those of [Within] or as names of levels. A missing value
// is one of them where nil is.
func Only(column string, values ...any) Constraint {
	c := Constraint{kind: onlyConstraint, columns: []string{column}}
	for _, v := range values {
		c.rows = append(c.rows, []string{valueText(v)})
	}
	return c
}

// Ascending wants the value of each column to be at most that of the next, such as the days on
// which an order was placed, sent and received. The columns are all numbers, all moments, all
// lengths of time, or all of the same ordered levels. A missing value is passed over.
func Ascending(columns ...string) Constraint {
	return Constraint{kind: ascendingConstraint, columns: slices.Clone(columns)}
}

// StrictlyAscending is Ascending with no two values the same.
func StrictlyAscending(columns ...string) Constraint {
	return Constraint{kind: strictlyConstraint, columns: slices.Clone(columns)}
}

// Combinations wants the values of some columns together to be one of the rows, such as a town and
// its country. A value is the text that files have for it, "" where it is missing.
func Combinations(columns []string, rows ...[]string) Constraint {
	return Constraint{kind: combinationConstraint, columns: slices.Clone(columns), rows: rows}
}

// Determines wants the last column to follow from those before it: no two records with the same
// values there differ in it. Known rows, of as many texts as there are columns, say what follows
// from some values; what follows from others is what the first generated record says that has them.
// It is never learnt from other records.
//
// It is enforced by setting the last column, which rejects no record by itself.
func Determines(columns []string, known ...[]string) Constraint {
	return Constraint{kind: determinesConstraint, columns: slices.Clone(columns), rows: known}
}

// Unique wants no two records of a draw to have the same values in all of the columns, and none of
// these to be missing. [Identifier] columns are so by themselves.
func Unique(columns ...string) Constraint {
	return Constraint{kind: uniqueConstraint, columns: slices.Clone(columns)}
}

// HasItems wants sets that have all of some items.
func HasItems(items ...uint32) Constraint {
	return Constraint{kind: itemsConstraint, items: slices.Clone(items)}
}

// LacksItems wants sets that have none of some items.
func LacksItems(items ...uint32) Constraint {
	return Constraint{kind: noItemsConstraint, items: slices.Clone(items)}
}

// OrMissing lets a missing value pass a [Within] or an [Only].
func (c Constraint) OrMissing() Constraint {
	c.missing = true
	return c
}

// Repaired has a record that breaks the constraint changed rather than rejected: what is outside a
// [Within] moves to its nearer end, values that should be [Ascending] are sorted, and those of
// [Combinations] become the first row that shares the most values with them. What the change costs
// in quality is for the caller to judge; where it costs little that constraints reject, leave it.
func (c Constraint) Repaired() Constraint {
	c.repaired = true
	return c
}

// valueText is a value as a file has it, "" for nil.
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

// Columns are the names of the columns that a constraint is about; nil for sets.
func (c Constraint) Columns() []string { return slices.Clone(c.columns) }

// Items are the items that a constraint on sets is about, and whether they have to be there or to
// be away; nil for tables.
func (c Constraint) Items() (items []uint32, there bool) {
	return slices.Clone(c.items), c.kind == itemsConstraint
}

// Value is the one value that an [Only] allows; ok is false for any other constraint.
func (c Constraint) Value() (text string, ok bool) {
	if c.kind != onlyConstraint || len(c.rows) != 1 || c.missing || len(c.rows[0]) != 1 ||
		c.rows[0][0] == "" {
		return "", false
	}
	return c.rows[0][0], true
}

// String is the constraint in words.
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

// few names some values.
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

// constraintJSON is the written form of a constraint.
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

// WithConstraints returns the schema of a table with rules that generated records obey, in the
// place of those that it had. They are applied in their order: a column that is set by [Determines]
// comes before those that follow from it. Schemas that differ in constraints alone are
// [Schema.Equal].
//
// [Schema.Validate], and whatever takes the schema, says what is wrong with them.
func (s Schema) WithConstraints(list ...Constraint) Schema {
	if s.table == nil {
		if len(list) > 0 {
			s.table = &mixed{label: -1, target: -1, fault: errNoTable(s.kind)}
		}
		return s
	}
	m := *s.table
	m.constraints = slices.Clone(list)
	m.rules, m.fault = compile(&m, list)
	s.table = &m
	return s
}

// Constraints are those that are declared with the schema.
func (s Schema) Constraints() []Constraint {
	if s.table == nil {
		return nil
	}
	return slices.Clone(s.table.constraints)
}
