package draft

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// Recognised says what the texts of one column of public rows were taken for.
type Recognised struct {
	Column  string             `json:"column"`       // its name
	Kind    records.ColumnKind `json:"-"`            // of the draft; 0 if the column is left out
	Cells   int                `json:"cells"`        // that were read
	Missing int                `json:"missing"`      // cells among them
	As      string             `json:"as"`           // in words
	Or      string             `json:"or,omitempty"` // what else, and what to do then
}

// moments describes texts that are dates or times, in the forms that [records.Datetime] reads.
type moments struct {
	from, to time.Time
	step     time.Duration // of which all of them are multiples
	zoned    bool          // whether some have a zone
}

// momentLayouts are the forms of dates and times. A fraction may follow the seconds.
var momentLayouts = []string{time.DateOnly,
	"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z07",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07"}

const day = 24 * time.Hour

// add returns false for a text that is not a moment.
func (m *moments) add(text string) bool {
	if len(text) < len(time.DateOnly) || text[4] != '-' {
		return false
	}
	for i, layout := range momentLayouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		m.put(at)
		m.zoned = m.zoned || i > 0 && (i-1)%4 >= 2
		return true
	}
	return false
}

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
	for _, step := range []time.Duration{time.Hour, time.Minute, time.Second, time.Millisecond,
		time.Microsecond, time.Nanosecond} {
		if !at.Equal(at.Truncate(m.step)) {
			m.step = min(m.step, step)
		}
	}
}

// column returns the column of the moments.
func (m *moments) column(name string) records.Column {
	to := m.to
	if !to.After(m.from) {
		to = m.from.Add(m.step)
	}
	return records.Datetime(name, m.from, to, m.step)
}

// shape describes what all texts of a column have in common.
type shape struct {
	known    bool
	form     string // a pattern of records.Pattern; "" if they have none
	uuid     bool
	repeated bool // whether a text occurs again
	met      map[uint64]struct{}
}

var hashSeed = maphash.MakeSeed()

// mostMet bounds the texts among which repetitions are searched.
const mostMet = 1 << 17

func (s *shape) add(text string) {
	if !s.repeated && len(s.met) < mostMet {
		h := maphash.String(hashSeed, text)
		_, s.repeated = s.met[h]
		s.met[h] = struct{}{}
	}
	switch {
	case !s.known:
		s.known, s.form, s.uuid = true, formOf(text), isUUID(text)
	case s.form != "":
		s.form = joined(s.form, formOf(text))
	}
	s.uuid = s.uuid && isUUID(text)
}

// formOf returns a text as a pattern in which # is a digit, and "" if it can be none.
func formOf(text string) string {
	if len(text) > 64 {
		return ""
	}
	out := []byte(text)
	for i, c := range out {
		switch {
		case c >= '0' && c <= '9':
			out[i] = '#'
		case strings.IndexByte(`#?*\`, c) >= 0 || c > '~' || c < ' ':
			return ""
		}
	}
	return string(out)
}

// joined returns the pattern of the texts of two patterns, in which ? is a letter from A to Z and *
// a digit or such a letter. It returns "" if they have none in common.
func joined(a, b string) string {
	if a == b {
		return a
	}
	if len(a) != len(b) {
		return ""
	}
	letter := func(c byte) bool { return c == '?' || c >= 'A' && c <= 'Z' }
	sign := func(c byte) bool { return letter(c) || c == '#' || c == '*' }
	out := []byte(a)
	for i := range out {
		switch x, y := a[i], b[i]; {
		case x == y:
		case letter(x) && letter(y):
			out[i] = '?'
		case sign(x) && sign(y):
			out[i] = '*'
		default:
			return ""
		}
	}
	return string(out)
}

func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if c := text[i] | 0x20; dash != (text[i] == '-') ||
			!dash && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// isCode reports whether a text of digits would lose leading zeros as a number.
func isCode(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}

// buckets is the number of buckets of texts that are too many to be levels.
const buckets = 64

// many returns the column of texts that are too many to be levels.
func (c *seenColumn) many(name string, r *Recognised) records.Column {
	r.Or = "a column of levels, if they are declared (MaxLevels)"
	switch s := &c.shape; {
	case s.repeated || c.rows-c.missed < 2:
	case s.uuid:
		r.As = "identifiers: UUIDs, all different"
		return records.Identifier(name, records.UUID())
	case s.form != "" && capacity(s.form) >= 100*float64(c.rows):
		r.As = fmt.Sprintf("identifiers: all different, of the form %q (# is a digit, ? a letter)",
			s.form)
		return records.Identifier(name, records.Pattern(s.form))
	case c.numbers:
		r.As = "identifiers: numbers, all different"
		return records.Identifier(name, records.Sequence(1))
	default:
		r.Or = "free text or names, which are better left out (Skip)"
	}
	r.As = fmt.Sprintf("texts, too many to be levels: hashed into %d buckets, so generated records "+
		"hold names of buckets", buckets)
	return records.Hashed(name, buckets)
}

// capacity returns how many texts have a form.
func capacity(form string) float64 {
	return math.Pow(10, float64(strings.Count(form, "#"))) *
		math.Pow(26, float64(strings.Count(form, "?"))) *
		math.Pow(36, float64(strings.Count(form, "*")))
}
