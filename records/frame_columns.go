package records

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Values are the raw cells of one column of a table, in one of five forms: numbers, whole numbers,
// moments, texts, or codes of texts in a dictionary. Exactly one form must be set. A column of any
// kind takes any form and reads it as [FrameBuilder.Append] does, except that only datetimes take
// moments. Values for identifiers are discarded.
type Values struct {
	Numbers []float64 // NaN is a missing value
	Whole   []int64
	Times   []time.Time
	Texts   []string
	// Codes are indices into Dictionary; a code outside it is a missing value.
	Codes      []int32
	Dictionary []string
	// Missing says which cells hold a missing value, whatever else they hold; nil for none.
	Missing []bool
	// Shared allows the frame to keep Numbers instead of copying it. The slice must then not be
	// written to while the frame is in use.
	Shared bool
}

// len returns the number of cells.
func (v Values) len() int {
	return len(v.Numbers) + len(v.Whole) + len(v.Times) + len(v.Texts) + len(v.Codes)
}

// forms returns the number of forms that are set.
func (v Values) forms() (n int) {
	for _, given := range []bool{v.Numbers != nil, v.Whole != nil, v.Times != nil,
		v.Texts != nil, v.Codes != nil} {
		if given {
			n++
		}
	}
	return n
}

// FromColumns returns a frame of whole columns, one for each column of the schema, in the schema's
// order, including the label. It suits files that are stored by column. The slices are copied
// unless they are Shared.
//
// Invalid values are not an error; [Check] reports them.
//
// Errors: *[param.Error] for a schema that is not of tables, a wrong number of columns, columns of
// different lengths, or a column with no form or with several.
func FromColumns(s Schema, columns ...Values) (*Frame, error) {
	const path = "records.FromColumns"
	b, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	if len(columns) != len(b.cells) {
		return nil, param.New(path, fmt.Sprintf("%d columns", len(columns)),
			fmt.Sprintf("%d, one for each column of the schema", len(b.cells)))
	}
	rows := columns[0].len()
	var c param.Checker
	c.OK(rows <= maxRows, path, "too many", fmt.Sprintf("at most %d rows", maxRows))
	for j, v := range columns {
		at := fmt.Sprintf("%s column %q", path, s.table.columns[j].name)
		c.OK(v.forms() == 1 || v.forms() == 0 && rows == 0, at, fmt.Sprintf("%d forms", v.forms()),
			"exactly one of Numbers, Whole, Times, Texts and Codes")
		c.OK(v.Times == nil || s.table.columns[j].kind.holdsMoments(), at, "moments",
			"another form: the column is not a datetime")
		c.OK(v.len() == rows, at, unequal(v.len(), rows), "as many values as the first column has")
		c.OK(v.Missing == nil || len(v.Missing) == rows, at+" Missing", unequal(len(v.Missing), rows),
			"one value for each row, or nil")
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	for j, v := range columns {
		b.appendColumn(j, v, rows)
	}
	b.n = rows
	return b.Frame(), nil
}

// appendColumn adds the cells of one column.
func (b *FrameBuilder) appendColumn(j int, v Values, rows int) {
	switch code := &b.schema.table.cells[j]; {
	case code.kind.isIdentifier():
		b.cells[j].ticks = slices.Repeat([]int64{missingTick}, rows)
	case code.tick != nil:
		b.cells[j].ticks = v.ticks(code.tick, rows)
	case b.codes(j) == nil:
		b.cells[j].numbers = v.numbers(rows)
	case code.open:
		for i := range rows {
			if text, held := v.text(i); held {
				b.appendText(j, text)
			} else {
				b.appendMissing(j)
			}
		}
	default:
		b.cells[j].levels = v.levels(code, b.codes(j), rows)
	}
}

// ticks reads the cells of a column that is held in ticks.
func (v Values) ticks(code *tickCode, rows int) []int64 {
	out := make([]int64, rows)
	for i, x := range v.Whole {
		out[i] = code.ofWhole(x)
	}
	for i, x := range v.Times {
		out[i] = code.ofTime(x)
	}
	for i, x := range v.Numbers {
		out[i] = code.ofFloat(x)
	}
	for i, text := range v.Texts {
		out[i] = code.ofText(strings.TrimSpace(text))
	}
	dictionary := make([]int64, len(v.Dictionary))
	for i, text := range v.Dictionary {
		dictionary[i] = code.ofText(strings.TrimSpace(text))
	}
	for i, c := range v.Codes {
		if out[i] = missingTick; uint(c) < uint(len(dictionary)) {
			out[i] = dictionary[c]
		}
	}
	for i, missing := range v.Missing {
		if missing {
			out[i] = missingTick
		}
	}
	return out
}

// numbers reads the cells of a column of numbers.
func (v Values) numbers(rows int) []float64 {
	if v.Shared && v.Numbers != nil && v.Missing == nil {
		return v.Numbers
	}
	dictionary := make([]float64, len(v.Dictionary))
	for i, text := range v.Dictionary {
		dictionary[i] = parseNumber(strings.TrimSpace(text))
	}
	out := make([]float64, rows)
	copy(out, v.Numbers)
	for i, x := range v.Whole {
		out[i] = float64(x)
	}
	for i, text := range v.Texts {
		out[i] = parseNumber(strings.TrimSpace(text))
	}
	for i, code := range v.Codes {
		if out[i] = math.NaN(); uint(code) < uint(len(dictionary)) {
			out[i] = dictionary[code]
		}
	}
	for i, missing := range v.Missing {
		if missing {
			out[i] = math.NaN()
		}
	}
	return out
}

// levels reads the cells of a column of levels; lookup holds the code of each text.
func (v Values) levels(code *cellCode, lookup map[string]uint16, rows int) []uint16 {
	dictionary := make([]uint16, len(v.Dictionary))
	for i, text := range v.Dictionary {
		dictionary[i] = code.code(lookup, strings.TrimSpace(text))
	}
	out := make([]uint16, rows)
	for i := range out {
		out[i] = missingLevel
		switch {
		case v.Missing != nil && v.Missing[i]:
		case v.Codes != nil:
			if k := v.Codes[i]; uint(k) < uint(len(dictionary)) {
				out[i] = dictionary[k]
			}
		default:
			if text, held := v.text(i); held {
				out[i] = code.code(lookup, text)
			}
		}
	}
	return out
}

// text returns the text of cell i; held is false for a missing value.
func (v Values) text(i int) (text string, held bool) {
	switch {
	case v.Missing != nil && v.Missing[i]:
	case v.Texts != nil:
		return strings.TrimSpace(v.Texts[i]), true
	case v.Whole != nil:
		return strconv.FormatInt(v.Whole[i], 10), true
	case v.Numbers != nil:
		return strconv.FormatFloat(v.Numbers[i], 'f', -1, 64), v.Numbers[i] == v.Numbers[i]
	case v.Codes != nil && uint(v.Codes[i]) < uint(len(v.Dictionary)):
		return strings.TrimSpace(v.Dictionary[v.Codes[i]]), true
	}
	return "", false
}
