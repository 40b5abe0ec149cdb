package records

import (
	"math"
	"strings"
	"time"
)

// The parsers in this file allocate no error for a wrong text, unlike packages time and strconv.
// With such errors, a compressed file of wrong texts would take memory many times its size.

// parseMoment reads a date, optionally followed by blanks or a T and a time of day. The time of day
// has hours and minutes, and optionally seconds with a fraction. A zone may follow the seconds: Z,
// +02 or +02:00.
func parseMoment(text string) (time.Time, bool) {
	if len(text) < len(time.DateOnly) || len(text) > 48 || text[4] != '-' || text[7] != '-' {
		return time.Time{}, false
	}
	year, ok1 := digitsValue(text[:4])
	month, ok2 := digitsValue(text[5:7])
	day, ok3 := digitsValue(text[8:10])
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || date.Day() != day {
		return time.Time{}, false
	}
	if text = text[len(time.DateOnly):]; text == "" {
		return date, true
	}
	clock := strings.TrimLeft(text, " ")
	if text[0] == 'T' {
		clock = text[1:]
	} else if clock == text {
		return time.Time{}, false
	}
	length, ok := timeOfDay(clock)
	return date.Add(length), ok
}

// timeOfDay returns the time since midnight in UTC.
func timeOfDay(text string) (d time.Duration, ok bool) {
	hour, text, ok1 := clockPart(text, 1, 23)
	if !ok1 || text == "" || text[0] != ':' {
		return 0, false
	}
	minute, text, ok := clockPart(text[1:], 2, 59)
	d = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	if !ok || text == "" {
		return d, ok
	}
	if text[0] != ':' {
		return 0, false
	}
	second, text, ok := clockPart(text[1:], 2, 59)
	nanos, text := fractionOf(text)
	zone, ok2 := zoneOf(text)
	return d + time.Duration(second)*time.Second + nanos - zone, ok && ok2
}

// clockPart returns the number of at most two digits that a text begins with, and the rest of the
// text.
func clockPart(text string, least, most int) (v int, rest string, ok bool) {
	n := min(len(text)-len(strings.TrimLeft(text, figures)), 2)
	v, ok = digitsValue(text[:n])
	return v, text[n:], ok && n >= least && v <= most
}

// fractionOf returns the fraction of a second that a text begins with, to a nanosecond, and the
// rest of the text.
func fractionOf(text string) (d time.Duration, rest string) {
	if len(text) < 2 || text[0] != '.' && text[0] != ',' || text[1] < '0' || text[1] > '9' {
		return 0, text
	}
	unit := time.Second
	for text = text[1:]; text != "" && text[0] >= '0' && text[0] <= '9'; text = text[1:] {
		unit /= 10
		d += time.Duration(text[0]-'0') * unit
	}
	return d, text
}

// zoneOf returns the offset of a zone from UTC.
func zoneOf(text string) (d time.Duration, ok bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	if text[0] != '+' && text[0] != '-' || len(text) != 3 && (len(text) != 6 || text[3] != ':') {
		return 0, false
	}
	hour, ok1 := digitsValue(text[1:3])
	minute, ok2 := 0, true
	if len(text) == 6 {
		minute, ok2 = digitsValue(text[4:])
	}
	d = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	if text[0] == '-' {
		d = -d
	}
	return d, ok1 && ok2 && hour <= 24 && minute <= 60
}

// digitsValue returns the number that one to nine digits spell.
func digitsValue(digits string) (v int, ok bool) {
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		v = 10*v + int(digits[i]-'0')
	}
	return v, len(digits) > 0 && len(digits) < 10
}

// parseLength reads texts such as 1h30m, as [time.ParseDuration] does.
func parseLength(text string) (time.Duration, bool) {
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	if text == "0" {
		return 0, true
	}
	sum, ok := uint64(0), text != ""
	for ok && text != "" {
		var part uint64
		part, text, ok = lengthPart(text)
		sum += part
		ok = ok && sum <= 1<<63
	}
	if negative {
		return -time.Duration(sum), ok
	}
	return time.Duration(sum), ok && sum < 1<<63
}

// lengthPart returns the number and unit that a text begins with, in nanoseconds, at most 2^63, and
// the rest of the text.
func lengthPart(text string) (nanos uint64, rest string, ok bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	whole, fits := uint64(0), true
	for _, c := range []byte(text[:digits]) {
		fits = fits && whole <= 1<<63/10
		whole = 10*whole + uint64(c-'0')
		fits = fits && whole <= 1<<63
	}
	text = text[digits:]
	fraction, scale, full := uint64(0), 1.0, false
	if text != "" && text[0] == '.' {
		for text = text[1:]; text != "" && text[0] >= '0' && text[0] <= '9'; text = text[1:] {
			digits++
			next := 10*fraction + uint64(text[0]-'0')
			if full = full || fraction > (1<<63-1)/10 || next > 1<<63; !full {
				fraction, scale = next, 10*scale
			}
		}
	}
	letters := strings.IndexAny(text, ".0123456789")
	if letters < 0 {
		letters = len(text)
	}
	unit, known := lengthUnit(text[:letters])
	if digits == 0 || !fits || !known || whole > 1<<63/unit {
		return 0, "", false
	}
	nanos = whole*unit + uint64(float64(fraction)*(float64(unit)/scale))
	return nanos, text[letters:], nanos <= 1<<63
}

func lengthUnit(text string) (nanos uint64, ok bool) {
	switch text {
	case "ns":
		return 1, true
	case "us", "\u00b5s", "\u03bcs": // Unicode has two characters for the micro sign
		return 1e3, true
	case "ms":
		return 1e6, true
	case "s":
		return 1e9, true
	case "m":
		return 60e9, true
	case "h":
		return 3600e9, true
	}
	return 1, false
}

// wholeNumber returns the whole number that a text spells, or the nearest int64.
func wholeNumber(text string) (v int64, ok bool) {
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	sum := uint64(0)
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		if sum = 10*min(sum, 1<<63/10+1) + uint64(text[i]-'0'); sum > 1<<63 {
			sum = 1 << 63
		}
	}
	if negative {
		return -int64(sum), text != ""
	}
	return int64(min(sum, math.MaxInt64)), text != ""
}
