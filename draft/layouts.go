package draft

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A token is a part of a text that may be a date: a run of digits, a word, or a single sign.
type token struct {
	text string
	kind byte // '0', 'a' or '.'
}

func tokens(text string) (list []token) {
	kind := func(r rune) byte {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case unicode.IsLetter(r) && r < 0x250: // of Latin words
			return 'a'
		}
		return '.'
	}
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		k := kind(r)
		for k != '.' && n < len(text) {
			next, size := utf8.DecodeRuneInString(text[n:])
			if kind(next) != k {
				break
			}
			n += size
		}
		list = append(list, token{text[:n], k})
		text = text[n:]
	}
	return list
}

// longestDate is the length of the longest text that is looked at as a date.
const longestDate = 48

// layoutsOf returns the layouts of package time that a text may have, those that are more usual
// first. It returns none for a text that cannot be a date.
func layoutsOf(text string) []string {
	if len(text) < len("1/2/06") || len(text) > longestDate {
		return nil
	}
	d := dated{list: tokens(text)}
	for i := 0; i < len(d.list); i++ {
		if !d.put(i) {
			return nil
		}
		i += d.skip
		d.skip = 0
	}
	return d.layouts()
}

// dated is a text of which each part is found to be a word of a layout, or a number of a date.
type dated struct {
	list  []token
	out   []string // words of the layout; "" for the numbers of a date
	runs  []string // these numbers
	clock []int    // the places of the hour, the minute and the second
	month bool     // whether the month has a name
	half  bool     // whether hours count to 12
	skip  int      // parts that belong to the last one
}

func (d *dated) put(i int) bool {
	switch t := d.list[i]; t.kind {
	case '0':
		return d.number(i)
	case 'a':
		return d.word(t.text)
	default:
		d.out = append(d.out, t.text)
		return true
	}
}

// word puts the name of a month, a day or a zone, or a sign of a moment.
func (d *dated) word(text string) bool {
	lower := strings.ToLower(text)
	named := func(n int, name func(int) string, long string) string {
		for k := range n {
			switch full := strings.ToLower(name(k)); lower {
			case full[:3]: // among them May, which has no longer name
				return long[:3]
			case full:
				return long
			}
		}
		return ""
	}
	month := named(12, func(k int) string { return time.Month(k + 1).String() }, "January")
	weekday := named(7, func(k int) string { return time.Weekday(k).String() }, "Monday")
	switch {
	case month != "" && !d.month:
		d.month, text = true, month
	case weekday != "":
		text = weekday
	case lower == "am" || lower == "pm":
		if d.half = true; text == lower {
			text = "pm"
		} else {
			text = "PM"
		}
	case !slices.Contains([]string{"T", "Z", "GMT", "UTC"}, text):
		return false
	}
	d.out = append(d.out, text)
	return true
}

// number puts a run of digits.
func (d *dated) number(i int) bool {
	text, at := d.list[i].text, len(d.out)
	next, last := "", ""
	if i+1 < len(d.list) {
		next = d.list[i+1].text
	}
	if i > 0 {
		last = d.list[i-1].text
	}
	switch n := len(text); {
	case len(d.clock) >= 2 && (last == "+" || last == "-"):
		return d.zone(i, text, next)
	case len(d.clock) == 3 && (last == "." || last == ",") && n <= 9: // read after the seconds
		d.out = d.out[:at-1]
		return true
	case n == 8 && len(d.runs) == 0 && !d.month, n == 4 && !d.complete():
		d.out, d.runs = append(d.out, ""), append(d.runs, text)
	case (n == 12 || n == 14) && len(d.runs) == 0 && len(d.list) == 1:
		d.out = append(d.out, "20060102150405"[:n])
		d.clock = []int{0, 0}
	case n == 6 && len(d.runs) > 0 && len(d.clock) == 0:
		d.out = append(d.out, "150405")
		d.clock = []int{at, at, at}
	case n > 2:
		return false
	case len(d.clock) < 3 && (next == ":" || last == ":" || d.complete()):
		d.clock = append(d.clock, at)
		d.out = append(d.out, [...]string{"15", "04", "05"}[len(d.clock)-1])
	default:
		d.out, d.runs = append(d.out, ""), append(d.runs, text)
	}
	return true
}

// complete reports whether the day, the month and the year are known.
func (d *dated) complete() bool {
	return len(d.runs) == 3 || d.month && len(d.runs) == 2 || len(d.runs) == 1 && len(d.runs[0]) == 8
}

// zone puts the digits of an offset from UTC, whose sign was put before.
func (d *dated) zone(i int, text, next string) bool {
	d.out = d.out[:len(d.out)-1]
	switch {
	case len(text) == 4:
		d.out = append(d.out, "-0700")
	case len(text) == 2 && next == ":" && i+2 < len(d.list):
		d.out, d.skip = append(d.out, "-07:00"), 2
	case len(text) == 2:
		d.out = append(d.out, "-07")
	default:
		return false
	}
	return true
}

// layouts returns the layouts, in each of which the numbers of the date have another meaning.
func (d *dated) layouts() (list []string) {
	if len(d.runs) == 0 && len(d.out) == 1 && len(d.clock) == 2 {
		return d.out // digits alone
	}
	if !d.complete() || d.month && len(d.runs) != 2 {
		return nil
	}
	hours := []string{"15"}
	if d.half {
		hours = []string{"03", "3"}
	}
	for _, order := range d.orders() {
		for _, hour := range hours {
			for _, form := range []byte("0_m1") { // zeros, blanks, zeros of months, neither
				if layout, ok := d.layout(order, hour, form); ok && !slices.Contains(list, layout) {
					list = append(list, layout)
				}
			}
		}
	}
	return list
}

// orders returns what the numbers of a date may mean, the more usual meanings first.
func (d *dated) orders() []string {
	switch {
	case len(d.runs) == 1:
		return []string{"8", "d", "m"}
	case d.month && len(d.runs[0]) == 4:
		return []string{"yd"}
	case d.month && len(d.runs[1]) == 4:
		return []string{"dy"}
	case d.month:
		return []string{"dy", "yd"}
	case len(d.runs[0]) == 4:
		return []string{"ymd", "ydm"}
	case len(d.runs[1]) == 4:
		return nil
	}
	orders := []string{"dmy", "mdy"}
	if slices.Contains(d.out, "/") || slices.Contains(d.out, ",") {
		orders = []string{"mdy", "dmy"}
	}
	if len(d.runs[2]) != 4 {
		orders = append(orders, "ymd", "ydm")
	}
	return orders
}

// layout returns the layout of an order of the numbers. ok is false if a number does not fit.
func (d *dated) layout(order, hour string, form byte) (layout string, ok bool) {
	var b strings.Builder
	k := 0
	for at, text := range d.out {
		switch {
		case text == "" && k < len(order):
			part, ok := datePart(order[k], d.runs[k], form)
			if !ok {
				return "", false
			}
			if form == '_' && strings.HasSuffix(b.String(), "  ") { // one of them belongs to the day
				trimmed := strings.TrimSuffix(b.String(), " ")
				b.Reset()
				b.WriteString(trimmed)
			}
			b.WriteString(part)
			k++
		case len(d.clock) > 0 && at == d.clock[0] && text == "15":
			b.WriteString(hour)
		default:
			b.WriteString(text)
		}
	}
	return b.String(), form != '_' || strings.Contains(b.String(), " _2")
}

// datePart returns the part of a layout for a number of a date.
func datePart(meaning byte, digits string, form byte) (string, bool) {
	switch meaning {
	case '8':
		return "20060102", true
	case 'y':
		return map[int]string{4: "2006", 2: "06"}[len(digits)], len(digits) != 1
	}
	if len(digits) == 8 {
		return map[byte]string{'d': "02012006", 'm': "01022006"}[meaning], true
	}
	if len(digits) > 2 || len(digits) == 1 && (form == '0' || form == 'm' && meaning == 'm') {
		return "", false
	}
	switch {
	case meaning == 'd' && form == '_':
		return "_2", true
	case meaning == 'd' && form == '0':
		return "02", true
	case meaning == 'd':
		return "2", true
	case form != '1':
		return "01", true
	}
	return "1", true
}
