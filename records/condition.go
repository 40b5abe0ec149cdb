package records

import (
	"math"
	"slices"
)

// A Condition describes the encoded values of one column that meet the constraints on this column
// alone. It is meant for models that can be conditioned on values.
type Condition struct {
	Column  int
	Met     []int  // the constraints, by index in the list
	Missing bool   // whether a missing value meets them
	Levels  []bool // which levels meet them, for a column encoded one-hot and for the class
	// Spans are the intervals of coordinates that meet them, for a column encoded as one number.
	// They ascend and do not touch; both ends are included.
	Spans []Span
}

// Span is an interval of coordinates from Lo to Hi, both included.
type Span struct{ Lo, Hi float32 }

// Conditions returns a condition for each column with a [Within] or an [Only] constraint, and a
// joint one for each [Combinations] constraint whose columns all have levels or are the class. It
// omits those with a column that enforcing the list may change, by repair or by [Determines], and
// of datetimes with encoded parts. Records still have to pass an [Enforcer]: coordinates are
// rounded, so a condition may be off by 2⁻²⁴ of a column's range.
//
// Errors: see [NewEnforcer].
func Conditions(s Schema, list []Constraint) (single []Condition, joint []JointCondition,
	err error) {
	e, err := NewEnforcer(s, list...)
	if err != nil || s.table == nil {
		return nil, nil, err
	}
	for at, column := range s.table.columns {
		c := Condition{Column: at}
		var rules []*rule
		for i := range e.rules {
			r := &e.rules[i]
			if r.changes(at) {
				rules = nil
				break
			}
			if (r.kind == withinConstraint || r.kind == onlyConstraint) && r.at[0] == at {
				rules, c.Met = append(rules, r), append(c.Met, i)
			}
		}
		if len(rules) > 0 && column.parts == 0 {
			c.allow(&s.table.cells[at], rules)
			single = append(single, c)
		}
	}
	return single, e.joint(s), nil
}

// changes reports whether enforcing a rule may set a column.
func (r *rule) changes(column int) bool {
	if r.kind == determinesConstraint {
		return r.at[len(r.at)-1] == column
	}
	return r.repaired && slices.Contains(r.at, column)
}

// allow finds the values of one column that meet all of the given rules.
func (c *Condition) allow(code *cellCode, rules []*rule) {
	meets := func(v token) bool {
		return !slices.ContainsFunc(rules, func(r *rule) bool { return !r.allows(code, v) })
	}
	c.Missing = code.missing && meets(missingToken)
	if code.oneHot || code.kind.isClass() {
		c.Levels = make([]bool, code.levels)
		for l := range c.Levels {
			c.Levels[l] = meets(token(l))
		}
		return
	}
	c.Spans = []Span{{0, 1}}
	for _, r := range rules {
		c.Spans = common(c.Spans, r.spans(code))
	}
}

// allows reports whether a value of one column meets a Within or an Only constraint.
func (r *rule) allows(code *cellCode, v token) bool {
	if r.kind == onlyConstraint {
		return v == missingToken && r.missing || r.wanted[v]
	}
	return v == missingToken && r.missing || v != missingToken && r.nearest(code, v) == v
}

// spans returns the intervals of coordinates whose values meet a rule.
func (r *rule) spans(code *cellCode) []Span {
	var ends [][2]token
	switch {
	case r.kind == onlyConstraint:
		for v := range r.wanted {
			if v != missingToken {
				ends = append(ends, [2]token{v, v})
			}
		}
	case code.kind.hasLevels() || code.tick != nil:
		ends = [][2]token{{token(r.lo), token(r.hi)}}
	default:
		ends = [][2]token{{math.Float64bits(r.from), math.Float64bits(r.to)}}
	}
	row, own := code.own()
	// order compares the value at a coordinate with a value of the column.
	order := func(u float32, v token) int {
		clear(row)
		row[0] = u
		return own.order(own.tokenOf(row), v)
	}
	var out []Span
	for _, e := range ends {
		lo := firstCoordinate(func(u float32) bool { return order(u, e[0]) >= 0 })
		after := firstCoordinate(func(u float32) bool { return order(u, e[1]) > 0 })
		if hi := math.Nextafter32(after, -1); lo <= hi {
			out = append(out, Span{lo, min(hi, 1)})
		}
	}
	slices.SortFunc(out, func(a, b Span) int {
		if a.Lo < b.Lo {
			return -1
		}
		return 1
	})
	return out
}

// tokenOf returns the value that coordinates stand for.
func (k *cellCode) tokenOf(row []float32) token {
	switch {
	case k.kind.hasLevels():
		return token(k.decodeLevel(row))
	case k.tick != nil:
		return token(k.decodeTick(row))
	}
	return math.Float64bits(k.decodeNumber(row))
}

// order compares two values of a column.
func (k *cellCode) order(a, b token) int {
	less, more := a < b, a > b
	if !k.kind.hasLevels() && k.tick == nil {
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		less, more = x < y, x > y
	}
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// firstCoordinate returns the smallest coordinate in [0, 1] for which a monotone predicate is true,
// or the float32 after 1 if there is none. It searches over the bits: positive numbers and their
// bits have the same order.
func firstCoordinate(is func(u float32) bool) float32 {
	lo, hi := uint32(0), math.Float32bits(1)+1
	for lo < hi {
		if mid := (lo + hi) / 2; is(math.Float32frombits(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return math.Float32frombits(lo)
}

// common returns the intersection of two ascending lists of spans.
func common(a, b []Span) []Span {
	var out []Span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if lo, hi := max(a[i].Lo, b[j].Lo), min(a[i].Hi, b[j].Hi); lo <= hi {
			out = append(out, Span{lo, hi})
		}
		if a[i].Hi < b[j].Hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// A JointCondition lists the values of several columns that together meet a [Combinations]
// constraint. It is meant for models that can be conditioned on them.
type JointCondition struct {
	Columns []int
	Met     int     // the constraint, by index in the list
	Rows    [][]int // indices of levels, each row once; the number of levels for a missing value
}

// joint returns the joint conditions of the rules, for a table.
func (e *Enforcer) joint(s Schema) (out []JointCondition) {
	for i := range e.rules {
		r := &e.rules[i]
		if r.kind != combinationConstraint || slices.ContainsFunc(r.at, func(at int) bool {
			return !s.table.cells[at].kind.hasLevels() ||
				slices.ContainsFunc(e.rules, func(o rule) bool { return o.changes(at) })
		}) {
			continue
		}
		c := JointCondition{Columns: slices.Clone(r.at), Met: i}
		for k, row := range r.rows {
			again := func(earlier int) bool { return earlier < k && slices.Equal(r.rows[earlier], row) }
			if slices.ContainsFunc(r.keys[keyOf(row)], again) {
				continue
			}
			levels := make([]int, len(row))
			for j, v := range row {
				levels[j] = int(min(v, token(s.table.cells[r.at[j]].levels)))
			}
			c.Rows = append(c.Rows, levels)
		}
		out = append(out, c)
	}
	return out
}
