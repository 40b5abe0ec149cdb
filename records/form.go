package records

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"
)

// WithFormat declares how CSV files spell the values of a column. A column of numbers spells 1234.5
// (or 1234) as the format does, such as "1.234,5", "$1,234.5" or "1234,5 %"; the signs around a
// number and between its digits may be missing in a file. With "1234.00" all numbers are written
// with two decimals, with "12,34,567.5" digits are grouped as in India, with "+1234.5" numbers that
// are not negative have a plus, and what follows a semicolon spells negative numbers, such as
// "1,234.5;(1,234.5)" or "1234.5;1234.5-". A [Datetime] has a layout of package time, such as
// "02/01/2006" or "20060102", or "unix" or "unix-ms" for seconds or milliseconds since 1970. A
// [Duration] of less than a day has the layout of a time of day, such as "15:04" or "03:04 PM". The
// number before a sign such as % is the value.
//
// [CSV] reads and writes the format. Everything else has the usual form, such as JSON lines, bounds
// in a schema and texts in constraints. A format with which the bounds, or the value next to the
// lower one, would be read as another value than was written is an error.
func (c Column) WithFormat(format string) Column {
	c.format = format
	return c
}

// Format returns what [Column.WithFormat] declared, or "".
func (c Column) Format() string { return c.format }

// form translates between the texts of files and texts in the usual form.
type form struct {
	before, group, point, after string    // of a number
	plus                        string    // before numbers that are not negative
	minus                       [2]string // before and after negative numbers
	places                      int       // decimals that are always written
	pairs                       bool      // whether digits beyond the thousands are grouped by two
	layout                      string    // of a moment, or of a time of day
	clock                       bool      // whether the layout is of a time of day
	unit                        int64     // of a count since 1970, in milliseconds
}

var units = map[string]int64{"unix": 1000, "unix-ms": 1}

// form returns the column's form, nil if it has none, or what is wrong with its format.
func (c Column) form() (f *form, wrong string) {
	kind := c.kind.of()
	switch {
	case c.format == "":
		return nil, ""
	case kind.dated && units[c.format] > 0:
		return &form{unit: units[c.format]}, ""
	case kind.dated:
		return &form{layout: c.format}, ""
	case c.kind.holdsLengths():
		return &form{layout: c.format, clock: true}, ""
	case !c.kind.isNumber() || kind.precise:
		return nil, "no format: only numbers, datetimes and durations have one"
	}
	f = &form{minus: [2]string{"-", ""}}
	if !f.number(c.format) {
		return nil, "the text of 1234.5, such as $1,234.5 or 1.234,5"
	}
	return f, ""
}

const figures = "0123456789"

// number finds the parts of a format of numbers.
func (f *form) number(format string) (ok bool) {
	format, negative, signed := strings.Cut(format, ";")
	if signed {
		f.minus[0], f.minus[1], ok = strings.Cut(negative, format)
		if !ok || f.minus[0]+f.minus[1] == "" || strings.ContainsAny(f.minus[0]+f.minus[1], figures) {
			return false
		}
	}
	if format, ok = strings.CutPrefix(format, "+"); ok {
		f.plus = "+"
	}
	rest := ""
	f.before, rest, _ = strings.Cut(format, "1")
	if f.pairs = strings.HasPrefix(rest, "2") && !strings.HasPrefix(rest, "23"); f.pairs {
		f.group, rest, _ = strings.Cut(rest[1:], "34")
		rest, ok = strings.CutPrefix(rest, f.group+"567")
	} else {
		f.group, rest, ok = strings.Cut(rest, "234")
	}
	if zeros := strings.IndexByte(rest, '0'); zeros > 0 && !strings.Contains(rest, "5") {
		f.point, f.after = rest[:zeros], strings.TrimLeft(rest[zeros:], "0")
		f.places = len(rest) - zeros - len(f.after)
	} else if f.point, f.after, _ = strings.Cut(rest, "5"); !strings.Contains(rest, "5") {
		if f.point, f.after = ".", rest; f.group == "." {
			f.point = ","
		}
	}
	signs := f.before + f.group + f.point + f.after
	return ok && f.group != f.point && f.point != "" && !strings.ContainsAny(signs, figures+"+-") &&
		!strings.ContainsAny(f.group+f.point, "eE")
}

// format checks the declared format.
func (f *columnFaults) format() {
	c := f.column
	form, wrong := c.form()
	later := max(12*time.Hour/max(c.step, 1), 1) * c.step // a clock of 12 hours needs PM
	if form != nil && c.kind.of().dated && c.step > 0 {
		for _, m := range []time.Time{c.from, c.from.Add(c.step), c.from.Add(later), c.to} {
			back, ok := parseMoment(form.again(m.Format(time.RFC3339Nano)))
			if !ok || !back.Equal(m) || strings.Contains(c.format, "MST") { // zones have no unique names
				wrong = "a layout that spells every moment in its own way, such as 02/01/2006 for days"
			}
		}
	} else if form != nil && form.clock && c.step > 0 {
		lo, hi := time.Duration(c.least), time.Duration(c.most)
		for _, d := range []time.Duration{lo, min(lo+c.step, hi), min(lo+later, hi), hi} {
			back, ok := parseSeconds(form.again(string(appendSeconds(nil, d, 9))))
			if !ok || back != d || strings.Contains(c.format, "MST") {
				wrong = "a layout that spells every time of day in its own way, such as 15:04 for minutes"
			}
		}
	}
	if wrong != "" || c.format != "" && !(len(c.format) <= 64 && plainText(c.format)) {
		f.bad(".Format", quotedName(c.format), cmp.Or(wrong, "at most 64 bytes of plain text"))
	}
}

// again returns a text in the usual form after it was written and read.
func (f *form) again(text string) string { return f.usual(string(f.spell(nil, []byte(text)))) }

// usual returns the text of a file in the usual form, and "" for a text of another form.
func (f *form) usual(text string) string {
	if f.layout != "" || f.unit > 0 {
		m, err := time.Time{}, error(nil)
		if n, ok := wholeNumber(text); ok && f.unit > 0 {
			m = time.UnixMilli(min(max(n, -1<<46/f.unit), 1<<47/f.unit) * f.unit) // years -260 to 6429
		} else if m, err = time.Parse(f.layout, text); err != nil || f.unit > 0 {
			return ""
		}
		if f.clock {
			return string(appendSeconds(nil, m.Sub(m.Truncate(24*time.Hour)), 9))
		}
		return m.UTC().Format(time.RFC3339Nano)
	}
	text, sign := f.unsigned(strings.TrimSpace(text))
	text = strings.TrimPrefix(strings.TrimSpace(text), strings.TrimSpace(f.before))
	text = strings.TrimSpace(strings.TrimSuffix(text, strings.TrimSpace(f.after)))
	whole, rest, _ := strings.Cut(text, f.point)
	if strings.Contains(whole, ".") && f.group != "." { // else 1.234 would be read as about one
		return ""
	}
	if f.group != "" {
		groups := strings.Split(whole, f.group)
		for i, g := range groups[1:] {
			if two := f.pairs && i < len(groups)-2; two && len(g) != 2 || !two && len(g) != 3 {
				return ""
			}
		}
		whole = strings.Join(groups, "")
	}
	if strings.Trim(rest, "0") != "" || whole == "" && rest != "" { // else a whole number is kept
		whole += "." + rest
	}
	return sign + whole
}

// unsigned returns the text of a number without its sign, and the sign in the usual form.
func (f *form) unsigned(text string) (number, sign string) {
	if rest, ok := strings.CutPrefix(text, f.minus[0]); ok && f.minus != [2]string{"-", ""} {
		if rest, ok = strings.CutSuffix(rest, f.minus[1]); ok {
			return rest, "-"
		}
	}
	if i := strings.IndexAny(text, "-+"); i >= 0 && i < strings.IndexAny(text, figures) {
		return text[:i] + text[i+1:], strings.TrimPrefix(text[i:i+1], "+")
	}
	return text, ""
}

// grouped reports whether a group begins before the last digits of a whole number.
func (f *form) grouped(left int) bool {
	return left == 3 || left > 3 && (f.pairs && left%2 == 1 || !f.pairs && left%3 == 0)
}

// spell appends a text in the usual form as the form spells it.
func (f *form) spell(dst, text []byte) []byte {
	if f.clock {
		d, _ := parseSeconds(string(text))
		return time.Time{}.Add(d).AppendFormat(dst, f.layout)
	} else if m, _ := parseMoment(string(text)); f.layout != "" { // which the column has written
		return m.AppendFormat(dst, f.layout)
	} else if f.unit > 0 {
		return strconv.AppendInt(dst, m.UnixMilli()/f.unit, 10)
	}
	end := ""
	if text[0] == '-' {
		dst, text, end = append(dst, f.minus[0]...), text[1:], f.minus[1]
	} else {
		dst = append(dst, f.plus...)
	}
	dst = append(dst, f.before...)
	if bytes.IndexByte(text, 'e') > 0 { // decimals and groups are not of digits before an exponent
		text = strconv.AppendFloat(nil, number64(text), 'f', -1, 64)
	}
	whole, rest, point := bytes.Cut(text, []byte("."))
	for i, c := range whole {
		if i > 0 && f.grouped(len(whole)-i) {
			dst = append(dst, f.group...)
		}
		dst = append(dst, c)
	}
	if point || f.places > 0 {
		dst = append(append(dst, f.point...), rest...)
	}
	for range f.places - len(rest) {
		dst = append(dst, '0')
	}
	return append(append(dst, f.after...), end...)
}
