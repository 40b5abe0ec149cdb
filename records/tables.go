package records

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Tables describes a table and the tables whose rows belong to its rows, such as customers with
// their accounts, and the transactions of each account. The first table is the root. A guarantee
// protects a root row together with everything that belongs to it.
//
// Everything in it is declared from knowledge of the domain, never read from the records.
type Tables struct {
	Name string `json:"name"`
	// Schema describes the columns other than keys. Tables below the root have no label, target,
	// identifiers or constraints. The zero Schema describes a root without columns, such as the users
	// of a log: it has no file, and its rows are the keys that its first child names.
	Schema Schema `json:"schema,omitzero"`
	// Key names the column of a file that identifies a row. It may be left out for a table below the
	// root without children.
	Key string `json:"key,omitempty"`
	// Parents names the columns of a file that hold the keys of the rows that a row belongs to, from
	// the root down to its parent. A row names its root too, since the keys of accounts are only known
	// to differ within one customer: otherwise two customers could hold one account's rows.
	Parents []string `json:"parents,omitempty"`
	// Most is the largest number of rows that are kept for a row of the parent.
	Most int `json:"most,omitempty"`
	// Ordered tables are sequences: the order of a parent's rows has a meaning, and a row may
	// depend on the row before it.
	Ordered bool `json:"ordered,omitempty"`
	// Gaps names a column of a table in order that says when each row was: moments or whole numbers,
	// never missing, with at most 2^53 steps between the bounds. The rows of a parent are put in its
	// order, and the steps from row to row are a further column, "gap of" and its name. A drawn row
	// follows the row before by its gap, so none precedes it. Suits rows of a parent that are close
	// together compared with the bounds.
	//
	// The rows that are kept are chosen before they are put in order, and all of it is within the rows
	// of one parent, so no other root's rows depend on them.
	Gaps string `json:"gaps,omitempty"`
	// Constraints are rules that generated rows of a table below the root obey. They may concern all
	// columns that [Tables.Seen] returns, such as the row's own and its parent's, but no other rows:
	// neither [Unique] nor [Determines], and none is repaired. Those of the root are in its Schema.
	Constraints []Constraint `json:"constraints,omitempty"`
	Children    []Tables     `json:"children,omitempty"`
}

const (
	mostTables = 32
	mostDepth  = 4
	// mostCopied bounds the columns of parents that are in the schemas of their children: the levels,
	// and copiedColumn for each column.
	mostCopied   = 1 << 16
	copiedColumn = 4
)

// A tableNode is one of several tables, with what its rows are read and drawn with.
type tableNode struct {
	Tables
	parent int    // index of the parent's node; -1 for the root
	most   int    // rows of a root row
	full   Schema // the columns, the gap, and the number of rows of each child
	seen   Schema // the columns known beforehand, and then the full ones; none for the root
	file   Schema // keys from the root's to its own, and then the columns
}

// Validate reports the mistakes in the description.
//
// Errors: *[param.Error], joined.
func (t Tables) Validate() error {
	_, err := t.nodes(allTables)
	return err
}

// Full returns the schema of the root's rows with the number of rows in each child table, in
// columns that are named "number of" and the child's name. It is the zero Schema if t is not
// valid.
func (t Tables) Full() Schema {
	list, err := t.nodes(0)
	if err != nil {
		return Schema{}
	}
	return list[0].full
}

// Seen returns, for the i-th table below the root, the schema of its rows together with what is
// known before a row: the columns of its parent, and in a table in order, the row's position and
// the columns of the row before. Tables are counted as they are declared, a table before its
// children. known is the number of the columns known beforehand, and own the schema of the other
// columns.
func (t Tables) Seen(i int) (s Schema, known int, own Schema) {
	list, err := t.nodes(i + 1)
	if err != nil || i < 0 || i+1 >= len(list) {
		return s, 0, own
	}
	n := list[i+1]
	return n.seen.ByPerson(n.most), len(n.seen.table.columns) - len(n.full.table.columns), n.full
}

// All returns the table and all tables below it, a table before its children.
func (t Tables) All() []Tables {
	list := []Tables{t}
	for _, c := range t.Children {
		list = append(list, c.All()...)
	}
	return list
}

// Equal reports whether two descriptions describe the same rows. It ignores the names of keys.
func (t Tables) Equal(o Tables) bool {
	return t.Name == o.Name && t.Schema.Equal(o.Schema) && t.Most == o.Most &&
		t.Ordered == o.Ordered && t.Gaps == o.Gaps &&
		slices.EqualFunc(t.Children, o.Children, Tables.Equal)
}

// allTables stands for the number of a table.
const allTables = -1

// nodes returns the tables, each before its children. Only the table with the given number has the
// schemas seen and file, since those of many tables together are large.
func (t Tables) nodes(only int) ([]tableNode, error) {
	var k param.Checker
	k.OK(t.Most == 0 && !t.Ordered && t.Gaps == "" && len(t.Parents)+len(t.Constraints) == 0,
		"records.Tables", t.Name, "a root without Parents, Most, Ordered, Gaps and Constraints")
	k.OK(t.Key != "", "records.Tables.Key", "", "the column of the root's keys")
	if k.Err() != nil {
		return nil, k.Err()
	}
	var list []tableNode
	if err := t.checkCopied(); err != nil {
		return nil, err
	}
	if err := t.append(&list, -1, 1, only); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, n := range list {
		name := strings.ToLower(strings.ToUpper(n.Name)) // one name to some databases
		k.OK(!names[name], "records.Tables.Name", quotedName(n.Name), "a name of one table")
		names[name] = true
	}
	return list, k.Err()
}

// append appends a table and its children.
func (t Tables) append(list *[]tableNode, parent, most, only int) error {
	depth := 1
	for p := parent; p >= 0; p = (*list)[p].parent {
		depth++
	}
	if err := t.check(parent, depth, most); err != nil {
		return err
	}
	if len(*list) == mostTables {
		return param.New("records.Tables", "more tables", fmt.Sprintf("at most %d", mostTables))
	}
	n := tableNode{Tables: t, parent: parent, most: most}
	columns := t.Schema.Columns()
	if c, ok := t.gapColumn(); ok {
		columns = append(columns, c)
	}
	for _, c := range t.Children {
		columns = append(columns, Integer(countPrefix+c.Name, 0, c.Most))
	}
	var err error
	if n.full, err = NewSchema(columns...); err != nil {
		return fmt.Errorf("records: table %s: %w", t.Name, err)
	}
	at := len(*list)
	whole := only == allTables || only == at
	if parent < 0 {
		n.full = n.full.WithConstraints(t.Schema.Constraints()...)
	} else if whole {
		if n.seen, err = NewSchema(n.seenColumns((*list)[parent])...); err != nil {
			return fmt.Errorf("records: table %s, seen with its parent: %w", t.Name, err)
		}
		if _, err := n.enforcer(); err != nil {
			return fmt.Errorf("records: table %s: %w", t.Name, err)
		}
	}
	if whole {
		if n.file, err = NewSchema(append(t.keyColumns(), t.Schema.Columns()...)...); err != nil {
			return fmt.Errorf("records: table %s, with its keys: %w", t.Name, err)
		}
	}
	*list = append(*list, n)
	for _, c := range t.Children {
		if err := c.append(list, at, most*min(max(c.Most, 1), MostRows), only); err != nil {
			return err
		}
	}
	return nil
}

// checkCopied bounds what the schemas of all tables repeat, before any of them is made.
func (t Tables) checkCopied() error {
	if n := t.copied(); n > mostCopied {
		return param.New("records.Tables", "large tables with many children",
			fmt.Sprintf("at most %d levels of the parents of all tables together, and %d columns", mostCopied,
				mostCopied/copiedColumn))
	}
	return nil
}

func (t Tables) copied() (n int) {
	if t.Schema.table != nil {
		for _, c := range t.Schema.table.columns {
			n += copiedColumn + len(c.levels)
		}
	}
	n *= len(t.Children)
	for _, c := range t.Children {
		n += c.copied()
	}
	return n
}

// bare reports whether the table has no columns.
func (t Tables) bare() bool { return t.Schema.kind == 0 }

// UnmarshalJSON reads a description. It does not validate it, since a table below the root is not
// valid by itself.
func (t *Tables) UnmarshalJSON(data []byte) error {
	if err := (Limits{}).checkJSON(data); err != nil {
		return err
	}
	type plain Tables
	return param.Decode(data, (*plain)(t))
}

// check reports the mistakes in one table.
func (t Tables) check(parent, depth, most int) error {
	path := func(field string) string { return fmt.Sprintf("records.Tables[%.40q].%s", t.Name, field) }
	var k param.Checker
	bare := parent < 0 && t.bare() && len(t.Children) > 0
	if !bare {
		k.Add(t.Schema.Validate())
	}
	k.OK(depth <= mostDepth, path("Children"), "tables within each other",
		fmt.Sprintf("at most %d levels", mostDepth))
	k.OK(namesFile(t.Name), path("Name"), quotedName(t.Name),
		"letters, digits, and _, - or blanks after the first, since files are named by it")
	if k.Err() != nil {
		return k.Err()
	}
	k.OK(bare || t.Schema.kind == MixedTable && t.Schema.persons == 0, path("Schema"),
		t.Schema.String(), "a table's, without ByPerson")
	k.OK(t.Key != "" || len(t.Children) == 0, path("Key"), "",
		"a column, since rows belong to its rows")
	if k.Err() != nil || parent < 0 {
		return k.Err()
	}
	k.OK(len(t.Parents) == depth-1, path("Parents"), len(t.Parents),
		fmt.Sprintf("%d columns: one for each table above this one", depth-1))
	least := 1
	if t.Ordered {
		least = 2
	}
	k.OK(t.Most >= least && t.Most <= MostRows && most <= MostRows, path("Most"), t.Most, fmt.Sprintf(
		"at least %d, and at most %d rows of a root row in all levels together", least, MostRows))
	_, spaced := t.gapColumn()
	k.OK(t.Gaps == "" || t.Ordered && spaced, path("Gaps"), quotedName(t.Gaps),
		"a column of moments or whole numbers, none missing, of a table in order")
	plain := len(t.Schema.table.constraints) == 0
	for _, c := range t.Schema.table.columns {
		plain = plain && c.kind.of().role == valueRole
	}
	k.OK(plain, path("Schema"), t.Schema.String(),
		"no label, target, identifiers or constraints below the root: those of Tables hold there")
	return k.Err()
}

// enforcer returns an enforcer of the table's constraints.
func (n tableNode) enforcer() (*Enforcer, error) {
	for _, c := range n.Constraints {
		if c.kind > combinationConstraint || c.repaired {
			return nil, param.New("records.Tables.Constraints", c.String(),
				"a constraint on a single row that repairs nothing")
		}
	}
	return NewEnforcer(n.seen, n.Constraints...)
}

// keyNames returns the names of the columns of keys, the row's own at the end.
func (t Tables) keyNames() []string {
	names := slices.Clone(t.Parents)
	if t.Key != "" {
		names = append(names, t.Key)
	}
	return names
}

// keyColumns returns the columns of the keys of generated rows.
func (t Tables) keyColumns() (columns []Column) {
	for _, name := range t.keyNames() {
		columns = append(columns, Integer(name, 1, math.MaxInt32))
	}
	return columns
}

// namesFile reports whether a name is safe as the name of a file on every system.
func namesFile(name string) bool {
	for i, c := range name {
		letter := unicode.IsLetter(c) || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-' && c != ' ') {
			return false
		}
	}
	return name != "" && len(name) <= 64 && !strings.HasSuffix(name, " ")
}

const (
	countPrefix    = "number of "
	previousPrefix = "previous "
	positionName   = "position"
)

// seenColumns returns the columns of Seen: those of the parent, the position and the row before,
// and the row's own.
func (n tableNode) seenColumns(parent tableNode) (columns []Column) {
	for _, c := range parent.full.table.columns {
		if !c.kind.isIdentifier() {
			columns = append(columns, c.renamed(parent.Name+" "+c.name))
		}
	}
	if n.Ordered {
		columns = append(columns, Integer(positionName, 1, n.Most))
		for _, c := range n.full.table.columns {
			columns = append(columns, c.renamed(previousPrefix+c.name).WithMissing())
		}
	}
	return append(columns, n.full.table.columns...)
}

// renamed returns a column of the same values that is neither a class nor a target.
func (c Column) renamed(name string) Column {
	c.name, c.aliases = name, nil
	switch c.kind {
	case LabelColumn:
		c.kind = CategoricalColumn
	case TargetColumn:
		c.kind = NumericColumn
	}
	return c
}
