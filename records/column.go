package records

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ColumnKind is the kind of values of one column of a table.
type ColumnKind int

// The kinds of column. The zero kind is invalid.
const (
	NumericColumn     ColumnKind = iota + 1 // a real number between public bounds
	IntegerColumn                           // a whole number between public bounds
	OrdinalColumn                           // one of several levels, in order
	CategoricalColumn                       // one of several levels, without an order
	FlagColumn                              // one of two levels
	LabelColumn                             // the class of the record
	TargetColumn                            // the number to be predicted
	DatetimeColumn                          // a moment between public bounds
	DurationColumn                          // a length of time between public bounds
	HashedColumn                            // any text, hashed into a public number of buckets
	IdentifierColumn                        // a name of the record: never read, and generated anew
	columnKindEnd                           // one past the last kind
)

// Column is the public description of one column of a table: its name, its kind,
// and the bounds or the levels of its values. It is an immutable value.
//
// Everything in it is declared from knowledge of the domain, never read from the
// records. Constructors do not validate; [NewSchema] reports mistakes.
type Column struct {
	kind        ColumnKind
	name        string
	lo, hi      float64
	grid        float64 // step of numbers; see WithStep
	stepped     bool    // whether WithStep was called
	logarithmic bool
	levels      []string
	other       string // "" if none is declared
	missing     bool
	aliases     []alias // ordered by text

	least, most int64         // bounds of whole numbers, and of durations in nanoseconds
	from, to    time.Time     // bounds of a datetime
	step        time.Duration // precision of datetimes and durations
	parts       CalendarParts
	format      string   // "" for the usual form of texts; see WithFormat
	known       []string // declared texts, the names of their buckets
	rule        IdentifierRule
}

// alias is another text that files use for a level.
type alias struct{ text, level string }

// WithMissing adds a missing value: one more level in a categorical column, and one more
// coordinate, 0 or 1, in any other.
func (c Column) WithMissing() Column {
	c.missing = true
	return c
}

// WithOther declares the level that unknown values become. It makes the levels of a [Hashed] column
// open.
func (c Column) WithOther(level string) Column {
	if c.kind.of().hashed && len(c.levels) > 0 { // it takes the place of the last bucket
		c.levels = slices.Clone(c.levels)
		c.levels[len(c.levels)-1] = level
	}
	c.other = level
	return c
}

// WithAlias declares other texts that stand for a level in files, or, for the level "", for the
// missing value of a column of any kind. They are used for reading only; a level is always written
// by its name, but a missing value by its first text in alphabetical order, if it has any.
func (c Column) WithAlias(level string, texts ...string) Column {
	c.aliases = slices.Clone(c.aliases)
	for _, t := range texts {
		c.aliases = append(c.aliases, alias{t, level})
	}
	slices.SortStableFunc(c.aliases, func(a, b alias) int { return strings.Compare(a.text, b.text) })
	return c
}

// Logarithmic encodes a number by its logarithm if the lower bound is positive, and otherwise by
// log(1 + v − lo). This suits counts and amounts that are mostly small and sometimes very large.
// Within 1 of a lower bound that is not positive, in the unit of the column, values stay almost
// evenly spaced.
func (c Column) Logarithmic() Column {
	c.logarithmic = true
	return c
}

// WithBounds returns the column with other public bounds. The bounds of a datetime are in seconds
// since 1970, and the bounds of a duration are in seconds. The upper bound is rounded down to a
// whole number of steps of the precision above the lower bound. The bounds of a column with a step
// are moved outward to values of its present grid, and stay within the present bounds.
func (c Column) WithBounds(lo, hi float64) Column {
	return c.kind.of().rebound(c, lo, hi)
}

// WithLevels returns the column with other levels. Aliases of levels that remain are kept. The
// level declared by [Column.WithOther] is kept if it remains.
func (c Column) WithLevels(levels ...string) Column {
	c.levels = slices.Clone(levels)
	c.aliases = slices.DeleteFunc(slices.Clone(c.aliases), func(a alias) bool {
		return !slices.Contains(levels, a.level)
	})
	if !slices.Contains(levels, c.other) {
		c.other = ""
	}
	return c
}

// absent returns the texts of the missing value.
func (c Column) absent() map[string]bool {
	texts := map[string]bool{}
	for _, a := range c.aliases {
		if a.level == "" {
			texts[a.text] = true
		}
	}
	return texts
}

// WithoutMissing returns the column without a missing value.
func (c Column) WithoutMissing() Column {
	c.missing = false
	return c
}

// Name returns the column's name.
func (c Column) Name() string { return c.name }

// Kind returns the kind of the column's values.
func (c Column) Kind() ColumnKind { return c.kind }

// IsNumber reports whether the column holds numbers, moments or lengths of time, rather than levels
// or identifiers.
func (c Column) IsNumber() bool { return c.kind.isNumber() }

// Bounds returns the smallest and the largest value of a column of numbers, and 0 and 0 for levels.
// Bounds of a datetime are in seconds since 1970, bounds of a duration in seconds.
func (c Column) Bounds() (lo, hi float64) { return c.lo, c.hi }

// Levels returns the names of the levels in their order, nil for numbers.
func (c Column) Levels() []string { return slices.Clone(c.levels) }

// Other returns the level declared by [Column.WithOther], or "".
func (c Column) Other() string { return c.other }

// HasMissing reports whether the column has a missing value.
func (c Column) HasMissing() bool { return c.missing }

// LogUnit returns u > 0 if [Column.Logarithmic] was applied to the column, whose numbers v are then
// encoded by log(1 + (v − lo)/u): by log v if u is the lower bound. Other units are 1, and the
// precision of a duration. It returns 0 for other columns.
func (c Column) LogUnit() float64 {
	switch {
	case !c.logarithmic:
		return 0
	case c.lo > 0 && c.hi/c.lo < math.MaxFloat64:
		return c.lo
	case c.kind == DurationColumn:
		return c.step.Seconds()
	}
	return 1
}

// String returns the column in words, for a person who reviews a schema.
func (c Column) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v%s", c.name, c.kind, c.kind.of().show(c))
	if c.stepped {
		fmt.Fprintf(&b, " by %g", c.grid)
	}
	if c.logarithmic {
		b.WriteString(", logarithmic")
	}
	if c.other != "" {
		fmt.Fprintf(&b, ", others are %q", c.other)
	}
	if c.missing {
		b.WriteString(", may be missing")
	}
	return b.String()
}

// same reports whether two columns describe the same values. Aliases concern files only and are
// ignored.
func (c Column) same(o Column) bool {
	return c.kind == o.kind && c.name == o.name && c.lo == o.lo && c.hi == o.hi &&
		c.grid == o.grid && c.logarithmic == o.logarithmic &&
		c.missing == o.missing && c.other == o.other && slices.Equal(c.levels, o.levels) &&
		c.least == o.least && c.most == o.most && c.from.Equal(o.from) && c.to.Equal(o.to) &&
		c.step == o.step && c.parts == o.parts && c.rule == o.rule
}
