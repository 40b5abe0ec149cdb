package records

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

var datetimeKind = kindOf{name: "datetime", ordered: true, quoted: true, precise: true, dated: true,
	kindRules: datetimeRules{}}

// Datetime returns a column of moments. They are clamped to the public bounds [from, to] and
// rounded down to whole steps of the precision after from. A value that is missing or not a moment
// becomes the lower bound, unless [Column.WithMissing] adds a missing value.
//
// Moments are in UTC. A text is read in the form of RFC 3339, or as a date alone. A blank may
// replace the T, and a text without a zone is in UTC. A number is read as seconds since 1970.
// Moments are written as dates if the column can hold only midnights, otherwise in the form of RFC
// 3339.
//
// A coordinate distinguishes 2^24 positions between the bounds, so generated moments have no finer
// resolution, whatever the precision. Records that are read keep the full precision.
func Datetime(name string, from, to time.Time, precision time.Duration) Column {
	return Column{kind: DatetimeColumn, name: name, step: precision}.withTimes(from, to)
}

// withTimes returns the column with other bounds of a datetime.
func (c Column) withTimes(from, to time.Time) Column {
	c.from, c.to = from.UTC().Round(0), to.UTC().Round(0)
	if c.step > 0 && c.to.After(c.from) {
		if k := steps(c.from, c.to, c.step); k <= mostTicks {
			c.to = after(c.from, k, c.step)
		}
	}
	c.lo = float64(c.from.Unix()) + float64(c.from.Nanosecond())/1e9
	c.hi = float64(c.to.Unix()) + float64(c.to.Nanosecond())/1e9
	return c
}

// Times returns the bounds of a datetime, in UTC, and the zero time for other columns. The upper
// bound is a whole number of steps of the precision after the lower one.
func (c Column) Times() (from, to time.Time) { return c.from, c.to }

// Time returns the moment in one cell of a [Datetime] column, in UTC. ok is false for a missing
// value, if the column allows one, and for columns of other kinds.
func (f *Frame) Time(row, column int) (m time.Time, ok bool) {
	code := &f.schema.table.cells[column]
	if code.kind != DatetimeColumn {
		return m, false
	}
	k := code.tickOf(f.cells[column].ticks[row])
	if k == missingTick {
		return m, false
	}
	return code.tick.moment(k), true
}

const day = 24 * time.Hour

// layout returns the format in which moments of a column are written.
func (c Column) layout() string {
	from := c.from
	if c.step%day == 0 && from.Equal(from.Truncate(day)) {
		return time.DateOnly
	}
	digits := max(fractionDigits(c.step), fractionDigits(time.Duration(from.Nanosecond())))
	if digits == 0 {
		return "2006-01-02T15:04:05Z"
	}
	return "2006-01-02T15:04:05." + "000000000"[:digits] + "Z"
}

func (c Column) timeText(m time.Time) string { return m.Format(c.layout()) }

// momentOf returns the moment v seconds after 1970, to a microsecond. Numbers are clamped to ±2^40,
// which is outside the bounds of every column. NaN is read as 0.
func momentOf(v float64) time.Time {
	v = min(max(v, -1<<40), 1<<40)
	if v != v {
		v = 0
	}
	s := math.Floor(v)
	return time.Unix(int64(s), int64(math.Round((v-s)*1e6))*1000).UTC()
}

// Precision returns the step between two values of a datetime or a duration, and 0 for other
// columns.
func (c Column) Precision() time.Duration { return c.step }

// holdsMoments reports whether cells are moments.
func (k ColumnKind) holdsMoments() bool { return k == DatetimeColumn }

// datetimeRules are the rules of moments.
type datetimeRules struct{ numberRules }

func (datetimeRules) show(c Column) string {
	return fmt.Sprintf(" [%s, %s] by %v%v", c.timeText(c.from), c.timeText(c.to), c.step, c.parts)
}

func (datetimeRules) rebound(c Column, lo, hi float64) Column {
	return c.withTimes(momentOf(lo), momentOf(hi))
}

func (datetimeRules) put(c Column, j *columnJSON) {
	j.Lo, j.Hi = quoted(c.timeText(c.from)), quoted(c.timeText(c.to))
	j.Precision, j.Parts = c.step.String(), c.parts.names()
}

func (datetimeRules) get(j columnJSON, c Column) (_ Column, err error) {
	var from, to string
	if err := errors.Join(param.Decode(j.Lo, &from), param.Decode(j.Hi, &to)); err != nil {
		return c, j.wrong("bounds %.40s, %.40s: want strings such as \"2026-01-31T12:00:00Z\"",
			j.Lo, j.Hi)
	}
	lo, fine := parseMoment(from)
	hi, too := parseMoment(to)
	if !fine || !too {
		return c, j.wrong("bounds %.40q, %.40q: want times such as 2026-01-31T12:00:00Z", from, to)
	}
	if c.step, err = time.ParseDuration(j.Precision); err != nil {
		return c, j.wrong("precision %.40q: want a length of time such as 1h or 24h", j.Precision)
	}
	for _, name := range j.Parts {
		part := partNamed(name)
		if part == 0 || c.parts&part != 0 {
			return c, j.wrong("part %.40q: want month, weekday or hour, each at most once", name)
		}
		c.parts |= part
	}
	return c.withTimes(lo, hi), nil
}

func (datetimeRules) held(Column) tickKind { return momentTicks{} }

// momentTicks holds moments as steps of the precision after the lower bound.
type momentTicks struct{}

func (momentTicks) count(c Column) int64          { return steps(c.from, c.to, c.step) }
func (momentTicks) prepare(t *tickCode, c Column) { t.layout = c.layout() }
func (momentTicks) invalid() string               { return "not a time" }

func (momentTicks) declared(f *columnFaults) bool {
	c := f.column
	if c.logarithmic {
		f.bad(".Logarithmic", true, "false for a datetime")
	}
	if y := c.from.Year(); y < 1 || y > 9999 || c.to.Year() < 1 || c.to.Year() > 9999 {
		f.bad(".Bounds", fmt.Sprintf("years %d to %d", y, c.to.Year()), "years from 1 to 9999")
		return false
	}
	if steps(c.from, c.to, c.step) > mostTicks {
		f.bad(".Precision", c.step, "at most 2^62 steps between the bounds")
	}
	return true
}

// ofWhole returns the tick of seconds since 1970.
func (momentTicks) ofWhole(t *tickCode, v int64) int64 {
	return t.ofTime(time.Unix(min(max(v, -1<<40), 1<<40), 0))
}

func (momentTicks) ofFloat(t *tickCode, v float64) int64 { return t.ofTime(momentOf(v)) }

func (momentTicks) parse(t *tickCode, text string) (int64, bool) {
	m, ok := parseMoment(text)
	if !ok {
		return 0, false
	}
	return t.ofTime(m), true
}

func (momentTicks) float(t *tickCode, k int64) float64 {
	m := t.moment(k)
	return float64(m.Unix()) + float64(m.Nanosecond())/1e9
}

func (momentTicks) append(t *tickCode, dst []byte, k int64) []byte {
	return t.moment(k).AppendFormat(dst, t.layout)
}

func (momentTicks) compareText(t *tickCode, k int64, text string) int {
	if m, ok := parseMoment(text); ok {
		return t.moment(k).Compare(m)
	}
	return t.moment(k).Compare(momentOf(parseNumber(text)))
}

func (momentTicks) compare(t, o *tickCode, x, y int64) int {
	if t.step == o.step && t.from.Equal(o.from) {
		return cmp.Compare(x, y)
	}
	return t.moment(x).Compare(o.moment(y))
}
