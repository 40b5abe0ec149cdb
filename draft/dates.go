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

// dateLayouts are forms of dates and times, in the order of preference where several fit all texts.
var dateLayouts = func() (list []string) {
	for _, date := range []string{"2006-01-02", "20060102", "2006/01/02", "2006.01.02", "01/02/2006",
		"1/2/2006", "02/01/2006", "2/1/2006", "02.01.2006", "2.1.2006", "02-01-2006", "2-1-2006",
		"01-02-2006", "2006-02-01", "02.01.06", "2.1.06", "01/02/06", "1/2/06", "02/01/06", "2/1/06",
		"02-01-06", "01-02-06", "02-Jan-2006", "2-Jan-2006", "02-Jan-06", "2-Jan-06", "02 Jan 2006",
		"2 Jan 2006", "Jan 02, 2006", "Jan 2, 2006", "02 January 2006", "2 January 2006",
		"January 02, 2006", "January 2, 2006", "02Jan2006", "01 2, 2006", "Mon, 02 Jan 2006",
		"Mon, 2 Jan 2006", "Monday, January 2, 2006", "2006年1月2日", "2006年01月02日"} {
		for _, clock := range []string{"", " 15:04", " 15:04:05", " 03:04 PM",
			" 03:04:05 PM", " 03:04 pm", " 03:04:05 pm", " 3:04 PM", " 3:04:05 PM", " 3:04 pm", " 3:04:05 pm", " 15:04:05 -0700",
			" 15:04:05 -07:00", " 15:04:05-07:00", " 15:04:05 GMT", " 15:04:05 UTC", ", 15:04",
			", 15:04:05"} {
			list = append(list, date+clock)
		}
	}
	return append(list, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z",
		"2006-01-02T15:04:05-07:00", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05Z07:00",
		"2006-01-02 15:04:05-07", "2006-01-02 15:04:05Z", "20060102150405", "20060102T150405", "20060102T150405Z",
		"20060102 150405", "02/Jan/2006:15:04:05 -0700", "Mon Jan _2 15:04:05 2006",
		"Mon Jan _2 15:04:05 MST 2006")
}()

// A dateForm reads one layout.
type dateForm struct {
	layout string
	moments
	least, most int // decimals of the seconds
	zeros       int // texts such as 00.00.0000
}

func (f *dateForm) read(text string) bool {
	if nearLength(f.layout, text) {
		return false
	}
	at, err := time.Parse(f.layout, text)
	if err == nil && at.Year() >= 1900 && at.Year() <= 2100 {
		if strings.Contains(f.layout, "05") {
			n := decimals(text)
			if f.step == 0 {
				f.least = n
			}
			f.least, f.most = min(f.least, n), max(f.most, n)
		}
		f.put(at)
		return true
	}
	if strings.Trim(text, "0-/.: ") == "" && strings.Contains(text, "00") && len(text) > 5 {
		f.zeros++
		return true
	}
	return false
}

// nearLength reports whether a text is so much shorter or longer than a layout that it cannot have
// it. This is quicker than to parse it.
func nearLength(layout, text string) bool {
	longer, least := len(text)-len(layout), -1
	if strings.Contains(layout, "Jan") {
		least = -9
	}
	return longer < least || longer > 16
}

// decimals returns the number of digits after the point of the seconds.
func decimals(text string) (n int) {
	_, rest, found := strings.Cut(text[max(strings.IndexByte(text, ':'), 0):], ".")
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
	if form == time.DateOnly || f.layout == "2006-01-02T15:04:05Z" && f.least == f.most {
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
	if f.most > 0 && f.least == f.most { // all decimals are used
		f.step = time.Second / time.Duration(math.Pow10(f.most))
	}
	c := f.moments.column(name)
	if form := f.form(); form != "" {
		c = c.WithFormat(form)
	}
	return c
}
