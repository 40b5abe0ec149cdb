package records

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// An Enforcer makes generated records obey constraints, one chunk of a draw after another. It
// remembers the values that must be unique and the values that [Determines] has fixed. It is not
// safe for concurrent use.
//
// An Enforcer tests the final values of the records, clamped and rounded into the schema, after
// every repair. Nothing is rounded afterwards.
//
// Guarantee: post-processing. It uses generated records and the declared constraints only.
type Enforcer struct {
	private
	*hiddenEnforcer
}

// hiddenEnforcer keeps values of records behind two pointers, which package fmt does not follow.
type hiddenEnforcer struct{ *enforcer }

type enforcer struct {
	schema Schema
	rules  []rule
	tables []*ruleState
	sets   []Constraint
	kept   int
	tried  int
	met    []int
}

// ruleState holds the values that a rule remembers from the records kept so far.
type ruleState struct {
	known map[uint64]token    // of Determines: the last column's value, by key of the others
	seen  map[uint64]struct{} // of Unique: the keys of the values so far
}

// Acceptance states how many of the generated records met one constraint.
type Acceptance struct {
	Constraint string
	Tried, Met int
}

// Rate returns the fraction of records that met the constraint, and 1 if there were none.
func (a Acceptance) Rate() float64 {
	if a.Tried == 0 {
		return 1
	}
	return float64(a.Met) / float64(a.Tried)
}

// String returns the constraint and the percentage of records that met it.
func (a Acceptance) String() string {
	return fmt.Sprintf("%s: %.3g %%", a.Constraint, 100*a.Rate())
}

// NewEnforcer returns an Enforcer of the given constraints, in their order, on records of a schema.
// Constraints declared with the schema are enforced only if they are given too.
//
// Errors: *[param.Error], joined, for constraints that do not fit the schema.
func NewEnforcer(s Schema, constraints ...Constraint) (*Enforcer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	e := &Enforcer{hiddenEnforcer: &hiddenEnforcer{&enforcer{schema: s,
		met: make([]int, len(constraints))}}}
	if s.kind == ItemSet {
		e.sets = slices.Clone(constraints)
		return e, itemFaults(s, constraints)
	}
	if s.table == nil {
		if len(constraints) > 0 {
			return nil, errNoTable(s.kind)
		}
		return e, nil
	}
	rules, err := compile(s.table, constraints)
	if err != nil {
		return nil, err
	}
	e.rules = rules
	for range rules {
		e.tables = append(e.tables, &ruleState{known: map[uint64]token{}, seen: map[uint64]struct{}{}})
	}
	return e, nil
}

// itemFaults returns the mistakes in constraints on sets.
func itemFaults(s Schema, list []Constraint) error {
	var c param.Checker
	for _, rule := range list {
		at := fmt.Sprintf("records.Constraint[%.80s]", rule.String())
		c.OK(rule.kind == itemsConstraint || rule.kind == noItemsConstraint, at, s.kind,
			"HasItems or LacksItems, for records that are sets")
		for _, item := range rule.items {
			c.OK(int64(item) < int64(s.dim), at, item, fmt.Sprintf("items below %d", s.dim))
		}
		c.OK(rule.kind != itemsConstraint || len(rule.items) <= s.maxItems, at, len(rule.items),
			fmt.Sprintf("at most %d items, as many as a set may have", s.maxItems))
	}
	return c.Err()
}

// Keep makes the repairs that the constraints ask for. It then returns the records of d that obey
// the constraints, up to the given number. Records after the last kept record are not examined.
//
// The result has the unit and the part of d if every constraint concerns single records and all
// records were examined. Otherwise, a kept record or its values may depend on other records. The
// unit of rows of users then becomes [UnitPart], and a guarantee for the kept records does not hold
// for the records of d.
//
// Errors: *[param.Error] for records of another schema.
func (e *Enforcer) Keep(d Data, most int) (Data, error) {
	if err := given("records.Enforcer.Keep", d); err != nil {
		return nil, err
	}
	if e.hiddenEnforcer == nil {
		return nil, param.New("records.Enforcer", "the zero value", "an enforcer made by NewEnforcer")
	}
	if !d.Schema().Equal(e.schema) {
		return nil, param.New("records.Enforcer.Keep", d.Schema().String(), e.schema.String())
	}
	if len(e.met) == 0 {
		return d, nil
	}
	if e.sets != nil {
		t, err := e.keepSets(d, most)
		if err != nil {
			return nil, err
		}
		t.home = joined([]Data{d})
		return e.restated(t, d, most), nil
	}
	f, err := frameOf(e.schema, d)
	if err != nil {
		return nil, err
	}
	return e.restated(e.keepRows(f, most), d, most), nil
}

// restated states the unit of the kept records; see Keep.
func (e *Enforcer) restated(out, of Data, most int) Data {
	single := out.Len() < most || of.Len() <= most
	for _, rule := range e.rules {
		single = single && rule.kind != determinesConstraint && rule.kind != uniqueConstraint
	}
	if unit := UnitOf(of); !single && unit != UnitRecord {
		return stated{Data: out, unit: UnitPart}
	}
	return restated(out, of)
}

func (e *Enforcer) keepRows(f *Frame, most int) *Frame {
	w := e.work(f)
	var rows []int32
	for i := 0; i < f.n && len(rows) < most; i++ {
		if e.row(w, i) {
			rows = append(rows, int32(i))
		}
	}
	e.kept += len(rows)
	if len(rows) == w.frame.n {
		return w.frame
	}
	return w.frame.Take(rows)
}

// counts returns an empty enforcer for the zero value.
func (e *Enforcer) counts() *enforcer {
	if e.hiddenEnforcer == nil {
		return &enforcer{}
	}
	return e.enforcer
}

// Kept returns the number of records kept so far.
func (e *Enforcer) Kept() int { return e.counts().kept }

// Tried returns the number of records tried so far.
func (e *Enforcer) Tried() int { return e.counts().tried }

// Acceptance returns how many of the records tried met each constraint, in the order of the
// constraints.
func (e *Enforcer) Acceptance() []Acceptance {
	list := make([]Acceptance, len(e.counts().met))
	for i, met := range e.counts().met {
		list[i] = Acceptance{Tried: e.tried, Met: met}
		if e.sets != nil {
			list[i].Constraint = e.sets[i].String()
		} else {
			list[i].Constraint = e.rules[i].String()
		}
	}
	return list
}

// keepSets keeps the sets that meet the constraints.
func (e *Enforcer) keepSets(d Data, most int) (*SetTable, error) {
	s, err := NewSetBuilder(e.schema)
	if err != nil {
		return nil, err
	}
	var labels []int32
	all := []int32(nil)
	if e.schema.Classes() > 0 {
		all = labelsOf(d)
	}
	err = EachSet(d, func(row int, items []uint32) error {
		if s.Len() >= most {
			return nil
		}
		e.tried++
		met := true
		for i, c := range e.sets {
			if c.meets(items) {
				e.met[i]++
			} else {
				met = false
			}
		}
		if !met {
			return nil
		}
		if all != nil {
			labels = append(labels, all[row])
		}
		e.kept++
		return s.Add(items)
	})
	if err != nil {
		return nil, err
	}
	return s.Table(labels...)
}

// meets reports whether a set with ascending items meets the constraint.
func (c Constraint) meets(items []uint32) bool {
	for _, item := range c.items {
		if _, there := slices.BinarySearch(items, item); there != (c.kind == itemsConstraint) {
			return false
		}
	}
	return true
}

// work is a frame whose cells can be written.
type work struct {
	frame  *Frame
	own    []bool // columns whose cells are copies and may be written
	values tokens // scratch
}

// work returns f with copies of the columns that rules may write.
func (e *Enforcer) work(f *Frame) *work {
	w := &work{frame: f.copied(), own: make([]bool, len(f.cells))}
	for i := range e.rules {
		r := &e.rules[i]
		columns := r.at
		if r.kind == determinesConstraint {
			columns = r.at[len(r.at)-1:]
		} else if !r.repaired {
			continue
		}
		for _, at := range columns {
			if w.own[at] {
				continue
			}
			w.own[at] = true
			c := &w.frame.cells[at]
			c.numbers, c.levels, c.ticks = slices.Clone(c.numbers), slices.Clone(c.levels),
				slices.Clone(c.ticks)
		}
	}
	return w
}

// row repairs one record, and reports whether it then obeys every rule.
func (e *Enforcer) row(w *work, i int) bool {
	for k := range e.rules {
		e.repair(w, k, i)
	}
	e.tried++
	all := true
	for k := range e.rules {
		if e.obeys(w, k, i) {
			e.met[k]++
		} else {
			all = false
		}
	}
	if all {
		e.remember(w, i)
	}
	return all
}

// token returns the content of one cell, inside the schema.
func (w *work) token(at, i int) token {
	code, c := &w.frame.schema.table.cells[at], &w.frame.cells[at]
	switch {
	case code.kind.hasLevels():
		if l := code.level(c.levels[i]); l != missingLevel {
			return token(l)
		}
		return missingToken
	case code.tick != nil:
		if k := code.tickOf(c.ticks[i]); k != missingTick {
			return token(k)
		}
		return missingToken
	}
	if x := code.number(c.numbers[i]); x == x {
		return math.Float64bits(x)
	}
	return missingToken
}

// set writes a cell.
func (w *work) set(at, i int, v token) {
	code, c := &w.frame.schema.table.cells[at], &w.frame.cells[at]
	switch {
	case code.kind.hasLevels():
		c.levels[i] = uint16(v)
		if v == missingToken {
			c.levels[i] = missingLevel
		}
	case code.tick != nil:
		c.ticks[i] = int64(v)
		if v == missingToken {
			c.ticks[i] = missingTick
		}
	default:
		c.numbers[i] = math.Float64frombits(v)
		if v == missingToken {
			c.numbers[i] = math.NaN()
		}
	}
}

// tokens returns the contents of several cells of a record. The slice is valid until the next call.
func (w *work) tokens(columns []int, i int) tokens {
	w.values = w.values[:0]
	for _, at := range columns {
		w.values = append(w.values, w.token(at, i))
	}
	return w.values
}

// follows returns the value that rule k, a Determines, has fixed for the last column of row i.
func (e *Enforcer) follows(w *work, k, i int) (v token, known bool) {
	r := &e.rules[k]
	key := keyOf(w.tokens(r.at[:len(r.at)-1], i))
	if v, known = r.known[key]; !known {
		v, known = e.tables[k].known[key]
	}
	return v, known
}

// repair repairs a record as rule k allows.
func (e *Enforcer) repair(w *work, k, i int) {
	r := &e.rules[k]
	if r.kind == determinesConstraint {
		if v, known := e.follows(w, k, i); known {
			w.set(r.at[len(r.at)-1], i, v)
		}
		return
	}
	if !r.repaired || e.obeys(w, k, i) {
		return
	}
	switch r.kind {
	case withinConstraint:
		if v := w.token(r.at[0], i); v != missingToken {
			w.set(r.at[0], i, r.nearest(&w.frame.schema.table.cells[r.at[0]], v))
		}
	case ascendingConstraint:
		w.sort(r.at, i)
	case combinationConstraint:
		for j, v := range r.likest(w.tokens(r.at, i)) {
			w.set(r.at[j], i, v)
		}
	}
}

// nearest returns v, or the nearer bound of a Within if v lies outside the bounds.
func (r *rule) nearest(code *cellCode, v token) token {
	if code.kind.hasLevels() || code.tick != nil {
		return token(min(max(int64(v), r.lo), r.hi))
	}
	return math.Float64bits(min(max(math.Float64frombits(v), r.from), r.to))
}

// likest returns the combination that shares the most values with the given ones, or the first such
// combination if there are several.
func (r *rule) likest(values tokens) tokens {
	best, most := r.rows[0], -1
	for _, row := range r.rows {
		shared := 0
		for j := range row {
			if row[j] == values[j] {
				shared++
			}
		}
		if shared > most {
			best, most = row, shared
		}
	}
	return best
}

// sort puts the values of several columns in order if each column can hold its new value. Only
// columns that store values in the same way exchange them. Values that cannot be exchanged stay in
// place, and the record is then rejected.
func (w *work) sort(columns []int, i int) {
	m := w.frame.schema.table
	for range columns {
		for j := 1; j < len(columns); j++ {
			a, b := columns[j-1], columns[j]
			if !w.alike(a, b) || w.compare(a, b, i) <= 0 {
				continue
			}
			x, y := w.token(a, i), w.token(b, i)
			if x == missingToken || y == missingToken {
				continue
			}
			if m.holds(a, y) && m.holds(b, x) {
				w.set(a, i, y)
				w.set(b, i, x)
			}
		}
	}
}

// alike reports whether equal bits mean equal values in two columns.
func (w *work) alike(a, b int) bool {
	x, y := &w.frame.schema.table.cells[a], &w.frame.schema.table.cells[b]
	if x.tick == nil || y.tick == nil {
		return x.tick == nil && y.tick == nil
	}
	return x.tick.least == y.tick.least && x.tick.from.Equal(y.tick.from) && x.tick.step == y.tick.step
}

// holds reports whether a column can hold a value.
func (m *mixed) holds(at int, v token) bool {
	code := &m.cells[at]
	switch {
	case code.kind.hasLevels():
		return v < token(code.levels)
	case code.tick != nil:
		return int64(v) <= code.tick.last
	}
	x := math.Float64frombits(v)
	return code.number(x) == x
}

// compare compares the values of two columns of one record. It returns -1 if either is missing.
func (w *work) compare(a, b, i int) int {
	m := w.frame.schema.table
	x, y := w.token(a, i), w.token(b, i)
	if x == missingToken || y == missingToken {
		return -1
	}
	p, q := &m.cells[a], &m.cells[b]
	switch {
	case p.kind.hasLevels():
		return cmp.Compare(x, y)
	case p.tick != nil && q.tick != nil:
		return p.tick.as.compare(p.tick, q.tick, int64(x), int64(y))
	case p.tick != nil || q.tick != nil:
		return cmp.Compare(p.wholeOf(x), q.wholeOf(y))
	}
	return cmp.Compare(math.Float64frombits(x), math.Float64frombits(y))
}

// wholeOf returns the value of a column of whole numbers.
func (k *cellCode) wholeOf(v token) int64 {
	if k.tick != nil {
		return k.tick.whole(int64(v))
	}
	return int64(math.Float64frombits(v))
}

// obeys reports whether a record obeys a rule.
func (e *Enforcer) obeys(w *work, k, i int) bool {
	r := &e.rules[k]
	switch r.kind {
	case withinConstraint, onlyConstraint:
		return r.allows(&w.frame.schema.table.cells[r.at[0]], w.token(r.at[0], i))
	case ascendingConstraint, strictlyConstraint:
		return r.ascends(w, i)
	case combinationConstraint:
		values := w.tokens(r.at, i)
		return slices.ContainsFunc(r.keys[keyOf(values)], func(row int) bool {
			return slices.Equal(r.rows[row], values)
		})
	case determinesConstraint:
		v, known := e.follows(w, k, i)
		return !known || v == w.token(r.at[len(r.at)-1], i)
	}
	values := w.tokens(r.at, i)
	_, seen := e.tables[k].seen[keyOf(values)]
	return !seen && !slices.Contains(values, missingToken)
}

// ascends reports whether the values of a record ascend. Missing values are skipped.
func (r *rule) ascends(w *work, i int) bool {
	last := -1
	for _, at := range r.at {
		if w.token(at, i) == missingToken {
			continue
		}
		if last >= 0 {
			if c := w.compare(last, at, i); c > 0 || c == 0 && r.kind == strictlyConstraint {
				return false
			}
		}
		last = at
	}
	return true
}

// remember stores the values of a kept record that constrain later records.
func (e *Enforcer) remember(w *work, i int) {
	for k := range e.rules {
		r := &e.rules[k]
		switch r.kind {
		case determinesConstraint:
			if _, known := e.follows(w, k, i); !known {
				key := keyOf(w.tokens(r.at[:len(r.at)-1], i))
				e.tables[k].known[key] = w.token(r.at[len(r.at)-1], i)
			}
		case uniqueConstraint:
			e.tables[k].seen[keyOf(w.tokens(r.at, i))] = struct{}{}
		}
	}
}
