package draft

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

const day = 24 * time.Hour

// moments describes what texts that are moments have in common.
type moments struct {
	from, to time.Time
	step     time.Duration // of which all of them are multiples
}

var steps = [...]time.Duration{time.Hour, time.Minute, time.Second, time.Millisecond,
	time.Microsecond, time.Nanosecond}

// put adds a moment.
func (m *moments) put(at time.Time) {
	at = at.UTC()
	if m.step == 0 {
		m.from, m.to, m.step = at, at, day
	}
	if at.Before(m.from) {
		m.from = at
	}
	if at.After(m.to) {
		m.to = at
	}
	for i := 0; !at.Equal(at.Truncate(m.step)); i++ {
		m.step = min(m.step, steps[i])
	}
}

func (m *moments) differ() bool { return m.step > 0 }

// column returns the column of the moments.
func (m *moments) column(name string) records.Column {
	to := m.to
	if !to.After(m.from) {
		to = m.from.Add(m.step)
	}
	return records.Datetime(name, m.from, to, m.step)
}

func (m *moments) covers(other reading) bool {
	o, ok := other.(interface{ span() moments })
	return ok && o.span() == *m
}

func (m *moments) span() moments { return *m }

// anyMoment reads all forms that [records.Datetime] reads.
type anyMoment struct {
	moments
	zoned bool // whether some have a zone
}

var anyLayouts = []string{time.DateOnly,
	"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z07",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07"}

func (m *anyMoment) read(text string) bool {
	if len(text) < len(time.DateOnly) || text[4] != '-' {
		return false
	}
	for i, layout := range anyLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			m.put(at)
			m.zoned = m.zoned || i > 0 && (i-1)%4 >= 2
			return true
		}
	}
	return false
}

// A dateForm reads one layout.
type dateForm struct {
	layout string
	moments
	least, most int // decimals of the seconds
}

func (f *dateForm) read(text string) bool {
	if nearLength(f.layout, text) {
		return false
	}
	at, err := time.Parse(f.layout, text)
	if err == nil && at.Year() >= 1900 && at.Year() <= 2100 {
		f.count(text)
		f.put(at)
		return true
	}
	return isNoDate(text) // which is a missing value
}

// count counts the decimals of the seconds in a text that is put next.
func (f *dateForm) count(text string) {
	if !strings.Contains(f.layout, "05") {
		return
	}
	n := decimals(f.layout, text)
	if f.step == 0 {
		f.least = n
	}
	f.least, f.most = min(f.least, n), max(f.most, n)
}

// isNoDate reports whether a text is like 00.00.0000.
func isNoDate(text string) bool {
	return len(text) > 5 && strings.Trim(text, "0-/.: ") == "" && strings.Contains(text, "00")
}

// nearLength reports whether a text is so much shorter or longer than a layout that it cannot have
// it. This is quicker than to parse it.
func nearLength(layout, text string) bool {
	longer, least := len(text)-len(layout), -1
	if strings.Contains(layout, "Jan") {
		least = -9
	}
	if strings.Contains(layout, "_2") {
		return longer != 0 // all days are equally long
	}
	return longer < least || longer > 16
}

// decimals returns the number of decimals of the seconds: of digits after the first point that the
// layout does not have.
func decimals(layout, text string) (n int) {
	before, _, _ := strings.Cut(layout, "05")
	rest, found := text, true
	for range strings.Count(before, ".") + 1 {
		_, rest, found = strings.Cut(rest, ".")
	}
	for found && n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return n
}

// form returns the format of the column, with the decimals of the seconds. It is "" for the form in
// which datetimes are written without a format.
func (f *dateForm) form() string {
	form := f.layout
	if n := f.most; n > 0 {
		digit := "0"
		if f.least < n {
			digit, n = "9", map[time.Duration]int{time.Millisecond: 3, time.Microsecond: 6}[f.step]
		}
		if n == 0 {
			n = 9
		}
		form = strings.Replace(form, "05", "05."+strings.Repeat(digit, n), 1)
	}
	if form == time.DateOnly || form == "2006-01-02T15:04:05Z" {
		return ""
	}
	return form
}

// dayFirst reports whether a layout has the day before the month, both as numbers; mixed is false
// for layouts that cannot be confused with the other order.
func dayFirst(layout string) (first, mixed bool) {
	d, m := strings.Index(layout, "2"), strings.Index(layout, "1")
	if strings.HasPrefix(layout, "2006") {
		rest := strings.TrimPrefix(layout, "2006")
		d, m = strings.Index(rest, "2"), strings.Index(rest, "1")
	}
	return d < m, m >= 0 && !strings.Contains(layout, "Jan") && !strings.Contains(layout, "年")
}

// column returns the column of the layout, and what is said of it.
func (f *dateForm) column(name string, alike []reading, r *Recognised) records.Column {
	r.As = fmt.Sprintf("dates or times of the form %s, in whole steps of %v", f.layout, f.step)
	if strings.Contains(f.layout, "-07") {
		r.As += ", converted to UTC"
	}
	if f.layout == "20060102" || f.layout == "20060102150405" {
		r.Or = "whole numbers"
	}
	for _, o := range alike {
		if o, ok := o.(*dateForm); ok && (!o.from.Equal(f.from) || !o.to.Equal(f.to)) {
			r.Or = fmt.Sprintf("dates of the form %s: no text tells them apart", o.layout)
			break
		}
	}
	if f.most > 0 && f.least == f.most { // no text has more of them
		f.step = max(f.step, time.Second/time.Duration(math.Pow10(f.most)))
	}
	c := f.moments.column(name)
	if form := f.form(); form != "" {
		c = c.WithFormat(form)
	}
	return c
}
