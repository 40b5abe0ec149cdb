package records

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/param"
)

// Limits of a column. Two level codes are taken by what is no level; whole
// numbers beyond 2⁵³ are not all representable.
const (
	maxLevels = 1<<16 - 2
	maxWhole  = 1 << 53
)

// columnFaults collects what is wrong with one column.
type columnFaults struct {
	column Column
	path   string
	errs   []error
}

// bad notes a mistake, the first of too many only.
func (f *columnFaults) bad(field string, value any, want string) {
	if len(f.errs) >= maxDefects {
		return
	}
	f.errs = append(f.errs, param.New(f.path+field, value, want))
}

// validate reports everything that is wrong with the column at place i.
func (c Column) validate(i int) []error {
	f := columnFaults{column: c, path: fmt.Sprintf("records.Column[%d]", i)}
	if c.kind < NumericColumn || c.kind >= columnKindEnd {
		f.bad(".Kind", int(c.kind),
			"a column made by Numeric, Integer, Ordinal, Categorical, Flag, Label or Target")
		return f.errs
	}
	if !plainText(c.name) {
		f.bad(".Name", quotedName(c.name), "a name without control characters and surrounding blanks")
	} else {
		f.path = fmt.Sprintf("records.Column[%.40q]", c.name)
	}
	if c.kind.hasLevels() {
		f.levels()
	} else {
		f.bounds()
	}
	if c.missing && (c.kind == LabelColumn || c.kind == TargetColumn) {
		f.bad(".WithMissing", c.kind,
			"no missing value: give records without a class or target a level, or leave them out")
	}
	return f.errs
}

func (f *columnFaults) bounds() {
	c := f.column
	if !(c.lo < c.hi) || math.IsInf(c.hi-c.lo, 0) {
		f.bad(".Bounds", fmt.Sprintf("[%g, %g]", c.lo, c.hi), "finite bounds, the lower below the upper")
	}
	if c.kind == IntegerColumn && !(whole(c.lo) && whole(c.hi)) {
		f.bad(".Bounds", fmt.Sprintf("[%g, %g]", c.lo, c.hi), "whole numbers of at most 2^53")
	}
	if c.other != "" || len(c.aliases) > 0 || len(c.levels) > 0 {
		f.bad(".Levels", c.kind, "no levels, other level or alias: the column holds numbers")
	}
}

func whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= maxWhole }

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
		return // not worth a look at each
	}
	f.texts()
}

// texts wants every level and alias to be readable and to mean one thing.
func (f *columnFaults) texts() {
	level, alias := map[string]bool{}, map[string]bool{}
	for i, text := range f.column.levels {
		if !plainText(text) || level[text] {
			f.bad(fmt.Sprintf(".Levels[%d]", i), quotedName(text),
				"a unique name without control characters and surrounding blanks")
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

// plainText wants a text that survives a line of CSV and a JSON string: readers
// trim blanks, join line ends and repair what is not UTF-8.
func plainText(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unicode.IsControl)
}
