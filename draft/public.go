package draft

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Public describes how to draft a schema from the columns of a public file. The zero value
// drafts a table of all columns without a label.
type Public struct {
	Label     string   // name of the column of the class, "" for none
	Target    string   // name of the column to be predicted, "" for none
	Skip      []string // names of columns to leave out, such as identifiers and weights
	MaxLevels int      // largest number of levels of a column of texts; 0 for 100
	// Unsure says that CSV.Header is an assumption. A first line that could be a record is then an
	// error, so that values of a record do not become names. A first line cannot be a record if there
	// is a column of numbers, the line has a word in each such column, its texts all differ, and those
	// in other columns do not occur again there.
	Unsure bool
}

// Recognise is [FromPublic]. It also says, for each column, what its texts were taken for.
func Recognise(public io.Reader, layout records.CSV, d Public) (records.Schema, []Recognised,
	error) {
	if err := d.validate(layout); err != nil {
		return records.Schema{}, nil, err
	}
	names, seen, err := d.look(public, layout)
	if err != nil {
		return records.Schema{}, nil, err
	}
	return d.schema(names, seen)
}

// FromPublic drafts a schema from rows that the caller ASSERTS TO BE PUBLIC. Its bounds and levels
// are copied from these rows. A schema drafted from sensitive records reveals their extremes and
// rarest values, and no guarantee holds for these records. To estimate bounds and levels from
// sensitive records, at a cost in privacy, use [Config].
//
// A column of numbers becomes an Integer if all its numbers are whole, and a Numeric otherwise. Its
// bounds are its smallest and largest number. Digits with leading zeros are texts. A column of
// dates or times, in the forms that [records.Datetime] reads, becomes a Datetime. A column with two
// different texts becomes a Flag, and any other column of texts, or of a single number, a
// Categorical, with the texts in alphabetical order. Of more texts than MaxLevels, those that are
// all different and have one form become an Identifier, and others are Hashed. The levels of a
// label are in alphabetical order, or in numerical order if they are numbers. A column in which a
// value is missing gets a missing value; one without any value is left out. [Recognise] says what
// was taken for what. A person should review the draft. Write it with
// [records.WriteSchema]. Widen the bounds to the values that can occur, put levels in order, and
// declare other levels and logarithms. Then read it back.
//
// Columns are named as [records.CSV] says; without a header or Names they are c1, c2, ….
//
// Guarantee: none. Errors: [records.ErrFormat]; *[records.LimitError]; [records.ErrHeader] if
// Unsure and CSV.Header are set and the first line could be a record, or if neither CSV.Header nor
// CSV.FirstRecord is set and it cannot be one; *[param.Error] for names that the file lacks, and
// for columns with too many texts to be levels.
func FromPublic(public io.Reader, layout records.CSV, d Public) (records.Schema, error) {
	s, _, err := Recognise(public, layout, d)
	return s, err
}

func (d Public) validate(layout records.CSV) error {
	var c param.Checker
	c.OK(d.MaxLevels >= 0 &&
		d.MaxLevels <= maxLevels, "draft.Public.MaxLevels", d.MaxLevels,
		fmt.Sprintf("0 to %d", maxLevels))
	c.OK(len(d.Skip) == 0 || layout.Header || layout.Names != nil, "draft.Public.Skip", d.Skip,
		"a header or CSV.Names, by which the other columns are found later")
	return c.Err()
}

// maxLevels is the largest number of levels of a column, and maxWhole the largest number up to
// which every whole number is a float64 value.
const (
	maxLevels = 1<<16 - 2
	maxWhole  = 1 << 53
)

// look reads all rows once.
func (d Public) look(public io.Reader, layout records.CSV) (names []string, seen []seenColumn,
	err error) {
	var first []string
	line, missing := 0, layout.MissingTexts()
	for fields, err := range layout.Lines(public) {
		if err != nil {
			return nil, nil, err
		}
		if line++; line == 1 {
			if names, err = columnNames(fields, layout); err != nil {
				return nil, nil, err
			}
			seen = unseen(len(names))
			first = slices.Clone(fields)
			continue
		}
		if len(fields) != len(names) {
			return nil, nil,
				malformed("line %d has a different number of fields than the first line, which has %d",
					line, len(names))
		}
		for j, text := range fields {
			seen[j].add(text, missing, d.maxLevels())
			seen[j].again = seen[j].again || text == first[j]
		}
	}
	if line == 0 {
		return nil, nil, malformed("the CSV file is empty")
	}
	if err := d.checkFirst(first, seen, missing, layout); err != nil {
		return nil, nil, err
	}
	if !layout.Header {
		for j, text := range first {
			seen[j].add(text, missing, d.maxLevels())
		}
	}
	return names, seen, nil
}

// checkFirst fails if the first line and the following lines contradict the layout.
func (d Public) checkFirst(first []string, seen []seenColumn, missing []string,
	layout records.CSV) error {
	switch named := named(first, seen, missing); {
	case layout.Header && d.Unsure && !named:
		return fmt.Errorf("%w could be a record: set Public.Unsure to false if it holds names",
			records.ErrHeader)
	case !layout.Header && !layout.FirstRecord && named:
		return fmt.Errorf("%w looks like a header: set CSV.Header, or CSV.FirstRecord if it is a record",
			records.ErrHeader)
	}
	return nil
}

// named reports whether the first line cannot be a record like the following lines. Such a line has
// words in all columns of numbers. Its texts in the other columns do not occur there again.
func named(first []string, seen []seenColumn, missing []string) bool {
	numbers, met := 0, map[string]bool{}
	for j, text := range first {
		if text == "" || met[text] || slices.Contains(missing, text) {
			return false
		}
		met[text] = true
		switch c := &seen[j]; {
		case c.numbers && c.lo <= c.hi, c.isMoments(), len(c.dates.fit) > 0, c.spelled.form() != nil:
			if numbers++; !param.IsHeading(text) {
				return false
			}
		case c.again:
			return false
		}
	}
	return numbers > 0
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", records.ErrFormat, fmt.Sprintf(format, args...))
}

// columnNames returns the names of the columns, given the first line.
func columnNames(line []string, layout records.CSV) ([]string, error) {
	if layout.Names != nil && len(layout.Names) != len(line) {
		return nil, malformed("the first line has a different number of fields than Names")
	}
	names := slices.Clone(line)
	for i := range names {
		switch {
		case layout.Names != nil:
			names[i] = strings.TrimSpace(layout.Names[i])
		case !layout.Header:
			names[i] = fmt.Sprintf("c%d", i+1)
		}
	}
	return names, nil
}

func (d Public) maxLevels() int {
	if d.MaxLevels == 0 {
		return 100
	}
	return d.MaxLevels
}

// seenColumn describes the texts of a column in public rows.
type seenColumn struct {
	rows, missed   int
	lo, hi         float64
	least, most    int64 // of whole numbers
	numbers, whole bool  // whether all texts are numbers, and whole
	codes          bool  // whether a number has leading zeros
	moments        moments
	other          bool // whether a text is not a moment
	shape          shape
	missing        bool
	notFinite      bool            // whether a text is NaN or an infinity: missing among numbers
	levels         map[string]bool // at most one more than the limit
	again          bool            // whether the first line's text is in another line
	dates          dates
	spelled        spelled
}

func unseen(n int) []seenColumn {
	seen := make([]seenColumn, n)
	for j := range seen {
		seen[j] = seenColumn{lo: math.Inf(1), hi: math.Inf(-1), least: math.MaxInt64,
			most: math.MinInt64, numbers: true, whole: true, levels: map[string]bool{},
			shape: shape{met: map[uint64]struct{}{}}}
	}
	return seen
}

func (c *seenColumn) add(text string, missing []string, most int) {
	c.rows++
	if slices.Contains(missing, text) {
		c.missing = true
		c.missed++
		return
	}
	c.shape.add(text)
	if !c.dates.begun || len(c.dates.fit) > 0 {
		c.dates.add(text)
	}
	c.other = c.other || !c.moments.add(text)
	if len(c.levels) <= most && !c.levels[text] {
		c.levels[strings.Clone(text)] = true
	}
	if c.number(text); !c.numbers {
		c.spelled.add(text, c.lo, c.hi, c.whole)
	}
}

// number adds a text to those that are numbers.
func (c *seenColumn) number(text string) {
	if !c.numbers {
		return
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !math.IsInf(v, 0):
		c.numbers = false
	case math.IsInf(v, 0) || v != v:
		c.notFinite = true
	default:
		v += 0 // turns -0 into 0
		c.lo, c.hi = min(c.lo, v), max(c.hi, v)
		c.codes = c.codes || isCode(text)
		whole, err := int64(v), error(nil)
		if math.Abs(v) >= maxWhole {
			whole, err = strconv.ParseInt(text, 10, 64)
		}
		c.least, c.most = min(c.least, whole), max(c.most, whole)
		c.whole = c.whole && v == math.Trunc(v) && err == nil
	}
}

func (c *seenColumn) isMoments() bool { return !c.other && c.moments.step > 0 }

// schema returns the schema of the columns.
func (d Public) schema(names []string, seen []seenColumn) (_ records.Schema, all []Recognised,
	err error) {
	var columns []records.Column
	var errs []error
	for i, name := range append([]string{d.Label, d.Target}, d.Skip...) {
		if name != "" && !slices.Contains(names, name) {
			field := [...]string{"Label", "Target", "Skip"}[min(i, 2)]
			errs = append(errs,
				param.New("draft.Public."+field, fmt.Sprintf("%q", name),
					fmt.Sprintf("the name of a column of the file, such as %q", names[:min(len(names), 8)])))
		}
	}
	for j, name := range names {
		if name == "" || slices.Contains(d.Skip, name) {
			continue
		}
		r := Recognised{Column: name, Cells: seen[j].rows, Missing: seen[j].missed}
		if len(seen[j].levels) == 0 && name != d.Label && name != d.Target {
			r.As = "nothing: no row has a value, so the column is left out"
			all = append(all, r)
			continue
		}
		c, err := d.column(name, &seen[j], &r)
		r.Kind = c.Kind()
		columns, errs, all = append(columns, c), append(errs, err), append(all, r)
	}
	if err := errors.Join(errs...); err != nil {
		return records.Schema{}, nil, err
	}
	s, err := records.NewSchema(columns...)
	return s, all, err
}

// column returns the column of a name, and says in r what it is.
func (d Public) column(name string, seen *seenColumn, r *Recognised) (records.Column, error) {
	if name == d.Label {
		r.As = "classes"
		return records.Label(name, seen.texts()...), seen.fits(name, d.maxLevels())
	}
	number := seen.numbers && seen.lo <= seen.hi
	if name == d.Target {
		r.As = "numbers"
		if f := seen.spelled.form(); !number && f != nil {
			return records.Target(name, f.lo, f.hi).WithFormat(f.format()), nil
		}
		if !number {
			return records.Column{},
				param.New("draft.Public.Target", fmt.Sprintf("%q", name), "a column of numbers")
		}
		return seen.numeric(name, true), nil
	}
	c := seen.column(name, number, d.maxLevels(), r)
	if c.Kind() != records.IdentifierColumn && (seen.missing || number && seen.notFinite) {
		c = c.WithMissing()
	}
	return c, nil
}

func (c *seenColumn) column(name string, number bool, most int, r *Recognised) records.Column {
	switch {
	case number && !c.codes && c.lo < c.hi && len(c.dates.fit) == 0:
		if times, ok := c.epoch(name, r); ok {
			return times
		}
		r.As = "numbers"
		if c.whole {
			r.As = "whole numbers"
			if !c.shape.repeated && c.rows-c.missed >= 20 {
				r.Or = "identifiers, as they all differ: declare them as such if they name the records"
			}
		}
		return c.numeric(name, false)
	case len(c.dates.fit) > 0:
		return c.dates.column(name, r)
	case !number && c.spelled.form() != nil:
		return c.spelled.column(name, r)
	case c.isMoments():
		r.As = fmt.Sprintf("dates or times, in whole steps of %v", c.moments.step)
		if c.moments.zoned {
			r.As += ", converted to UTC"
		}
		return c.moments.column(name)
	case len(c.levels) > most:
		return c.many(name, r)
	}
	if yesOrNo, ok := flag(name, c.texts()); ok {
		r.As = "yes or no in several spellings"
		return yesOrNo
	}
	r.As = fmt.Sprintf("%d different texts", len(c.levels))
	if c.codes {
		r.As += ", digits with leading zeros"
	}
	if len(c.levels) == 1 {
		r.As = "a single value"
	}
	return c.named(name)
}

// numeric returns a column bounded by its numbers. If those of a target are all equal, the upper
// bound is larger.
func (c *seenColumn) numeric(name string, target bool) records.Column {
	lo, hi := c.lo, c.hi
	if lo == hi {
		hi = max(lo+1, math.Nextafter(lo, math.Inf(1)))
	}
	switch {
	case target:
		return records.Target(name, lo, hi)
	case c.whole:
		return records.Integer(name, int(c.least), int(c.most))
	}
	return records.Numeric(name, lo, hi)
}

func (c *seenColumn) named(name string) records.Column {
	levels := c.texts()
	if len(levels) == 2 {
		return records.Flag(name, levels[0], levels[1])
	}
	return records.Categorical(name, levels...)
}

// texts returns the texts in alphabetical order or, if all are numbers, in numerical order.
func (c *seenColumn) texts() []string {
	texts := slices.Sorted(maps.Keys(c.levels))
	if c.numbers {
		slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	}
	return texts
}

func (c *seenColumn) fits(name string, most int) error {
	if len(c.levels) == 0 {
		return param.New("draft.Public.MaxLevels", most,
			fmt.Sprintf("a value in column %q, which has none; or add it to Skip", name))
	}
	if len(c.levels) > most {
		return param.New("draft.Public.MaxLevels", most,
			fmt.Sprintf("enough levels for the texts of column %q; or add it to Skip (dates and names "+
				"have column types that a schema states by hand)", name))
	}
	return nil
}

// number returns the number that a text spells. The text must spell a number.
func number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}
