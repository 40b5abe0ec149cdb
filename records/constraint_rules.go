package records

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// rule is a constraint on the cells of a table, compiled for its columns. It is immutable.
type rule struct {
	Constraint
	at     []int            // the columns
	lo, hi int64            // bounds of ticks and levels
	from   float64          // lower bound of numbers
	to     float64          // upper bound of numbers
	wanted map[uint64]bool  // of Only: the allowed tokens
	rows   []tokens         // of Combinations
	known  map[uint64]token // of Determines: the declared value of the last column, by key
	keys   map[uint64][]int // of Combinations: the indices of the rows with a key
}

// token is the content of a cell inside the schema, as bits. Different tokens are different values.
type token = uint64

type tokens = []token

// missingToken is the token of a missing value in any column.
const missingToken token = 1<<64 - 1

// errNoTable returns the error for constraints on a schema without columns.
func errNoTable(k Kind) error {
	return param.New("records.Schema.WithConstraints", k, "a table, made by NewSchema")
}

const (
	maxConstraints = 1000
	// maxConstraintWork bounds the time that a record takes, of which a draw may try thousands: a
	// repair sorts by exchanging neighbours.
	maxConstraintWork = 1 << 15
)

// compile compiles constraints to rules. It returns all mistakes in the constraints, joined.
func compile(m *mixed, list []Constraint) ([]rule, error) {
	if len(list) > maxConstraints {
		return nil, param.New("records.Schema.WithConstraints", len(list),
			fmt.Sprintf("at most %d", maxConstraints))
	}
	work := 0
	for _, c := range list {
		n := len(c.columns)
		if c.repaired {
			n *= 2 * n
		}
		work += n
	}
	if work > maxConstraintWork {
		return nil, param.New("records.Schema.WithConstraints", "constraints on very many columns",
			fmt.Sprintf("at most %d in all, and 128 for a constraint that is repaired", maxConstraintWork))
	}
	var rules []rule
	var errs []error
	names := newColumnNames(m)
	for _, c := range list {
		r, err := compileOne(m, names, c)
		rules, errs = append(rules, r), append(errs, err)
	}
	return rules, errors.Join(errs...)
}

// columnNames are the places of columns and the codes of their levels by name. All constraints
// share them, since a file may have a thousand constraints on columns of many levels.
type columnNames struct {
	places map[string]int
	codes  map[int]map[string]uint16
	pairs  map[[2]int]bool // whether two columns are comparable
}

func newColumnNames(m *mixed) columnNames {
	n := columnNames{make(map[string]int, len(m.columns)), map[int]map[string]uint16{},
		map[[2]int]bool{}}
	for at := len(m.columns) - 1; at >= 0; at-- {
		n.places[m.columns[at].name] = at
	}
	return n
}

// codesOf returns the codes of the levels of a column; nil if it has none.
func (n columnNames) codesOf(m *mixed, at int) map[string]uint16 {
	codes, known := n.codes[at]
	if !known {
		codes = m.columns[at].codes()
		n.codes[at] = codes
	}
	return codes
}

func (n columnNames) comparable(m *mixed, a, b int) bool {
	yes, known := n.pairs[[2]int{a, b}]
	if !known {
		yes = comparable(m, a, b)
		n.pairs[[2]int{a, b}] = yes
	}
	return yes
}

// compileOne compiles one constraint.
func compileOne(m *mixed, names columnNames, c Constraint) (rule, error) {
	r := rule{Constraint: c}
	wrong := func(given any, want string) error {
		return param.New(fmt.Sprintf("records.Constraint[%.80s]", c.String()), given, want)
	}
	if c.kind == noConstraint || c.kind >= itemsConstraint {
		return r, wrong(c.String(), "a constraint on columns of a table")
	}
	least := map[constraintKind]int{ascendingConstraint: 2, strictlyConstraint: 2,
		determinesConstraint: 2}[c.kind]
	if len(c.columns) < max(least, 1) {
		return r, wrong(len(c.columns), fmt.Sprintf("at least %d columns", max(least, 1)))
	}
	seen := make(map[int]bool, len(c.columns))
	for _, name := range c.columns {
		at, known := names.places[name]
		switch {
		case !known:
			return r, wrong(quotedName(name), "one of the columns "+m.names())
		case seen[at]:
			return r, wrong(quotedName(name)+" twice", "each column once")
		case m.columns[at].kind.isIdentifier():
			return r, wrong(quotedName(name), "a column that is not an identifier")
		}
		seen[at] = true
		r.at = append(r.at, at)
	}
	if c.missing && c.kind != withinConstraint && c.kind != onlyConstraint {
		return r, wrong("OrMissing", "Within or Only")
	}
	if c.repaired && !slices.Contains([]constraintKind{withinConstraint, ascendingConstraint,
		combinationConstraint}, c.kind) {
		return r, wrong("Repaired", "Within, Ascending or Combinations")
	}
	if (c.lo != "" || c.hi != "") && c.kind != withinConstraint || len(c.rows) > 0 &&
		slices.Contains([]constraintKind{withinConstraint, ascendingConstraint, strictlyConstraint,
			uniqueConstraint}, c.kind) {
		return r, wrong("bounds or rows", "none for this constraint")
	}
	switch c.kind {
	case withinConstraint:
		column := m.columns[r.at[0]]
		if !column.kind.of().ordered {
			return r, wrong(quotedName(column.name), fmt.Sprintf(
				"a column with an order; this one is %.200v", column))
		}
		if !r.bounds(m, names) {
			return r, wrong(fmt.Sprintf("bounds %.40q and %.40q", c.lo, c.hi), fmt.Sprintf(
				"bounds that include a value of the column %.200v", column))
		}
	case ascendingConstraint, strictlyConstraint:
		// Any two columns may be compared, since missing values are skipped. So each column must be
		// comparable with the first column, and with the first column that is held in ticks, if any.
		large := max(slices.IndexFunc(r.at, func(at int) bool { return m.columns[at].inTicks() }), 0)
		for _, at := range r.at[1:] {
			of := r.at[0]
			if names.comparable(m, of, at) {
				of = r.at[large]
			}
			if of != at && !names.comparable(m, of, at) {
				return r, wrong(fmt.Sprintf("%.200v and %.200v", m.columns[of], m.columns[at]),
					"integers; numbers if no integer exceeds ±2^53; datetimes; durations; the same ordered levels")
			}
		}
	case onlyConstraint, combinationConstraint, determinesConstraint:
		return r, r.table(m, names, wrong)
	}
	return r, nil
}

// names lists the names of the columns, and counts those after the first 20.
func (m *mixed) names() string {
	const most = 20
	var list []string
	for _, c := range m.columns[:min(len(m.columns), most)] {
		list = append(list, string(quotedName(c.name)))
	}
	if more := len(m.columns) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// bounds parses the bounds of a Within, and reports whether the column has a value between them.
func (r *rule) bounds(m *mixed, known columnNames) bool {
	column, code := m.columns[r.at[0]], &m.cells[r.at[0]]
	lo, hi := r.Constraint.lo, r.Constraint.hi
	switch {
	case column.kind.hasLevels():
		names := known.codesOf(m, r.at[0])
		first, fine := names[lo]
		last, too := names[hi]
		r.lo, r.hi = int64(first), int64(last)
		if hi == "" {
			r.hi, too = int64(code.levels)-1, true
		}
		return (fine || lo == "") && too && r.lo <= r.hi
	case code.tick != nil:
		r.hi = code.tick.last
		if lo != "" {
			k := code.tick.ofText(lo)
			if k == unreadableTick || k == missingTick {
				return false
			}
			if r.lo = max(k, 0); k >= 0 && code.tick.compare(k, lo) < 0 {
				r.lo++ // the bound lies between two steps: take the upper one
			}
		}
		if hi != "" {
			k := code.tick.ofText(hi)
			if k == unreadableTick || k == missingTick {
				return false
			}
			if r.hi = min(k, code.tick.last); k >= 0 && k <= r.hi && code.tick.compare(k, hi) > 0 {
				r.hi--
			}
		}
		return r.lo <= r.hi
	}
	r.from, r.to = column.lo, column.hi
	if lo != "" {
		r.from = max(parseNumber(lo), column.lo)
	}
	if hi != "" {
		r.to = min(parseNumber(hi), column.hi)
	}
	if code.whole {
		r.from, r.to = math.Ceil(r.from), math.Floor(r.to)
	}
	if code.grid != nil && r.from <= r.to {
		var from, to bool
		r.from, from = code.grid.above(r.from)
		r.to, to = code.grid.below(r.to)
		return from && to && r.from <= r.to
	}
	return r.from <= r.to // false if either is NaN
}

// comparable reports whether values of two columns can be compared.
func comparable(m *mixed, a, b int) bool {
	x, y := m.columns[a], m.columns[b]
	switch {
	case !x.kind.of().ordered || !y.kind.of().ordered:
		return false
	case x.kind.hasLevels() || y.kind.hasLevels():
		return x.kind == y.kind && slices.Equal(x.levels, y.levels)
	case x.kind.of().precise || y.kind.of().precise:
		return x.kind == y.kind
	}
	// Numbers held in ticks can be compared exactly with whole numbers only.
	return !x.inTicks() && !y.inTicks() || x.kind == y.kind
}

// table parses the rows of an Only, of Combinations or of Determines.
func (r *rule) table(m *mixed, names columnNames, wrong func(any, string) error) error {
	lookups := make([]map[string]uint16, len(r.at))
	for i, at := range r.at {
		lookups[i] = names.codesOf(m, at)
	}
	if len(r.Constraint.rows) == 0 && r.kind != determinesConstraint {
		return wrong("no rows", "the values that are allowed")
	}
	r.keys = make(map[uint64][]int, len(r.Constraint.rows))
	r.known, r.wanted = map[uint64]token{}, map[uint64]bool{}
	for i, row := range r.Constraint.rows {
		if len(row) != len(r.at) {
			return wrong(fmt.Sprintf("row %d of %d values", i, len(row)),
				fmt.Sprintf("%d, one for each of %q", len(r.at), r.columns))
		}
		values := make(tokens, len(row))
		for k, text := range row {
			v, ok := m.token(r.at[k], lookups[k], text)
			if !ok {
				given := quotedName(text)
				if r.kind != onlyConstraint {
					given = fmt.Sprintf("row %d: %s", i, given)
				}
				return wrong(given, fmt.Sprintf("a value of the column %.200v", m.columns[r.at[k]]))
			}
			values[k] = v
		}
		switch last := len(values) - 1; r.kind {
		case onlyConstraint:
			r.wanted[values[0]] = true
		case combinationConstraint:
			r.keys[keyOf(values)] = append(r.keys[keyOf(values)], i)
			r.rows = append(r.rows, values)
		default:
			key := keyOf(values[:last])
			if was, there := r.known[key]; there && was != values[last] {
				return wrong(fmt.Sprintf("row %d",
					i), "one value of the last column for each row of the others")
			}
			r.known[key] = values[last]
		}
	}
	return nil
}

// token returns the token of the value of a text; ok is false if the column has no such value.
func (m *mixed) token(at int, lookup map[string]uint16, text string) (v token, ok bool) {
	code := &m.cells[at]
	switch {
	case text == "":
		return missingToken, code.missing
	case code.kind.hasLevels():
		level := code.code(lookup, text)
		return uint64(level), level < code.levels
	case code.tick != nil:
		k := code.tick.ofText(text)
		return uint64(k), k >= 0 && k <= code.tick.last && code.tick.compare(k, text) == 0
	}
	x := parseNumber(text)
	return math.Float64bits(code.number(x)), x == x && code.number(x) == x
}

// keyOf returns a hash of the values of several columns. For a single column it is injective.
func keyOf(values tokens) uint64 {
	h := mix(values[0])
	for _, v := range values[1:] {
		h = mix(h*0x9e3779b97f4a7c15 + v)
	}
	return h
}
