package records

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/param"
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
	if c.kind < NumericColumn || c.kind >= columnKindEnd {
		f.bad(".Kind", int(c.kind),
			"a column made by a constructor, such as Numeric or Categorical")
		return f.errs
	}
	if !plainText(c.name) {
		f.bad(".Name", quotedName(c.name), "a name without control characters or surrounding blanks")
	} else {
		f.path = fmt.Sprintf("records.Column[%.40q]", c.name)
	}
	switch {
	case c.kind == IdentifierColumn:
		f.identifier()
	case c.kind == HashedColumn:
		f.hashed()
	case c.kind.hasLevels():
		f.levels()
	default:
		f.bounds()
	}
	f.time()
	f.step()
	if c.missing && (c.kind == LabelColumn || c.kind == TargetColumn) {
		f.bad(".WithMissing", c.kind,
			"no missing value: leave out records without a class or a target, or declare a level for them")
	}
	return f.errs
}

func (f *columnFaults) bounds() {
	c := f.column
	given := fmt.Sprintf("[%g, %g]", c.lo, c.hi)
	if !(c.lo < c.hi || c.inTicks() && c.least < c.most) || math.IsInf(c.hi-c.lo, 0) {
		f.bad(".Bounds", given, "finite bounds, the lower below the upper")
	}
	if c.kind == IntegerColumn && (float64(c.least) != c.lo || float64(c.most) != c.hi) {
		f.bad(".Bounds", given, "whole numbers below 2^63")
	}
	if c.inTicks() && c.kind != DatetimeColumn && (c.most-c.least < 0 || c.most-c.least > mostTicks) {
		f.bad(".Bounds", given, "bounds less than 2^62 apart")
	}
	if c.other != "" || len(c.aliases) > 0 || len(c.levels) > 0 {
		f.bad(".Levels", c.kind, "no levels, other level or alias: the column holds numbers")
	}
}

// inTicks reports whether values are held as whole steps from the lower bound. This holds for
// datetimes, durations, and whole numbers that float64 cannot represent exactly.
func (c Column) inTicks() bool {
	return c.kind == DatetimeColumn || c.kind == DurationColumn || c.kind == IntegerColumn &&
		(min(c.least, c.most) < -maxWhole || max(c.least, c.most) > maxWhole)
}

// time checks the settings that only datetimes and durations have.
func (f *columnFaults) time() {
	c := f.column
	timed := c.kind == DatetimeColumn || c.kind == DurationColumn
	if !timed && c.step != 0 || timed && c.step < 1 {
		f.bad(".Precision", c.step, "a positive precision of a datetime or a duration, 0 for others")
		return
	}
	if c.parts&^allParts != 0 || c.parts != 0 && c.kind != DatetimeColumn {
		f.bad(".WithParts", c.parts, "parts of a datetime")
	}
	if c.kind == DatetimeColumn {
		if c.logarithmic {
			f.bad(".Logarithmic", true, "false for a datetime")
		}
		if y := c.from.Year(); y < 1 || y > 9999 || c.to.Year() < 1 || c.to.Year() > 9999 {
			f.bad(".Bounds", fmt.Sprintf("years %d to %d", y, c.to.Year()), "years from 1 to 9999")
			return
		}
		if steps(c.from, c.to, c.step) > mostTicks {
			f.bad(".Precision", c.step, "at most 2^62 steps between the bounds")
		}
	}
	if timed && c.ticks() < 1 {
		f.bad(".Precision", c.step, "a precision no larger than the distance between the bounds")
	}
}

func (f *columnFaults) levels() {
	c := f.column
	if c.lo != 0 || c.hi != 0 || c.logarithmic {
		f.bad(".Bounds", c.kind, "neither bounds nor a logarithm: the column holds levels")
	}
	least := 1
	if c.kind == OrdinalColumn || c.kind == FlagColumn {
		least = 2
	}
	if len(c.levels) < least || len(c.levels) > maxLevels || c.kind == FlagColumn &&
		len(c.levels) != 2 {
		f.bad(".Levels", len(c.levels), fmt.Sprintf("%d to %d levels, two for a flag", least, maxLevels))
	}
	if len(c.levels) > maxLevels {
		return // too many to check one by one
	}
	f.texts()
}

// texts checks that every level and alias is plain text and has only one meaning.
func (f *columnFaults) texts() {
	level, alias := map[string]bool{}, map[string]bool{}
	for i, text := range f.column.levels {
		if !plainText(text) || level[text] {
			f.bad(fmt.Sprintf(".Levels[%d]", i), quotedName(text),
				"a unique name without control characters or surrounding blanks")
		}
		level[text] = true
	}
	for _, a := range f.column.aliases {
		if !level[a.level] || !plainText(a.text) || level[a.text] || alias[a.text] {
			f.bad(".WithAlias", fmt.Sprintf("%.40q for %.40q", a.text, a.level),
				"a text with one meaning, for one of the levels")
		}
		alias[a.text] = true
	}
	if other := f.column.other; other != "" && !level[other] {
		f.bad(".WithOther", quotedName(other), "one of the levels")
	}
}

// plainText reports whether a text stays the same in a line of CSV and in a JSON string. Readers
// trim blanks, join line ends and replace bytes that are not UTF-8.
func plainText(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unicode.IsControl)
}
