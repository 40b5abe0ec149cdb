package records

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Moments, lengths of time and whole numbers beyond 2^53 are held as ticks: whole steps of the
// column's precision from its lower bound. A value between two steps is rounded down.

// Ticks that stand for no value.
const (
	missingTick    int64 = math.MinInt64
	unreadableTick int64 = math.MinInt64 + 1
)

// mostTicks is the largest number of steps between two bounds. It leaves room for ticks outside the
// bounds.
const mostTicks = 1 << 62

// tickKind says how the values of a kind of column are held in ticks.
type tickKind interface {
	// count returns the tick of the upper bound.
	count(c Column) int64
	// prepare sets the fields of a code that only this kind has.
	prepare(t *tickCode, c Column)
	// declared checks the bounds of a column, and reports whether they can be counted.
	declared(f *columnFaults) bool
	// ofWhole and ofFloat return the tick of a number, and parse the tick of a text that is not a
	// number.
	ofWhole(t *tickCode, v int64) int64
	ofFloat(t *tickCode, v float64) int64
	parse(t *tickCode, text string) (tick int64, ok bool)
	// float and append return the value at a tick as a number and as a text.
	float(t *tickCode, k int64) float64
	append(t *tickCode, dst []byte, k int64) []byte
	// compareText compares the value at a tick with the value of a text, and compare with the value
	// at a tick of another column.
	compareText(t *tickCode, k int64, text string) int
	compare(t, o *tickCode, x, y int64) int
	// invalid says what a text without a tick is not.
	invalid() string
}

// ticks returns the tick of the upper bound.
func (c Column) ticks() int64 { return c.kind.of().held(c).count(c) }

// tickCode turns the values of a column into ticks and back.
type tickCode struct {
	as     tickKind
	least  int64     // the value at tick 0 of whole numbers, and of durations in nanoseconds
	from   time.Time // the value at tick 0 of datetimes
	step   time.Duration
	last   int64  // the tick of the upper bound
	layout string // of a datetime
	digits int    // of the fraction of a second in durations
}

func newTickCode(c Column) *tickCode {
	if !c.inTicks() {
		return nil
	}
	t := &tickCode{as: c.kind.of().held(c), least: c.least, from: c.from, step: c.step,
		last: c.ticks()}
	t.as.prepare(t, c)
	return t
}

// within clamps a tick to the bounds. Ticks that stand for no value are returned unchanged.
func (t *tickCode) within(k int64) int64 {
	if k == missingTick || k == unreadableTick {
		return k
	}
	return min(max(k, 0), t.last)
}

// near moves a tick outside the bounds to -1 or to last+1, the nearest ticks outside the bounds.
func (t *tickCode) near(k int64) int64 { return min(max(k, -1), t.last+1) }

// ofWhole returns the tick of a whole number. The number is in seconds since 1970 for datetimes,
// and in seconds for durations.
func (t *tickCode) ofWhole(v int64) int64 { return t.as.ofWhole(t, v) }

// ofFloat returns the tick of a number in the units of ofWhole. The number need not be whole.
func (t *tickCode) ofFloat(v float64) int64 {
	switch {
	case math.Float64bits(v) == math.Float64bits(unreadable):
		return unreadableTick
	case v != v:
		return missingTick
	}
	return t.as.ofFloat(t, v)
}

// ofText returns the tick of a text: a whole number, a moment or a length of time.
func (t *tickCode) ofText(text string) int64 {
	if k, ok := t.as.parse(t, text); ok {
		return k
	}
	return t.ofFloat(parseNumber(text))
}

func (t *tickCode) ofTime(m time.Time) int64 {
	if m.Before(t.from) {
		return -1
	}
	return t.near(steps(t.from, m, t.step))
}

func (t *tickCode) ofDuration(d time.Duration) int64 {
	if int64(d) < t.least {
		return -1
	}
	span := uint64(d) - uint64(t.least)
	if k := span / uint64(t.step); k <= uint64(t.last) {
		return int64(k)
	}
	return t.last + 1
}

// whole, length and moment return the value at a tick inside the bounds.
func (t *tickCode) whole(k int64) int64          { return t.least + k }
func (t *tickCode) length(k int64) time.Duration { return time.Duration(t.least + k*int64(t.step)) }
func (t *tickCode) moment(k int64) time.Time     { return after(t.from, k, t.step) }

// float returns the value at a tick as a number: a whole number, seconds since 1970, or seconds,
// depending on the column.
func (t *tickCode) float(k int64) float64 { return t.as.float(t, k) }

// append appends the text of a value. Reading the text gives the same value.
func (t *tickCode) append(dst []byte, k int64) []byte { return t.as.append(t, dst, k) }

// compare compares the value at a tick with the value of a text.
func (t *tickCode) compare(k int64, text string) int { return t.as.compareText(t, k, text) }

// steps returns the number of whole steps from one moment to another, and -1 if the other is
// earlier. The result exceeds mostTicks if there are too many steps to count.
func steps(from, to time.Time, step time.Duration) int64 {
	if to.Before(from) {
		return -1
	}
	s, n := to.Unix()-from.Unix(), int64(to.Nanosecond()-from.Nanosecond())
	if n < 0 {
		s, n = s-1, n+1e9
	}
	hi, lo := bits.Mul64(uint64(s), 1e9)
	lo, carry := bits.Add64(lo, uint64(n), 0)
	if hi += carry; hi >= uint64(max(step, 1)) {
		return math.MaxInt64
	}
	k, _ := bits.Div64(hi, lo, uint64(max(step, 1)))
	return int64(min(k, math.MaxInt64))
}

// after returns the moment k steps after from.
func after(from time.Time, k int64, step time.Duration) time.Time {
	hi, lo := bits.Mul64(uint64(k), uint64(step))
	s, n := bits.Div64(hi, lo, 1e9)
	return time.Unix(from.Unix()+int64(s), int64(from.Nanosecond())+int64(n)).UTC()
}

// saturated rounds a number toward zero and clamps it to the range of int64; NaN becomes 0.
func saturated(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// seconds returns a length of time, clamped to the range of time.Duration.
func seconds(s int64, nanos int64) time.Duration {
	const most = math.MaxInt64/int64(1e9) - 1
	return time.Duration(min(max(s, -most), most)*1e9 + nanos)
}

// appendSeconds writes a length of time as a decimal number of seconds.
func appendSeconds(dst []byte, d time.Duration, digits int) []byte {
	u := uint64(d)
	if d < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = strconv.AppendUint(dst, u/1e9, 10)
	if digits == 0 {
		return dst
	}
	fraction := strconv.AppendUint(nil, 1e9+u%1e9, 10)
	return append(append(dst, '.'), fraction[1:1+digits]...)
}

// parseSeconds reads a decimal number of seconds exactly, and texts such as 1h30m.
func parseSeconds(text string) (time.Duration, bool) {
	number, negative := strings.CutPrefix(text, "-")
	units, fraction, _ := strings.Cut(number, ".")
	if len(units) > 0 && len(units) < 11 && digitsOnly(units) && digitsOnly(fraction) {
		s, _ := strconv.ParseInt(units, 10, 64)
		if len(fraction) > 9 {
			fraction = fraction[:9]
		}
		n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
		d := seconds(s, n)
		if negative {
			d = -d
		}
		return d, true
	}
	return parseLength(text)
}

func digitsOnly(text string) bool { return strings.Trim(text, figures) == "" }

// fractionDigits returns the number of decimal digits that the fraction of a second in d needs.
func fractionDigits(d time.Duration) int {
	n := 9
	for u := d % time.Second; n > 0 && u%10 == 0; u /= 10 {
		n--
	}
	return n
}
