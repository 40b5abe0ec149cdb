package records

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// Drafting says what a drafted schema should make of the columns of a file. The
// zero value is a table of all columns without a label.
type Drafting struct {
	Label     string   // name of the column of the class, "" for none
	Target    string   // name of the column to be predicted, "" for none
	Skip      []string // names of columns to leave out, such as identifiers and weights
	MaxLevels int      // most levels of a column of texts; 0 for 100
}

// DraftPublicSchema drafts a schema from rows that the caller ASSERTS TO BE
// PUBLIC. Its bounds and levels are copied from those rows, so a schema drafted
// from sensitive records gives away their extremes and their rarest values, and
// no guarantee that is stated about those records holds. Package draft estimates
// bounds and levels from sensitive records at a price.
//
// A column of numbers becomes Numeric or, where all are whole, Integer, bounded
// by its smallest and largest number; two texts become a Flag, more a
// Categorical, in alphabetical order, as do the levels of a label, numbers in
// theirs; a missing value that occurs becomes one of its own. The result is a
// draft for a person to review: write it with [WriteSchema], widen the bounds to
// what can occur, put levels in order, declare other levels and logarithms, and
// read it back.
//
// Columns are named as [CSV] says; without a header or Names they are c1, c2, ….
//
// Guarantee: none.
// Errors: [ErrFormat]; *[param.Error] for names that do not occur and for columns
// with too many texts to be levels.
func DraftPublicSchema(public io.Reader, layout CSV, d Drafting) (Schema, error) {
	if err := d.validate(layout); err != nil {
		return Schema{}, err
	}
	br, err := plain(public)
	if err != nil {
		return Schema{}, err
	}
	lines := layout.reader(br)
	lines.FieldsPerRecord = 0
	names, first, err := draftNames(lines, layout)
	if err != nil {
		return Schema{}, err
	}
	seen, err := d.look(lines, layout, len(names), first)
	if err != nil {
		return Schema{}, err
	}
	return d.schema(names, seen)
}

func (d Drafting) validate(layout CSV) error {
	err := layout.validateCharacters()
	if d.MaxLevels < 0 || d.MaxLevels > maxLevels {
		err = errors.Join(err, param.New("records.Drafting.MaxLevels", d.MaxLevels, fmt.Sprintf("0 to %d", maxLevels)))
	}
	if len(d.Skip) > 0 && !layout.Header && layout.Names == nil {
		err = errors.Join(err, param.New("records.Drafting.Skip", d.Skip,
			"a header or CSV.Names, by which the other columns are found later"))
	}
	return err
}

// draftNames are the names of the columns and, where no header named them, the
// first line, which is a row.
func draftNames(lines *csv.Reader, layout CSV) (names, first []string, err error) {
	line, err := lines.Read()
	if err == io.EOF {
		return nil, nil, malformed("the csv file has no line")
	}
	if err != nil {
		return nil, nil, csvError(err)
	}
	line = slices.Clone(line)
	if !layout.Header {
		first = line
	}
	for i, text := range line {
		switch {
		case layout.Names != nil && i < len(layout.Names):
			text = layout.Names[i]
		case !layout.Header:
			text = fmt.Sprintf("c%d", i+1)
		}
		names = append(names, strings.TrimSpace(text))
	}
	if layout.Names != nil && len(layout.Names) != len(line) {
		return nil, nil, malformed("the first line has not as many fields as there are names")
	}
	return names, first, nil
}

// seenColumn is what public rows show of a column.
type seenColumn struct {
	lo, hi         float64
	numbers, whole bool // all texts are
	missing        bool
	levels         map[string]bool // at most one more than may be
}

// look reads all rows.
func (d Drafting) look(lines *csv.Reader, layout CSV, n int, first []string) ([]seenColumn, error) {
	seen := make([]seenColumn, n)
	for j := range seen {
		seen[j] = seenColumn{math.Inf(1), math.Inf(-1), true, true, false, map[string]bool{}}
	}
	missing := layout.missing()
	row := func(line []string) {
		for j, text := range line {
			seen[j].add(strings.TrimSpace(text), missing, d.maxLevels())
		}
	}
	if first != nil {
		row(first)
	}
	for {
		line, err := lines.Read()
		if err == io.EOF {
			return seen, nil
		}
		if errors.Is(err, csv.ErrFieldCount) && blank(line) {
			continue
		}
		if err != nil {
			return nil, csvError(err)
		}
		row(line)
	}
}

func (d Drafting) maxLevels() int {
	if d.MaxLevels == 0 {
		return 100
	}
	return d.MaxLevels
}

func (c *seenColumn) add(text string, missing []string, most int) {
	if slices.Contains(missing, text) {
		c.missing = true
		return
	}
	if len(c.levels) <= most && !c.levels[text] {
		c.levels[strings.Clone(text)] = true
	}
	if !c.numbers {
		return
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !math.IsInf(v, 0):
		c.numbers = false
	case math.IsInf(v, 0) || v != v:
		c.missing = true
	default:
		c.lo, c.hi = min(c.lo, v), max(c.hi, v)
		c.whole = c.whole && whole(v)
	}
}

// schema makes columns of what was seen.
func (d Drafting) schema(names []string, seen []seenColumn) (Schema, error) {
	var columns []Column
	var errs []error
	for _, name := range append([]string{d.Label, d.Target}, d.Skip...) {
		if name != "" && !slices.Contains(names, name) {
			errs = append(errs, param.New("records.Drafting", fmt.Sprintf("%q", name), "names of columns of the file"))
		}
	}
	for j, name := range names {
		if name == "" || slices.Contains(d.Skip, name) {
			continue
		}
		c, err := d.column(name, &seen[j])
		columns, errs = append(columns, c), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Schema{}, err
	}
	return NewSchema(columns...)
}

func (d Drafting) column(name string, seen *seenColumn) (Column, error) {
	if name == d.Label {
		return Label(name, seen.texts()...), seen.fits(name, d.maxLevels())
	}
	number := seen.numbers && seen.lo <= seen.hi
	if !number && name == d.Target {
		return Column{}, param.New("records.Drafting.Target", fmt.Sprintf("%q", name), "a column of numbers")
	}
	c, err := seen.number(name, name == d.Target), error(nil)
	if !number {
		c, err = seen.named(name), seen.fits(name, d.maxLevels())
	}
	if seen.missing && name != d.Target {
		c = c.WithMissing()
	}
	return c, err
}

// number bounds the numbers; a single one gets room above it.
func (c *seenColumn) number(name string, target bool) Column {
	lo, hi := c.lo, c.hi
	if lo == hi {
		hi = max(lo+1, math.Nextafter(lo, math.Inf(1)))
	}
	switch {
	case target:
		return Target(name, lo, hi)
	case c.whole:
		return Integer(name, int(lo), int(hi))
	}
	return Numeric(name, lo, hi)
}

func (c *seenColumn) named(name string) Column {
	levels := c.texts()
	if len(levels) == 2 {
		return Flag(name, levels[0], levels[1])
	}
	return Categorical(name, levels...)
}

// texts are in the order of the alphabet, or of the numbers that they all are.
func (c *seenColumn) texts() []string {
	texts := slices.Sorted(maps.Keys(c.levels))
	if c.numbers {
		slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(parseNumber(a), parseNumber(b)) })
	}
	return texts
}

func (c *seenColumn) fits(name string, most int) error {
	if len(c.levels) == 0 || len(c.levels) > most {
		return param.New("records.Drafting.MaxLevels", most,
			fmt.Sprintf("as many as column %q has texts, at least one; or the column in Skip", name))
	}
	return nil
}
