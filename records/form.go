package records

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// WithFormat declares how files spell the values of a column. A column of numbers spells 1234.5
// (or 1234) as the format does, such as "1.234,5", "$1,234.5" or "1234,5 %"; the signs around a
// number and between its digits may be missing in a file. A [Datetime] has a layout of package
// time, such as "02/01/2006" or "20060102", or "unix" or "unix-ms" for seconds or milliseconds
// since 1970. The number before a sign such as % is the value.
//
// [CSV] and JSON lines read the format, and CSV writes it. Everything else has the usual form, such
// as bounds in a schema and texts in constraints.
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
		day := time.Date(2025, 11, 28, 0, 0, 0, 0, time.UTC)
		if back, err := time.Parse(c.format, day.Format(c.format)); err != nil || !back.Equal(day) {
			return nil, "a layout with year, month and day, such as 02/01/2006, or unix or unix-ms"
		}
		return &form{layout: c.format}, ""
	case !c.kind.isNumber() || kind.precise:
		return nil, "no format: only numbers and datetimes have one"
	}
	f = new(form)
	var rest string
	f.before, rest, _ = strings.Cut(c.format, "1")
	f.group, rest, _ = strings.Cut(rest, "234")
	f.point, f.after, _ = strings.Cut(rest, "5")
	if f.after == "" && !strings.Contains(rest, "5") {
		f.point, f.after = ".", rest
	}
	signs := f.before + f.group + f.point + f.after
	if !strings.Contains(c.format, "1"+f.group+"234") || f.group == f.point || f.point == "" ||
		strings.ContainsAny(signs, "0123456789") || strings.ContainsAny(f.group+f.point, "+-eE") {
		return nil, "the text of 1234.5, such as $1,234.5 or 1.234,5"
	}
	return f, ""
}

// format checks the declared format.
func (f *columnFaults) format() {
	if _, wrong := f.column.form(); wrong != "" || len(f.column.format) > 64 {
		f.bad(".Format", quotedName(f.column.format), wrong)
	}
}

// usual returns the text of a file in the usual form, and "" for a text of another form.
func (f *form) usual(text string) string {
	if f.layout != "" || f.unit > 0 {
		var m time.Time
		var err error
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
