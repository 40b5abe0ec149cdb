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
// number and between its digits may be missing in a file. A [Datetime] has a layout of package
// time, such as "02/01/2006" or "20060102", or "unix" or "unix-ms" for seconds or milliseconds
// since 1970. The number before a sign such as % is the value.
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
	before, group, point, after string // of a number
	layout                      string // of a moment
	unit                        int64  // of a count since 1970, in milliseconds
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
	case !c.kind.isNumber() || kind.precise:
		return nil, "no format: only numbers and datetimes have one"
	}
	before, rest, _ := strings.Cut(c.format, "1")
	f = &form{before: before}
	f.group, rest, _ = strings.Cut(rest, "234")
	f.point, f.after, _ = strings.Cut(rest, "5")
	if f.after == "" && !strings.Contains(rest, "5") {
		if f.point, f.after = ".", rest; f.group == "." {
			f.point = ","
		}
	}
	signs := f.before + f.group + f.point + f.after
	if !strings.Contains(c.format, "1"+f.group+"234") || f.group == f.point || f.point == "" ||
		strings.ContainsAny(signs, "0123456789+-") || strings.ContainsAny(f.group+f.point, "eE") {
		return nil, "the text of 1234.5, such as $1,234.5 or 1.234,5"
	}
	return f, ""
}

// format checks the declared format.
func (f *columnFaults) format() {
	c := f.column
	form, wrong := c.form()
	if form != nil && c.kind.of().dated && c.step > 0 {
		for _, m := range []time.Time{c.from, c.from.Add(c.step), c.to} {
			text := m.Format(time.RFC3339Nano)
			back, ok := parseMoment(form.usual(string(form.spell(nil, []byte(text)))))
			if !ok || !back.Equal(m) {
				wrong = "a layout that spells every moment in its own way, such as 02/01/2006 for days"
			}
		}
	}
	plain := c.format == "" || len(c.format) <= 64 && plainText(c.format)
	if !plain || wrong != "" {
		f.bad(".Format", quotedName(c.format), cmp.Or(wrong, "at most 64 bytes of plain text"))
	}
}

// usual returns the text of a file in the usual form, and "" for a text of another form.
func (f *form) usual(text string) string {
	if f.layout != "" || f.unit > 0 {
		m, err := time.Time{}, error(nil)
		if n, ok := wholeNumber(text); ok && f.unit > 0 {
			m = time.UnixMilli(min(max(n, -1<<46/f.unit), 1<<47/f.unit) * f.unit) // years -260 to 6429
		} else if m, err = time.Parse(f.layout, text); err != nil || f.unit > 0 {
			return ""
		}
		return m.UTC().Format(time.RFC3339Nano)
	}
	sign := ""
	if i := strings.IndexByte(text, '-'); i >= 0 && i < strings.IndexAny(text, "0123456789") {
		sign, text = "-", text[:i]+text[i+1:]
	}
	text = strings.TrimPrefix(strings.TrimSpace(text), strings.TrimSpace(f.before))
	text = strings.TrimSpace(strings.TrimSuffix(text, strings.TrimSpace(f.after)))
	whole, rest, _ := strings.Cut(text, f.point)
	if strings.Contains(whole, ".") && f.group != "." { // else 1.234 would be read as about one
		return ""
	}
	if f.group != "" {
		groups := strings.Split(whole, f.group)
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return ""
			}
		}
		whole = strings.Join(groups, "")
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

// spell appends a text in the usual form as the form spells it.
func (f *form) spell(dst, text []byte) []byte {
	if m, _ := parseMoment(string(text)); f.layout != "" { // which the column has written
		return m.AppendFormat(dst, f.layout)
	} else if f.unit > 0 {
		return strconv.AppendInt(dst, m.UnixMilli()/f.unit, 10)
	}
	if text[0] == '-' {
		dst, text = append(dst, '-'), text[1:]
	}
	dst = append(dst, f.before...)
	whole, rest, point := bytes.Cut(text, []byte("."))
	for i, c := range whole {
		if left := len(whole) - i; i > 0 && left%3 == 0 && bytes.IndexByte(text, 'e') < 0 {
			dst = append(dst, f.group...)
		}
		dst = append(dst, c)
	}
	if point {
		dst = append(append(dst, f.point...), rest...)
	}
	return append(dst, f.after...)
}
