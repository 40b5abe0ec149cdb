package draft

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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
	// are columns of numbers or dates, the line has a name in each of them, its texts all differ, and
	// hardly any of them occurs again in its column.
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
// Each column is read in the way that misses the fewest of its texts, at most one in fifty: as
// dates or times of one layout, as numbers, or as numbers with signs of money, units and signs
// between their digits, which become the column's format. Where no text tells two ways apart, the
// other columns of the file do. Words among numbers or dates are missing values if they are usual
// ones, as [MissingTexts] has them, or few.
//
// Whole numbers become an Integer, others a Numeric with the step of their decimals, and a few
// numbers with gaps between them an Ordinal. Bounds are the smallest and the largest value. Digits
// with leading zeros, and long numbers of one length that all differ, are texts. A column with two
// different texts becomes a Flag, and any other column of texts, or of a single number, a
// Categorical, with the texts in alphabetical order. Texts that are more than MaxLevels, or of
// which hardly any occurs twice, become an Identifier if they are all different and have one form,
// and are Hashed otherwise: each bucket is named by one of the texts. The levels of a label are in
// alphabetical order, or in numerical order if they are numbers. A column in which a value is
// missing gets a missing value; one without any value is left out, and so are columns that share
// their name. [Recognise] says what was taken for what. A person should review the draft. Write it
// with [records.WriteSchema]. Widen the bounds to the values that can occur, put levels in order,
// and declare other levels and logarithms. Then read it back.
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

// mostFields is how many fields are read before they are added to their columns.
const mostFields = 1 << 16

// look reads all rows once.
func (d Public) look(public io.Reader, layout records.CSV) (names []string, seen []seenColumn,
	err error) {
	var first []string
	var lines, spare [][]string // that are not added to the columns yet, or are added now
	var adding sync.WaitGroup
	defer adding.Wait()
	line, missing := 0, append(layout.MissingTexts(), "") // which can be no level
	for fields, err := range layout.Lines(public) {
		if err != nil {
			return nil, nil, err
		}
		if line++; line == 1 {
			if names, err = columnNames(fields, layout); err != nil {
				return nil, nil, err
			}
			first = slices.Clone(fields)
			seen = unseen(first, max(mostTexts, d.maxLevels()+1))
			continue
		}
		if len(fields) != len(names) {
			return nil, nil,
				malformed("line %d has %d fields, and the first line has %d", line, len(fields), len(names))
		}
		if n := len(lines); n < cap(lines) {
			lines = lines[:n+1]
		} else {
			lines = append(lines, nil)
		}
		last := &lines[len(lines)-1] // which may have the room of an earlier line
		if *last = append((*last)[:0], fields...); len(lines)*len(names) >= mostFields {
			adding.Wait()
			full := lines
			adding.Go(func() { addAll(seen, full, missing) })
			lines, spare = spare[:0], full
		}
	}
	adding.Wait()
	addAll(seen, lines, missing)
	if line == 0 {
		return nil, nil, malformed("the CSV file is empty")
	}
	choose(seen)
	for j, name := range names {
		if seen[j].foreign && !slices.Contains(d.Skip, name) {
			return nil, nil, malformed("a text of column %d is not UTF-8", j+1)
		}
	}
	if err := d.checkFirst(first, seen, layout); err != nil {
		return nil, nil, err
	}
	if !layout.Header {
		for j, text := range first {
			seen[j].add(text, missing)
		}
		choose(seen)
	}
	return names, seen, nil
}

// choose decides how each column is read, given all texts of the file.
func choose(seen []seenColumn) {
	var h habits
	for j := range seen {
		seen[j].choose()
		h.learn(&seen[j])
	}
	for j := range seen {
		h.settle(&seen[j])
	}
}

// checkFirst fails if the first line and the following lines contradict the layout.
func (d Public) checkFirst(first []string, seen []seenColumn, layout records.CSV) error {
	switch named := named(first, seen); {
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
// words in all columns of numbers or dates, of which there is one at least, or successive years
// above numbers that are none. Its other texts do not occur again, or hardly any of them does.
func named(first []string, seen []seenColumn) bool {
	words, years, again, met := 0, []string{}, 0, map[string]bool{}
	for j, text := range first {
		c := &seen[j]
		if text == "" && (c.nothing() || j == 0) {
			continue // as in a table with a column of row numbers, or with empty columns at its end
		}
		if text == "" || met[text] && !c.nothing() || isMissing(text) {
			return false
		}
		met[text] = true
		switch {
		case c.reading() != nil && isYear(text) && !c.holdsYears():
			years = append(years, text)
		case c.reading() != nil && c.couldHold(text):
			return false
		case c.reading() != nil || c.hasDigits() && !hasDigit(text):
			words++
		}
		if c.again {
			again++
		}
	}
	if len(years) > 1 && number(years[1]) == number(years[0])+1 {
		words++
	}
	return words > 0 && (again == 0 || words > 2*again)
}

// couldHold reports whether a text can be in a column of numbers or dates: it is read like the
// others, or it is no name.
func (c *seenColumn) couldHold(text string) bool {
	if !hasDigit(text) {
		_, word := c.words[text]
		return word || utf8.RuneCountInString(text) > 64
	}
	if param.IsHeading(text) {
		return false
	}
	for _, r := range c.candidates {
		if r.reads(text) {
			return true
		}
	}
	return !strings.ContainsFunc(text, unicode.IsLetter)
}

// reads reports whether a reading reads a text, which is not counted.
func (c *candidate) reads(text string) bool {
	switch r := c.reading.(type) {
	case *dateForm:
		again := *r
		return again.read(text)
	case *clockForm:
		again := *r
		return again.read(text)
	case *anyMoment:
		again := *r
		return again.read(text)
	case *plainNumber:
		again := *r
		return again.read(text)
	case *numberForm:
		again := *r
		return again.read(text)
	}
	return true
}

func isYear(text string) bool {
	return len(text) == 4 && (text[:2] == "19" || text[:2] == "20") && allDigits(text)
}

// holdsYears reports whether numbers of a column can be years.
func (c *seenColumn) holdsYears() bool {
	p, ok := c.reading().(*plainNumber)
	return !ok || p.hi >= 1900 && p.lo <= 2100
}

// hasDigits reports whether there are digits in all of many texts.
func (c *seenColumn) hasDigits() bool { return len(c.words) == 0 && c.rows-c.missed >= 20 }

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
	times := map[string]int{}
	for _, name := range names {
		times[name]++
	}
	for j, name := range names {
		c := &seen[j]
		if name == "" || slices.Contains(d.Skip, name) {
			continue
		}
		r := Recognised{Column: name, Cells: c.rows, Missing: c.missed}
		switch wanted := name == d.Label || name == d.Target; {
		case c.nothing() && !wanted:
			r.Missing = c.rows
			r.As = "nothing: no row has a value, so the column is left out"
		case times[name] > 1 && !wanted:
			r.As = "one of several columns of this name, by which none is found: left out"
		default:
			column, err := d.column(name, c, &r)
			r.Kind = column.Kind()
			columns, errs = append(columns, column), append(errs, err)
		}
		all = append(all, r)
	}
	if err := errors.Join(errs...); err != nil {
		return records.Schema{}, nil, err
	}
	s, err := records.NewSchema(columns...)
	return s, all, err
}

// column returns the column of a name, and says in r what it is.
func (d Public) column(name string, c *seenColumn, r *Recognised) (records.Column, error) {
	switch {
	case name == d.Label:
		r.As = "classes"
		return records.Label(name, c.levels()...), c.fits(name, d.maxLevels())
	case name == d.Target:
		r.As = "numbers"
		return c.target(name)
	}
	column := c.column(name, d.maxLevels(), r)
	if column.Kind() != records.IdentifierColumn && c.missed > 0 {
		column = column.WithMissing()
	}
	return column, nil
}

// target returns the column of the numbers to be predicted. If all are equal, the upper bound is
// larger.
func (c *seenColumn) target(name string) (records.Column, error) {
	if f, ok := c.reading().(*numberForm); ok {
		return records.Target(name, f.lo, f.hi).WithFormat(f.format()), nil
	}
	for _, r := range c.candidates {
		if p, ok := r.reading.(*plainNumber); ok && c.bears(r) && c.aside() && p.lo <= p.hi {
			lo, hi := p.lo, p.hi
			if lo == hi {
				hi = max(lo+1, math.Nextafter(lo, math.Inf(1)))
			}
			return records.Target(name, lo, hi), nil
		}
	}
	return records.Column{},
		param.New("draft.Public.Target", fmt.Sprintf("%q", name), "a column of numbers")
}

func (c *seenColumn) fits(name string, most int) error {
	if len(c.texts) == 0 {
		return param.New("draft.Public.MaxLevels", most,
			fmt.Sprintf("a value in column %q, which has none; or add it to Skip", name))
	}
	if len(c.texts) > most {
		return param.New("draft.Public.MaxLevels", most,
			fmt.Sprintf("enough levels for the texts of column %q; or add it to Skip (dates and names "+
				"have column types that a schema states by hand)", name))
	}
	return nil
}
