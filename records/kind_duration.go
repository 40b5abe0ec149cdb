package records

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

var durationKind = kindOf{name: "duration", ordered: true, precise: true,
	kindRules: durationRules{}}

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

// Durations returns the bounds of a duration, and 0 and 0 for other columns. The upper bound is a
// whole number of steps of the precision above the lower one.
func (c Column) Durations() (lo, hi time.Duration) {
	if c.kind != DurationColumn {
		return 0, 0
	}
	return time.Duration(c.least), time.Duration(c.most)
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

// lengthOf returns the nearest length of time to a number of seconds.
func lengthOf(v float64) time.Duration { return time.Duration(saturated(math.Round(v * 1e9))) }

// holdsLengths reports whether cells are lengths of time.
func (k ColumnKind) holdsLengths() bool { return k == DurationColumn }

// durationRules are the rules of lengths of time.
type durationRules struct{}

func (durationRules) show(c Column) string {
	return fmt.Sprintf(" [%v, %v] by %v", time.Duration(c.least), time.Duration(c.most), c.step)
}

func (durationRules) check(f *columnFaults) {
	f.finite()
	f.span()
	f.noLevels()
}

func (durationRules) rebound(c Column, lo, hi float64) Column {
	return c.withDurations(lengthOf(lo), lengthOf(hi))
}

func (durationRules) put(c Column, j *columnJSON) {
	j.Lo, j.Hi = quoted(time.Duration(c.least)), quoted(time.Duration(c.most))
	j.Precision = c.step.String()
}

func (durationRules) get(j columnJSON, c Column) (_ Column, err error) {
	var from, to string
	if err := errors.Join(param.Decode(j.Lo, &from), param.Decode(j.Hi, &to)); err != nil {
		return c, j.wrong("bounds %.40s, %.40s: want strings such as \"1h30m\"", j.Lo, j.Hi)
	}
	var lo, hi time.Duration
	for _, f := range []struct {
		into *time.Duration
		text string
	}{{&lo, from}, {&hi, to}, {&c.step, j.Precision}} {
		if *f.into, err = time.ParseDuration(f.text); err != nil {
			return c, j.wrong("bound or precision %.40q: want a length of time such as 1h30m", f.text)
		}
	}
	return c.withDurations(lo, hi), nil
}

func (durationRules) held(Column) tickKind { return lengthTicks{} }

// lengthTicks holds lengths of time as steps of the precision above the lower bound.
type lengthTicks struct{}

func (lengthTicks) count(c Column) int64 {
	return (c.most - c.least) / int64(max(c.step, 1))
}

func (lengthTicks) declared(*columnFaults) bool { return true }
func (lengthTicks) invalid() string             { return "not a number" }

func (lengthTicks) prepare(t *tickCode, c Column) {
	t.digits = max(fractionDigits(c.step), fractionDigits(time.Duration(c.least)))
}

// ofWhole returns the tick of seconds.
func (lengthTicks) ofWhole(t *tickCode, v int64) int64 { return t.ofDuration(seconds(v, 0)) }

func (lengthTicks) ofFloat(t *tickCode, v float64) int64 {
	return t.ofDuration(lengthOf(v))
}

func (lengthTicks) parse(t *tickCode, text string) (int64, bool) {
	d, ok := parseSeconds(text)
	if !ok {
		return 0, false
	}
	return t.ofDuration(d), true
}

func (lengthTicks) float(t *tickCode, k int64) float64 { return t.length(k).Seconds() }

func (lengthTicks) append(t *tickCode, dst []byte, k int64) []byte {
	return appendSeconds(dst, t.length(k), t.digits)
}

func (lengthTicks) compareText(t *tickCode, k int64, text string) int {
	d, _ := parseSeconds(text)
	return cmp.Compare(t.length(k), d)
}

func (lengthTicks) compare(t, o *tickCode, x, y int64) int {
	return cmp.Compare(t.length(x), o.length(y))
}
