package records

import (
	"fmt"
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

// String returns the kind's name, which is also its type in a schema's JSON form.
func (k ColumnKind) String() string {
	names := [...]string{"numeric", "integer", "ordinal", "categorical", "flag", "label", "target",
		"datetime", "duration", "hashed", "identifier"}
	if k >= NumericColumn && k < columnKindEnd {
		return names[k-NumericColumn]
	}
	return fmt.Sprintf("ColumnKind(%d)", int(k))
}

// hasLevels reports whether values are names rather than numbers.
func (k ColumnKind) hasLevels() bool {
	return k == OrdinalColumn || k == CategoricalColumn || k == FlagColumn || k == LabelColumn ||
		k == HashedColumn
}

// encoded reports whether a column is part of the encoded vector.
func (k ColumnKind) encoded() bool { return k != LabelColumn && k != IdentifierColumn }

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
	known       []string // declared texts, the names of their buckets
	rule        IdentifierRule
}

// alias is another text that files use for a level.
type alias struct{ text, level string }

// Numeric returns a column of real numbers. They are clamped to the public bounds [lo,
// hi]. Missing values and values that are not numbers become the lower bound, unless
// [Column.WithMissing] adds a missing value.
func Numeric(name string, lo, hi float64) Column {
	return Column{kind: NumericColumn, name: name, lo: lo, hi: hi}
}

// Integer returns a column of whole numbers from lo to hi. Other numbers are rounded to the nearest
// whole number. In all other respects the column is like [Numeric]. float64 represents every whole
// number up to 2^53. If a bound is beyond 2^53, values are held as int64 and are read and written
// exactly; see [Frame.Whole].
func Integer(name string, lo, hi int) Column {
	return Column{kind: IntegerColumn, name: name}.withWhole(int64(lo), int64(hi))
}

// withWhole returns the column with bounds that are whole numbers.
func (c Column) withWhole(lo, hi int64) Column {
	c.least, c.most, c.lo, c.hi = lo, hi, float64(lo), float64(hi)
	return c
}

// Ordinal returns a column of ordered levels. The column is encoded as one number, with the levels
// evenly spaced.
func Ordinal(name string, levels ...string) Column {
	return Column{kind: OrdinalColumn, name: name, levels: slices.Clone(levels)}
}

// Categorical returns a column of levels without an order, encoded one-hot. An unknown
// value becomes the level declared by [Column.WithOther], or else a missing value if
// [Column.WithMissing] adds one, or else the first level.
func Categorical(name string, levels ...string) Column {
	return Column{kind: CategoricalColumn, name: name, levels: slices.Clone(levels)}
}

// Flag returns a column of two levels, encoded as one number: no is 0 and yes is 1.
func Flag(name, no, yes string) Column {
	return Column{kind: FlagColumn, name: name, levels: []string{no, yes}}
}

// Label returns the column of the class. Its levels become the class names of the schema. The class
// is not part of the encoded vector.
func Label(name string, levels ...string) Column {
	return Column{kind: LabelColumn, name: name, levels: slices.Clone(levels)}
}

// Target returns a numeric column to be predicted from the others. It is encoded like
// [Numeric]; [Schema.Target] returns its position.
func Target(name string, lo, hi float64) Column {
	return Column{kind: TargetColumn, name: name, lo: lo, hi: hi}
}

// WithMissing adds a missing value: one more level in a categorical column, and one more
// coordinate, 0 or 1, in any other.
func (c Column) WithMissing() Column {
	c.missing = true
	return c
}

// WithOther declares the level that unknown values become.
func (c Column) WithOther(level string) Column {
	c.other = level
	return c
}

// WithAlias declares other texts that stand for a level in files. They are used for reading only; a
// level is always written by its name.
func (c Column) WithAlias(level string, texts ...string) Column {
	c.aliases = slices.Clone(c.aliases)
	for _, t := range texts {
		c.aliases = append(c.aliases, alias{t, level})
	}
	slices.SortStableFunc(c.aliases, func(a, b alias) int { return strings.Compare(a.text, b.text) })
	return c
}

// Logarithmic encodes a number by log(1 + v − lo) instead of v − lo. This suits counts and amounts
// that are mostly small and sometimes very large. Within 1 of the lower bound, in the unit of the
// column, values stay almost evenly spaced.
func (c Column) Logarithmic() Column {
	c.logarithmic = true
	return c
}

// WithBounds returns the column with other public bounds. The bounds of a datetime are in seconds
// since 1970, and the bounds of a duration are in seconds. The upper bound is rounded down to a
// whole number of steps of the precision above the lower bound. The bounds of a column with a step
// are moved outward to values of its present grid, and stay within the present bounds.
func (c Column) WithBounds(lo, hi float64) Column {
	switch c.kind {
	case IntegerColumn:
		c.least, c.most = saturated(lo), saturated(hi)
	case DatetimeColumn:
		return c.withTimes(momentOf(lo), momentOf(hi))
	case DurationColumn:
		return c.withDurations(time.Duration(saturated(lo*1e9)), time.Duration(saturated(hi*1e9)))
	}
	c.lo, c.hi = c.onGrid(lo, hi)
	return c
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
func (c Column) IsNumber() bool { return !c.kind.hasLevels() && c.kind != IdentifierColumn }

// Bounds returns the smallest and the largest value of a column of numbers, and 0 and 0 for levels.
// Bounds of a datetime are in seconds since 1970, bounds of a duration in seconds.
func (c Column) Bounds() (lo, hi float64) { return c.lo, c.hi }

// Levels returns the names of the levels in their order, nil for numbers.
func (c Column) Levels() []string { return slices.Clone(c.levels) }

// Other returns the level declared by [Column.WithOther], or "".
func (c Column) Other() string { return c.other }

// HasMissing reports whether the column has a missing value.
func (c Column) HasMissing() bool { return c.missing }

// IsLogarithmic reports whether [Column.Logarithmic] was applied to the column.
func (c Column) IsLogarithmic() bool { return c.logarithmic }

// String returns the column in words, for a person who reviews a schema.
func (c Column) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", c.name, c.kind)
	switch {
	case c.kind == HashedColumn:
		fmt.Fprintf(&b, " into %d buckets", len(c.levels))
	case c.kind == IdentifierColumn:
		fmt.Fprintf(&b, " %v", c.rule)
	case c.kind.hasLevels():
		fmt.Fprintf(&b, " %q", c.levels)
	case c.kind == DatetimeColumn:
		fmt.Fprintf(&b, " [%s, %s] by %v%v", c.timeText(c.from), c.timeText(c.to), c.step, c.parts)
	case c.kind == DurationColumn:
		fmt.Fprintf(&b, " [%v, %v] by %v", time.Duration(c.least), time.Duration(c.most), c.step)
	case c.inTicks():
		fmt.Fprintf(&b, " [%d, %d]", c.least, c.most)
	default:
		fmt.Fprintf(&b, " [%g, %g]", c.lo, c.hi)
	}
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
