package records

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Linked holds the rows of several tables; see [Tables] and [Link]. Read as [Data], a record is a
// row of the root with the number of its rows in each child table, and stands for all rows that
// belong to it.
//
// Units: the unit is [UnitUser]: a root row with everything that belongs to it.
type Linked struct {
	private
	*linkedRef
}

// linkedRef hides its target from package fmt; see private.go.
type linkedRef struct{ *linkedRows }

type linkedRows struct {
	tables Tables
	nodes  []tableNode
	parts  []linkedTable // one for each node
	home   *origin
}

// linkedTable holds the rows of one table. The rows of a row of the parent are consecutive, in the
// order of the parent's rows.
type linkedTable struct {
	frame *Frame // of the full schema
	up    []int32
	seen  func() *Persons // computed once
}

// Keyed are the rows of one table and their keys, one for each row.
type Keyed struct {
	Rows *Frame // of the table's Schema; nil for a root without columns, whose rows are its Keys
	// Keys holds the key of each row. It may be nil for a table without a Key.
	Keys []string
	// Parents holds the keys of the rows that a row belongs to, from the root down to its parent.
	Parents [][]string
}

// Link joins the rows of several tables by their keys; rows holds them in the order of
// [Tables.All].
//
// A row is left out if its key, or a parent's, is blank; if an earlier row of the same parent has
// its key; if no row of the parent's table has the parent's key; and if the parent has more than
// Most rows, of which a fixed public hash of their number chooses those that are kept, as in
// [GroupBy]. So what is kept of a root depends on the rows of that root only.
//
// Guarantee: if two sets of rows differ only in the rows that name one root, the results differ
// only in that root. Errors: *[param.Error] for rows that do not fit the tables.
func Link(t Tables, rows ...Keyed) (*Linked, error) {
	l, err := newLinker(t)
	if err != nil {
		return nil, err
	}
	if len(rows) != len(l.nodes) {
		return nil, param.New("records.Link.rows", unequal(len(rows), len(l.nodes)), "one for each table")
	}
	for i, n := range l.nodes {
		own := rows[i]
		field := fmt.Sprintf("records.Link.rows[%d].", i)
		if n.bare() {
			own.Rows = bareRows(len(own.Keys))
		} else if own.Rows == nil || !own.Rows.Schema().Equal(n.Schema) {
			return nil, param.New(field+"Rows", "[records]", "rows of the table's schema")
		}
		keyed := len(own.Keys) == own.Rows.Len() || own.Keys == nil && n.Key == ""
		for _, keys := range own.Parents {
			keyed = keyed && len(keys) == own.Rows.Len()
		}
		if !keyed || len(own.Parents) != len(n.Parents) {
			return nil, param.New(field+"Keys", "[keys]",
				"a key for each row, and one of each of the tables above it")
		}
		path := make([]string, 0, mostDepth)
		for row := range own.Rows.Len() {
			path = path[:0]
			for _, keys := range own.Parents {
				path = append(path, keys[row])
			}
			if own.Keys != nil {
				path = append(path, own.Keys[row])
			}
			l.add(i, int32(row), path)
		}
		l.table(i, own.Rows)
	}
	return l.linked(), nil
}

// bareRows returns rows without columns.
func bareRows(n int) *Frame { return &Frame{frameRef: &frameRef{&frameRows{n: n}}} }

// A linker joins tables, one after another.
type linker struct {
	tables Tables
	nodes  []tableNode
	index  []map[string]int32 // the row of each path of keys, for tables with children
	parts  []linkedTable
	rows   []int32 // of the table that is being read: rows that have a parent
	up     []int32 // and the rows of the parent

	implied bool // the rows of the root are the keys that its first child names

	wanted, draws int // rows of tables that are drawn, and rows that were drawn for them
}

func newLinker(t Tables) (*linker, error) {
	nodes, err := t.nodes(allTables)
	if err != nil {
		return nil, err
	}
	l := &linker{tables: t, nodes: nodes, index: make([]map[string]int32, len(nodes))}
	for i, n := range nodes {
		if n.Key != "" {
			l.index[i] = map[string]int32{}
		}
	}
	return l, nil
}

// add adds a row of table i with the given keys, its own at the end if it has one. It reports
// whether the row is kept.
func (l *linker) add(i int, row int32, path []string) bool {
	n, up := l.nodes[i], int32(0)
	for k, key := range path {
		if path[k] = strings.TrimSpace(key); path[k] == "" {
			return false
		}
	}
	if n.parent >= 0 {
		var found bool
		parent := pathOf(path[:len(n.Parents)])
		if up, found = l.index[n.parent][parent]; !found {
			if i != 1 || !l.implied {
				return false
			}
			up = int32(len(l.index[0]))
			l.index[0][parent] = up
		}
	}
	if n.Key != "" {
		own := pathOf(path)
		if _, taken := l.index[i][own]; taken {
			return false
		}
		l.index[i][own] = row
	}
	l.rows, l.up = append(l.rows, row), append(l.up, up)
	return true
}

// pathOf joins keys such that different lists have different results.
func pathOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "%d:%s", len(key), key)
	}
	return b.String()
}

// table completes table i from the frame of all rows that were added.
func (l *linker) table(i int, frame *Frame) {
	n := l.nodes[i]
	if i == 1 && l.implied {
		rows, up := l.rows, l.up
		l.rows = make([]int32, len(l.index[0]))
		for k := range l.rows {
			l.rows[k] = int32(k)
		}
		l.up = make([]int32, len(l.rows))
		l.table(0, bareRows(len(l.rows)))
		l.rows, l.up = rows, up
	}
	keep, up := l.rows, []int32(nil)
	if n.parent >= 0 {
		keep, up = sorted(l.rows, l.up, l.parts[n.parent].frame.Len(), n.Most)
		l.count(n.parent, i, up)
		if n.Gaps != "" {
			n.inOrder(frame, keep, up)
		}
	}
	own := &Frame{frameRef: &frameRef{&frameRows{schema: n.full, n: len(keep),
		cells: frame.Take(keep).cells, home: frame.home.derived()}}}
	if n.Gaps != "" {
		own.cells = append(own.cells, n.gaps(own, up))
	}
	for range n.Children {
		own.cells = append(own.cells, cells{numbers: make([]float64, len(keep))})
	}
	l.parts = append(l.parts, linkedTable{frame: own, up: up})
	l.rows, l.up = nil, nil
	if l.index[i] == nil {
		return
	}
	at := make(map[int32]int32, len(keep)) // the new number of each row
	for k, row := range keep {
		at[row] = int32(k)
	}
	for key, row := range l.index[i] {
		if k, kept := at[row]; kept {
			l.index[i][key] = k
		} else {
			delete(l.index[i], key)
		}
	}
}

// sorted returns the rows that are kept and their parents, parent by parent.
func sorted(rows, up []int32, parents, most int) (keep, of []int32) {
	start := make([]int32, parents+1)
	for _, p := range up {
		start[p+1]++
	}
	for p := range parents {
		start[p+1] += start[p]
	}
	all, next := make([]int32, len(rows)), slices.Clone(start)
	for k, p := range up {
		all[next[p]] = rows[k]
		next[p]++
	}
	for p := range parents {
		own := keepRows(all[start[p]:start[p+1]], most)
		keep = append(keep, own...)
		for range own {
			of = append(of, int32(p))
		}
	}
	return keep, of
}

// count sets the number of rows of table i in the rows of its parent.
func (l *linker) count(parent, i int, up []int32) {
	numbers := l.parts[parent].frame.cells[l.nodes[i].countColumn(l.nodes)].numbers
	for _, p := range up {
		numbers[p]++
	}
}

// countColumn returns the index of the column of the parent's full schema that holds the number of
// rows of this table.
func (n tableNode) countColumn(nodes []tableNode) int {
	return nodes[n.parent].full.ColumnIndex(countPrefix + n.Name)
}

func (l *linker) linked() *Linked {
	rows := &linkedRows{l.tables, l.nodes, l.parts, new(origin)}
	for _, part := range rows.parts {
		rows.home.of = append(rows.home.of, part.frame.home)
	}
	for i := range rows.parts[1:] {
		rows.parts[i+1].seen = sync.OnceValue(func() *Persons { return rows.seen(i + 1) })
	}
	return &Linked{linkedRef: &linkedRef{rows}}
}

// AsLinked returns the rows of several tables in data, even if [WithUnit] or [WithPart] wraps them;
// ok is false for other data.
func AsLinked(d Data) (l *Linked, ok bool) {
	l, _ = unstated(d).(*Linked)
	return l, l != nil && l.linkedRef != nil
}

// Tables returns the public description of the tables.
func (l *Linked) Tables() Tables { return l.tables }

// Schema returns the full schema of the root.
func (l *Linked) Schema() Schema {
	if l == nil || l.linkedRef == nil {
		return Schema{}
	}
	return l.nodes[0].full
}

// Len returns the number of root rows; see [Data] for when it is private.
func (l *Linked) Len() int {
	if l == nil || l.linkedRef == nil {
		return 0
	}
	return l.parts[0].frame.Len()
}

// Unit returns UnitUser.
func (l *Linked) Unit() string { return UnitUser }

func (l *Linked) origin() *origin {
	if l == nil || l.linkedRef == nil {
		return nil
	}
	return l.home
}

// check reports the mistakes in all tables.
func (l *Linked) check() error {
	var errs []error
	for i, part := range l.parts {
		if err := part.frame.check(); err != nil {
			errs = append(errs, fmt.Errorf("table %s: %w", l.nodes[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Gather encodes the given rows of the root.
func (l *Linked) Gather(rows []int32, b *device.Batch) { l.parts[0].frame.Gather(rows, b) }

// Range encodes rows lo … hi-1 of the root.
func (l *Linked) Range(lo, hi int, b *device.Batch) { l.parts[0].frame.Range(lo, hi, b) }

// Table returns the rows of a table, with their gaps if it has Gaps and the number of rows in each
// child table, and the row of the parent's table that each belongs to; parents is nil for the root.
// Tables are numbered in the order of [Tables.All].
func (l *Linked) Table(i int) (rows *Frame, parents []int32) {
	return l.parts[i].frame, l.parts[i].up
}

// Seen returns the rows of a table below the root as [Tables.Seen] describes them, grouped by root
// row. Each root row with such rows is one person.
func (l *Linked) Seen(i int) *Persons { return l.parts[i+1].seen() }

func (l *linkedRows) seen(i int) *Persons {
	n, own := l.nodes[i], l.parts[i]
	rows := own.frame.Len()
	roots := make([]int32, rows) // of each row
	for k := range roots {
		roots[k] = int32(k)
	}
	for at := i; at > 0; at = l.nodes[at].parent {
		for k, row := range roots {
			roots[k] = l.parts[at].up[row]
		}
	}
	var position *Frame
	var before []int32
	if n.Ordered {
		numbers := make([]float64, rows)
		before = make([]int32, rows)
		for k := range before {
			before[k], numbers[k] = -1, 1
			if k > 0 && own.up[k] == own.up[k-1] {
				before[k], numbers[k] = int32(k-1), numbers[k-1]+1
			}
		}
		position = n.positions(numbers)
	}
	out := &personsRows{first: []int32{0}, shares: Shares{}, schema: n.seen.ByPerson(n.most)}
	all := n.followed(l.nodes[n.parent], l.parts[n.parent].frame, own.up, position, own.frame, before,
		own.frame)
	all.home, out.rows = l.home.derived(), all
	for k := range roots {
		if k+1 == rows || roots[k+1] != roots[k] {
			out.shares = appendShares(out.shares, k+1-int(out.first[len(out.first)-1]))
			out.first = append(out.first, int32(k+1))
		}
	}
	return &Persons{personsRef: &personsRef{out}}
}

// positions returns a frame of the positions of rows.
func (n tableNode) positions(numbers []float64) *Frame {
	s := tableSchema([]Column{Integer(positionName, 1, n.Most)}, false)
	return &Frame{frameRef: &frameRef{&frameRows{schema: s, n: len(numbers),
		cells: []cells{{numbers: numbers}}, home: new(origin)}}}
}

// number returns the number of rows in table i that a row of its parent has.
func (n tableNode) number(nodes []tableNode, parent *Frame, row int) int {
	return int(math.Round(parent.Number(row, n.countColumn(nodes))))
}
