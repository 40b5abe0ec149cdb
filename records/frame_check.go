package records

import "math"

// Stray reports whether one cell holds a value that its column does not allow. [Check] lists such
// cells.
func (f *Frame) Stray(row, column int) bool { return f.Problem(row, column) != "" }

// Problem says what is wrong with a cell that holds a value that its column does not allow, such as
// "outside the bounds". It is empty for any other cell.
//
// Guarantee: none.
func (f *Frame) Problem(row, column int) string {
	return f.schema.table.cells[column].problem(&f.cells[column], row)
}

func (k *cellCode) problem(c *cells, row int) string {
	switch {
	case k.kind.isIdentifier():
		return ""
	case k.kind.hasLevels():
		return k.levelProblem(c.levels[row])
	case k.tick != nil:
		return k.tickProblem(c.ticks[row])
	}
	return k.numberProblem(c.numbers[row])
}

// problems calls each with every cell of a column that has a problem.
func (k *cellCode) problems(c *cells, each func(row int, problem string)) {
	eachProblem(c.numbers, k.numberProblem, each)
	eachProblem(c.ticks, k.tickProblem, each)
	eachProblem(c.levels, k.levelProblem, each)
}

func eachProblem[T any](values []T, of func(T) string, each func(row int, problem string)) {
	for i, v := range values {
		if problem := of(v); problem != "" {
			each(i, problem)
		}
	}
}

func (f *Frame) check() error {
	if f.Len() == 0 {
		return nil
	}
	var found defects
	for j := range f.cells {
		code, place := &f.schema.table.cells[j], j
		if code.kind.isClass() {
			place = -1
		}
		code.problems(&f.cells[j], func(i int, problem string) { found.add(i, place, problem) })
	}
	f.checkRules(&found)
	found.named(f.schema)
	return found.err()
}

// checkRules reports records that break the constraints of the schema.
func (f *Frame) checkRules(found *defects) {
	if len(f.schema.table.constraints) == 0 {
		return
	}
	e, err := NewEnforcer(f.schema, f.schema.table.constraints...)
	if err != nil {
		return // not reached: a frame's schema has valid constraints
	}
	w := &work{frame: f}
	for i := range f.n {
		for k := range e.rules {
			if e.obeys(w, k, i) {
				continue
			}
			place := e.rules[k].at[0]
			if f.schema.table.cells[place].kind.isClass() {
				place = -1
			}
			found.add(i, place, "breaks the constraint: "+e.rules[k].Constraint.String())
		}
		e.remember(w, i)
	}
}

func (k *cellCode) numberProblem(v float64) string {
	switch {
	case math.Float64bits(v) == math.Float64bits(unreadable), v != v && !k.missing:
		return "not a number"
	case v < k.lo || v > k.hi:
		return "outside the bounds"
	case k.whole && v == v && v != math.Trunc(v):
		return "not a whole number"
	case k.grid != nil && v == v && !k.grid.holds(v):
		return "not a whole number of steps"
	}
	return ""
}

func (k *cellCode) tickProblem(v int64) string {
	switch {
	case k.kind.isIdentifier():
		return ""
	case v == unreadableTick, v == missingTick && !k.missing:
		return k.tick.as.invalid()
	case v != missingTick && v != k.tick.within(v):
		return "outside the bounds"
	}
	return ""
}

func (k *cellCode) levelProblem(code uint16) string {
	switch {
	case code < k.levels, code == missingLevel && k.missing:
		return ""
	case code == missingLevel:
		return "missing"
	case k.kind.isClass():
		return "none of the classes"
	}
	return "none of the levels"
}
