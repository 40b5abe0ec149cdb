package records

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Limits of a column. Two level codes are reserved for cells without a level. float64 cannot
// represent all whole numbers beyond 2⁵³, so columns with bounds beyond 2⁵³ are held as int64.
const (
	maxLevels = 1<<16 - 2
	maxWhole  = 1 << 53
)

// columnFaults collects the mistakes in the declaration of one column.
type columnFaults struct {
	column Column
	path   string
	errs   []error
}

// bad records a mistake, unless maxDefects mistakes are recorded already.
func (f *columnFaults) bad(field string, value any, want string) {
	if len(f.errs) >= maxDefects {
		return
	}
	f.errs = append(f.errs, param.New(f.path+field, value, want))
}

// validate returns all mistakes in the declaration of column i.
func (c Column) validate(i int) []error {
	f := columnFaults{column: c, path: fmt.Sprintf("records.Column[%d]", i)}
	if c.kind.of().name == "" {
		f.bad(".Kind", int(c.kind),
			"a column made by a constructor, such as Numeric or Categorical")
		return f.errs
	}
	if !plainText(c.name) {
		f.bad(".Name", quotedName(c.name), "a name without control characters or surrounding blanks")
	} else {
		f.path = fmt.Sprintf("records.Column[%.40q]", c.name)
	}
	c.kind.of().check(&f)
	f.time()
	f.step()
	f.format()
	if role := c.kind.of().role; c.missing && (role == classRole || role == targetRole) {
		f.bad(".WithMissing", c.kind,
			"no missing value: leave out records without a class or a target, or declare a level for them")
	}
	return f.errs
}

// finite checks that the bounds are numbers in order.
func (f *columnFaults) finite() {
	c := f.column
	if !(c.lo < c.hi || c.inTicks() && c.least < c.most) || math.IsInf(c.hi-c.lo, 0) {
		f.bad(".Bounds", fmt.Sprintf("[%g, %g]", c.lo, c.hi), "finite bounds, the lower below the upper")
	}
}

// span checks that whole bounds have a distance that ticks can count.
func (f *columnFaults) span() {
	if c := f.column; c.most-c.least < 0 || c.most-c.least > mostTicks {
		f.bad(".Bounds", fmt.Sprintf("[%g, %g]", c.lo, c.hi), "bounds less than 2^62 apart")
	}
}

// noLevels checks that a column of numbers has no settings of levels.
func (f *columnFaults) noLevels() {
	if c := f.column; c.other != "" || len(c.levels) > 0 || slices.ContainsFunc(c.aliases,
		func(a alias) bool { return a.level != "" || !c.missing || !plainText(a.text) }) {
		f.bad(".Levels", c.kind, "no levels, other level or alias: the column holds numbers")
	}
}

// inTicks reports whether values are held as whole steps from the lower bound. This holds for
// datetimes, durations, and whole numbers that float64 cannot represent exactly.
func (c Column) inTicks() bool { return c.kind.of().held(c) != nil }

// time checks the settings that only datetimes and durations have.
func (f *columnFaults) time() {
	c, k := f.column, f.column.kind.of()
	if !k.precise && c.step != 0 || k.precise && c.step < 1 {
		f.bad(".Precision", c.step, "a positive precision of a datetime or a duration, 0 for others")
		return
	}
	if c.parts&^allParts != 0 || c.parts != 0 && !k.dated {
		f.bad(".WithParts", c.parts, "parts of a datetime")
	}
	if k.precise && k.held(c).declared(f) && c.ticks() < 1 {
		f.bad(".Precision", c.step, "a precision no larger than the distance between the bounds")
	}
}

// plainText reports whether a text stays the same in a line of CSV and in a JSON string. Readers
// trim blanks, join line ends and replace bytes that are not UTF-8.
func plainText(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unicode.IsControl)
}
