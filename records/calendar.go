package records

import (
	"fmt"
	"time"
)

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
