package records

import (
	"fmt"
	"slices"
)

var (
	ordinalKind = kindOf{name: "ordinal", levels: true, ordered: true, quoted: true, fewest: 2,
		kindRules: levelRules{}}
	categoricalKind = kindOf{name: "categorical", levels: true, oneHot: true, quoted: true, fewest: 1,
		kindRules: levelRules{}}
	flagKind = kindOf{name: "flag", levels: true, quoted: true, fewest: 2, most: 2,
		kindRules: levelRules{}}
	labelKind = kindOf{name: "label", role: classRole, levels: true, quoted: true, fewest: 1,
		kindRules: levelRules{}}
)

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

// levelRules are the rules of levels.
type levelRules struct{ numberRules }

func (levelRules) show(c Column) string { return fmt.Sprintf(" %q", c.levels) }

func (levelRules) check(f *columnFaults)                      { f.levels() }
func (levelRules) put(Column, *columnJSON)                    {}
func (levelRules) get(_ columnJSON, c Column) (Column, error) { return c, nil }

func (f *columnFaults) levels() {
	c := f.column
	if c.lo != 0 || c.hi != 0 || c.logarithmic {
		f.bad(".Bounds", c.kind, "neither bounds nor a logarithm: the column holds levels")
	}
	k := c.kind.of()
	if n := len(c.levels); n < k.fewest || n > maxLevels || k.most > 0 && n > k.most {
		f.bad(".Levels", n, fmt.Sprintf("%d to %d levels, two for a flag", k.fewest, maxLevels))
	}
	if len(c.levels) > maxLevels {
		return // too many to check one by one
	}
	f.texts()
}

// texts checks that every level and alias is plain text and has only one meaning.
func (f *columnFaults) texts() {
	level, alias := make(map[string]bool, len(f.column.levels)), map[string]bool{}
	for i, text := range f.column.levels {
		if !plainText(text) || level[text] {
			f.bad(fmt.Sprintf(".Levels[%d]", i), quotedName(text),
				"a unique name without control characters or surrounding blanks")
		}
		level[text] = true
	}
	for _, a := range f.column.aliases {
		if !level[a.level] && !(a.level == "" && f.column.missing) || !plainText(a.text) ||
			level[a.text] || alias[a.text] {
			f.bad(".WithAlias", fmt.Sprintf("%.40q for %.40q", a.text, a.level),
				"a text with one meaning, for one of the levels")
		}
		alias[a.text] = true
	}
	if other := f.column.other; other != "" && !level[other] {
		f.bad(".WithOther", quotedName(other), "one of the levels")
	}
}
