package draft

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/records"
)

// Recognised says what the texts of one column of public rows were taken for.
type Recognised struct {
	Column  string             `json:"column"`           // its name
	Kind    records.ColumnKind `json:"-"`                // of the draft; 0 if the column is left out
	Cells   int                `json:"cells"`            // that were read
	Missing int                `json:"missing"`          // cells among them without a value
	Absent  []string           `json:"absent,omitempty"` // texts that stand for a missing value
	Strays  int                `json:"strays,omitempty"` // cells with a text of another form
	As      string             `json:"as"`               // in words
	Or      string             `json:"or,omitempty"`     // what else, and what to do then
}

// Share returns the share of the cells with a value that have the form which was recognised.
func (r Recognised) Share() float64 {
	if r.Cells == r.Missing {
		return 0
	}
	return 1 - float64(r.Strays)/float64(r.Cells-r.Missing)
}

// habits are what the columns of a file that can be read in one way only tell about the others.
type habits struct {
	comma, point         bool // whether decimals follow a comma, or a point
	daysFirst, daysAfter bool // whether days stand before months, or after them
}

func (h *habits) learn(c *seenColumn) {
	switch f := c.reading().(type) {
	case *dateForm:
		first, mixed := dayFirst(f.layout)
		for _, o := range c.alike() {
			if o, ok := o.(*dateForm); ok {
				other, _ := dayFirst(o.layout)
				mixed = mixed && other == first
			}
		}
		if mixed && !strings.HasPrefix(f.layout, "2006") {
			h.daysFirst, h.daysAfter = h.daysFirst || first, h.daysAfter || !first
		}
	case *numberForm:
		sure := f.pointed
		for _, o := range c.alike() {
			if o, ok := o.(*numberForm); ok && o.differ() && o.point != f.point {
				sure = false
			}
		}
		h.comma, h.point = h.comma || sure && f.point == ",", h.point || sure && f.point == "."
	}
}

// settle decides between readings that no text of a column tells apart.
func (h habits) settle(c *seenColumn) {
	switch f := c.reading().(type) {
	case *dateForm:
		first, mixed := dayFirst(f.layout)
		want := h.daysFirst || h.comma && !h.daysAfter
		if mixed && first != want && (h.daysFirst != h.daysAfter || h.comma) {
			c.prefer(func(r reading) bool {
				o, ok := r.(*dateForm)
				if !ok {
					return false
				}
				other, mixed := dayFirst(o.layout)
				return mixed && other == want
			})
		}
	case *plainNumber, *numberForm:
		if h.comma && !h.point {
			c.prefer(func(r reading) bool {
				o, ok := r.(*numberForm)
				return ok && o.point == "," && o.differ() && (o.grouped || o.pointed)
			})
		}
	}
}

// prefer chooses a candidate that reads as many cells as the chosen one.
func (c *seenColumn) prefer(good func(reading) bool) {
	if good(c.chosen.reading) {
		return
	}
	for _, r := range c.candidates {
		if r.missed == c.chosen.missed && good(r.reading) {
			c.chosen = r
			return
		}
	}
}

// reading returns how the column is read; nil if it holds texts.
func (c *seenColumn) reading() reading {
	if c.chosen == nil {
		return nil
	}
	return c.chosen.reading
}

// column returns the column of a name, and says in r what it is.
func (c *seenColumn) column(name string, most int, r *Recognised) records.Column {
	if len(c.texts) == 1 && c.more == 0 && !c.controls && (c.reading() == nil || c.rows >= 20) {
		r.As = "a single value"
		return c.named(name)
	}
	if text, ok := c.lone(); ok {
		r.As = "a single value"
		return c.missingWords(records.Categorical(name, text), 0, r)
	}
	said := *r
	if column, ok := c.measured(name, r); ok {
		return column
	}
	*r = said
	if yesOrNo, ok := flag(name, c.levels()); ok {
		r.As = "yes or no in several spellings"
		return yesOrNo
	}
	if c.tooMany(most) {
		column := c.many(name, r)
		if c.controls {
			r.Or = "levels, once control characters such as tabs are removed"
		}
		return column
	}
	r.As = fmt.Sprintf("%d different texts", len(c.texts))
	if slices.ContainsFunc(c.levels(), isCode) {
		r.As += ", digits with leading zeros"
	}
	return c.named(name)
}

// measured returns the column of texts that are numbers or dates. ok is false for other texts, and
// for those that no column can hold.
func (c *seenColumn) measured(name string, r *Recognised) (column records.Column, ok bool) {
	absent := 0
	switch f := c.reading().(type) {
	case *dateForm:
		column = f.column(name, c.alike(), r)
		for text, cells := range c.texts {
			if isNoDate(text) {
				absent += cells
			}
		}
	case *clockForm:
		if c.repeats() {
			return column, false
		}
		column = f.column(name, r)
	case *anyMoment:
		r.As = fmt.Sprintf("dates or times, in whole steps of %v", f.step)
		if f.zoned {
			r.As += ", converted to UTC"
		}
		column = f.moments.column(name)
	case *plainNumber:
		times, ok := f.epoch(name, r)
		switch absent = f.overflow; {
		case ok:
			column = times
		case f.names() && !c.shape.repeated && c.cells() >= 20:
			return column, false
		case c.few(f.whole, f.lo, f.hi):
			return c.graded(name, r), true
		default:
			column = f.column(name, c.cells())
			if r.As = "numbers"; f.whole {
				r.As = "whole numbers"
				if !c.shape.repeated && c.cells() >= 20 {
					r.Or = "identifiers, as they all differ: declare them as such if they name the records"
				}
			}
		}
	case *numberForm:
		if f.names() && !c.shape.repeated && c.cells() >= 20 {
			return column, false
		}
		if c.few(!f.pointed, f.lo, f.hi) {
			return c.graded(name, r), true
		}
		column = f.column(name, c.alike(), r)
	default:
		return column, false
	}
	_, err := records.NewSchema(column)
	r.Strays = c.chosen.missed
	return c.missingWords(column, absent, r), err == nil
}

// lone returns the only text that holds digits, if the others are usual words for a missing value.
func (c *seenColumn) lone() (text string, ok bool) {
	if c.more > 0 || len(c.words) == 0 || len(c.texts) != len(c.words)+1 {
		return "", false
	}
	for _, t := range c.order {
		if _, word := c.words[t]; !word {
			text = t
		} else if !isMissing(t) {
			return "", false
		}
	}
	return text, true
}

// missingWords adds the missing value of a column in which words are missing values, and others
// too.
func (c *seenColumn) missingWords(column records.Column, others int, r *Recognised) records.Column {
	for _, word := range slices.Sorted(maps.Keys(c.words)) {
		r.Absent = append(r.Absent, word)
		r.Missing += c.words[word]
	}
	if r.Missing += others; r.Missing > 0 {
		return column.WithMissing().WithAlias("", r.Absent...)
	}
	return column
}

// mostGrades is the largest number of different numbers that are taken for levels.
const mostGrades = 12

// few reports whether there are so few different numbers that they are levels: 0 and 1, or some
// with gaps between them.
func (c *seenColumn) few(whole bool, lo, hi float64) bool {
	n := len(c.texts) - len(c.words)
	return c.repeats() && (!whole || hi-lo >= float64(n) || lo == 0 && hi == 1)
}

// repeats reports whether the column has few values, each of them many times.
func (c *seenColumn) repeats() bool {
	n := len(c.texts) - len(c.words)
	return c.more == 0 && n <= mostGrades && c.cells() >= 20*n && c.rows >= 50
}

// graded returns the column of a few numbers.
func (c *seenColumn) graded(name string, r *Recognised) records.Column {
	r.As = fmt.Sprintf("%d different numbers, which are levels", len(c.texts)-len(c.words))
	r.Or = "numbers, if others can occur"
	var texts []string
	for _, text := range c.levels() {
		if _, word := c.words[text]; !word {
			texts = append(texts, text)
		}
	}
	value := number
	if f, ok := c.reading().(*numberForm); ok {
		value = func(text string) float64 {
			one := *f
			one.lo = math.Inf(1)
			one.read(text)
			return one.lo
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int {
		return cmp.Compare(value(a), value(b))
	})
	if len(c.words) > 0 { // a word has no place among numbers
		return c.named(name)
	}
	if len(texts) == 2 {
		return records.Flag(name, texts[0], texts[1])
	}
	return records.Ordinal(name, texts...)
}

// buckets is the number of buckets of texts that are too many to be levels, and mostKnown the
// number of texts among which their names are chosen.
const (
	buckets   = 64
	mostKnown = 1024
)

// many returns the column of texts that are too many to be levels.
func (c *seenColumn) many(name string, r *Recognised) records.Column {
	r.Or = "a column of levels, if they are declared (MaxLevels)"
	if s := &c.shape; !s.repeated && c.rows-c.missed >= 2 {
		enough := 100 * float64(c.rows)
		form := s.common(enough)
		switch {
		case s.uuids == s.n:
			r.As = "identifiers: UUIDs, all different"
			return records.Identifier(name, records.UUID())
		case form != "" && capacity(form) >= enough:
			r.As = fmt.Sprintf("identifiers: all different, of the form %q (# is a digit, ? a letter)",
				form)
			return records.Identifier(name, records.Pattern(form))
		}
		r.Or = "free text or names, which are better left out (Skip)"
	}
	known, n := c.known()
	r.As = fmt.Sprintf("texts, too many to be levels: hashed into %d buckets", n)
	if len(known) > 0 {
		r.As += ", and generated records hold one text of these rows for each bucket"
	}
	column := records.Hashed(name, n, known...)
	if slices.ContainsFunc(slices.Collect(maps.Keys(c.words)), isMissing) {
		column = column.WithMissing()
	}
	return column
}

// known returns texts that name all of as many buckets as they can.
func (c *seenColumn) known() (texts []string, n int) {
	for _, text := range c.order[:min(len(c.order), mostKnown)] {
		if isLevel(text) && !isMissing(text) && len(text) <= 512 && !strings.HasPrefix(text, "bucket-") {
			texts = append(texts, text)
		}
	}
	for n = buckets; n >= 2; n-- {
		names := records.Hashed("", n, texts...).Levels()
		if !slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "bucket-")
		}) {
			return names, n
		}
	}
	return nil, buckets
}

// isLevel reports whether a text can be the name of a level.
func isLevel(text string) bool {
	return utf8.ValidString(text) && strings.TrimSpace(text) == text && text != "" &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// capacity returns how many texts have a form.
func capacity(form string) float64 {
	return math.Pow(10, float64(strings.Count(form, "#"))) *
		math.Pow(26, float64(strings.Count(form, "?"))) *
		math.Pow(36, float64(strings.Count(form, "*")))
}

// named returns the column of the texts as levels.
func (c *seenColumn) named(name string) records.Column {
	levels := c.levels()
	if len(levels) == 2 {
		return records.Flag(name, levels[0], levels[1])
	}
	return records.Categorical(name, levels...)
}
