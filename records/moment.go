package records

import (
	"fmt"
	"math"
	"time"
)

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

// Duration returns a column of lengths of time. They are clamped to the public bounds [lo, hi] and
// rounded down to whole steps of the precision above lo. A text is a decimal number of seconds, or
// has the form that [time.ParseDuration] reads; a number is read as seconds. A value may also be a
// [time.Duration]. Durations are written in seconds. In all other respects the column is like
// [Numeric].
func Duration(name string, lo, hi, precision time.Duration) Column {
	return Column{kind: DurationColumn, name: name, step: precision}.withDurations(lo, hi)
}

// withDurations returns the column with other bounds of a duration.
func (c Column) withDurations(lo, hi time.Duration) Column {
	c.least, c.most = int64(lo), int64(hi)
	if c.step > 0 && hi > lo && hi-lo > 0 {
		c.most = c.least + (c.most-c.least)/int64(c.step)*int64(c.step)
	}
	c.lo, c.hi = time.Duration(c.least).Seconds(), time.Duration(c.most).Seconds()
	return c
}

// Precision returns the step between two values of a datetime or a duration, and 0 for other
// columns.
func (c Column) Precision() time.Duration { return c.step }

// WholeBounds returns the exact bounds of a column of whole numbers, and 0 and 0 for other columns.
func (c Column) WholeBounds() (lo, hi int64) {
	if c.kind != IntegerColumn {
		return 0, 0
	}
	return c.least, c.most
}

// Times returns the bounds of a datetime, in UTC, and the zero time for other columns. The upper
// bound is a whole number of steps of the precision after the lower one.
func (c Column) Times() (from, to time.Time) { return c.from, c.to }

// Durations returns the bounds of a duration, and 0 and 0 for other columns. The upper bound is a
// whole number of steps of the precision above the lower one.
func (c Column) Durations() (lo, hi time.Duration) {
	if c.kind != DurationColumn {
		return 0, 0
	}
	return time.Duration(c.least), time.Duration(c.most)
}

// Whole returns the exact number in one cell of an [Integer] column. ok is false for a missing
// value, if the column allows one, and for columns of other kinds.
func (f *Frame) Whole(row, column int) (v int64, ok bool) {
	code := &f.schema.table.cells[column]
	if code.kind != IntegerColumn {
		return 0, false
	}
	if code.tick == nil {
		x := code.number(f.cells[column].numbers[row])
		return int64(x), x == x
	}
	k := code.tickOf(f.cells[column].ticks[row])
	if k == missingTick {
		return 0, false
	}
	return code.tick.whole(k), true
}

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

// Duration returns the length of time in one cell of a [Duration] column. ok is false for a missing
// value, if the column allows one, and for columns of other kinds.
func (f *Frame) Duration(row, column int) (d time.Duration, ok bool) {
	code := &f.schema.table.cells[column]
	if code.kind != DurationColumn {
		return 0, false
	}
	k := code.tickOf(f.cells[column].ticks[row])
	if k == missingTick {
		return 0, false
	}
	return code.tick.length(k), true
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

// CalendarParts are parts of a date that follow from a moment.
type CalendarParts uint8

// The parts of a date.
const (
	MonthPart   CalendarParts = 1 << iota // of the year
	WeekdayPart                           // from Sunday
	HourPart                              // of the day
	allParts    = MonthPart | WeekdayPart | HourPart
)

// partWidths lists the number of values of each part, in the order of their blocks.
var partWidths = [...]struct {
	part  CalendarParts
	width int
	name  string
}{{MonthPart, 12, "month"}, {WeekdayPart, 7, "weekday"}, {HourPart, 24, "hour"}}

// String lists the parts, each after a comma, as in the description of a column.
func (p CalendarParts) String() string {
	text := ""
	for _, name := range p.names() {
		text += ", " + name
	}
	if p&^allParts != 0 {
		text += fmt.Sprintf(", CalendarParts(%d)", uint8(p))
	}
	return text
}

// names returns the names of the parts in a schema's JSON.
func (p CalendarParts) names() (list []string) {
	for _, w := range partWidths {
		if p&w.part != 0 {
			list = append(list, w.name)
		}
	}
	return list
}

// partNamed returns the part with a name, or 0.
func partNamed(name string) CalendarParts {
	for _, w := range partWidths {
		if w.name == name {
			return w.part
		}
	}
	return 0
}

// WithParts adds parts of the date to the encoding of a [Datetime]. Each part is a one-hot block
// after the block of the moment. A model can then learn weekly or daily patterns. When records are
// read, the parts follow from the moment. When records are generated, the generated moment is moved
// to the nearest moment with the generated parts, as far as the bounds allow. The month is set
// first, then the weekday within that month, then the hour of that day.
func (c Column) WithParts(parts CalendarParts) Column {
	c.parts = parts
	return c
}

// Parts returns the parts of the date that are encoded.
func (c Column) Parts() CalendarParts { return c.parts }

// partOf returns the value of one part.
func partOf(m time.Time, part CalendarParts) int {
	switch part {
	case MonthPart:
		return int(m.Month()) - 1
	case WeekdayPart:
		return int(m.Weekday())
	}
	return m.Hour()
}

// moved returns the moment nearest to m at which the part has the given value, inside the given
// bounds.
func moved(m time.Time, part CalendarParts, value int, from, to time.Time) time.Time {
	switch part {
	case MonthPart:
		return nearestMonth(m, time.Month(value+1), from, to)
	case WeekdayPart:
		return nearestWeekday(m, time.Weekday(value), from, to)
	}
	at := m.Add(time.Duration(value-m.Hour()) * time.Hour)
	if at.Before(from) || at.After(to) {
		return m
	}
	return at
}

// nearestMonth returns the moment nearest to m in the given month and inside the bounds, or m if
// there is none. It tries the year of m and the years before and after it.
func nearestMonth(m time.Time, month time.Month, from, to time.Time) time.Time {
	best, found := m, false
	for year := m.Year() - 1; year <= m.Year()+1; year++ {
		lo := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		hi := lo.AddDate(0, 1, 0).Add(-1)
		lo, hi = later(lo, from), earlier(hi, to)
		if hi.Before(lo) {
			continue
		}
		at := earlier(later(m, lo), hi)
		if !found || at.Sub(m).Abs() < best.Sub(m).Abs() {
			best, found = at, true
		}
	}
	return best
}

// nearestWeekday returns the moment nearest to m on the given weekday, within a week and inside the
// bounds, or m if there is none. It prefers days in the same month.
func nearestWeekday(m time.Time, weekday time.Weekday, from, to time.Time) time.Time {
	ahead := (int(weekday-m.Weekday()) + 7) % 7
	if ahead == 0 {
		return m
	}
	days := [...]int{ahead, ahead - 7}
	if ahead > 3 {
		days[0], days[1] = days[1], days[0]
	}
	var left []time.Time
	for _, d := range days {
		at := m.AddDate(0, 0, d)
		switch {
		case at.Before(from) || at.After(to):
		case at.Month() == m.Month():
			return at
		default:
			left = append(left, at)
		}
	}
	if len(left) == 0 {
		return m
	}
	return left[0]
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
