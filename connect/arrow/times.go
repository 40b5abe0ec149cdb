package arrow

import (
	"math"
	"strconv"
	"time"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// times reads values that may need more than the 53 bits of a float64: whole numbers, datetimes and
// durations. done is false for other columns and types.
func times(a aw.Array, c records.Column) (out records.Values, done bool) {
	switch c.Kind() {
	case records.DatetimeColumn:
		if moment := momentOf(a); moment != nil {
			for i := range a.Len() {
				var m time.Time
				if a.IsValid(i) {
					m = moment(i)
				}
				out.Times, out.Missing = append(out.Times, m), append(out.Missing, a.IsNull(i))
			}
			return out, true
		}
	case records.DurationColumn:
		if d, ok := a.(*array.Duration); ok {
			unit := d.DataType().(*aw.DurationType).Unit
			return texts(a, cells{text: func(dst []byte, i int) []byte {
				return appendSeconds(dst, int64(d.Value(i)), unit)
			}}), true
		}
		if value, unit := clockOf(a); value != nil {
			return texts(a, cells{text: func(dst []byte, i int) []byte {
				return appendSeconds(dst, value(i), unit)
			}}), true
		}
		if number := cellsOf(a, c).number; number != nil && wholeOf(a) == nil {
			return texts(a, cellsOf(a, c)), true // all digits of a float
		}
	case records.IntegerColumn:
	default:
		return out, false
	}
	value := wholeOf(a)
	if value == nil {
		return out, false
	}
	for i := range a.Len() {
		v := int64(0)
		if a.IsValid(i) {
			v = value(i)
		}
		out.Whole, out.Missing = append(out.Whole, v), append(out.Missing, a.IsNull(i))
	}
	return out, true
}

// clockOf returns a function that reads times of day, which are lengths of time since midnight, and
// their unit; nil for a column without them.
func clockOf(a aw.Array) (func(i int) int64, aw.TimeUnit) {
	switch x := a.(type) {
	case *array.Time32:
		return func(i int) int64 { return int64(x.Value(i)) }, x.DataType().(*aw.Time32Type).Unit
	case *array.Time64:
		return func(i int) int64 { return int64(x.Value(i)) }, x.DataType().(*aw.Time64Type).Unit
	}
	return nil, 0
}

func momentOf(a aw.Array) func(i int) time.Time {
	switch x := a.(type) {
	case *array.Timestamp:
		unit := x.DataType().(*aw.TimestampType).Unit
		return func(i int) time.Time { return x.Value(i).ToTime(unit) }
	case *array.Date32:
		return func(i int) time.Time { return x.Value(i).ToTime() }
	case *array.Date64:
		return func(i int) time.Time { return x.Value(i).ToTime() }
	}
	return nil
}

// wholeOf returns a function that reads whole numbers, or nil if the column has none. Numbers of
// more than 63 bits become the largest int64.
func wholeOf(a aw.Array) func(i int) int64 {
	switch x := a.(type) {
	case *array.Int8:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Int16:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Int32:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Int64:
		return x.Value
	case *array.Uint8:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Uint16:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Uint32:
		return func(i int) int64 { return int64(x.Value(i)) }
	case *array.Uint64:
		return func(i int) int64 { return int64(min(x.Value(i), math.MaxInt64)) }
	}
	return nil
}

// appendSeconds appends a duration as a decimal number of seconds.
func appendSeconds(dst []byte, v int64, unit aw.TimeUnit) []byte {
	digits := 3 * int(unit) // of seconds, milliseconds, microseconds and nanoseconds
	power := int64(1)
	for range digits {
		power *= 10
	}
	seconds, rest := v/power, v%power
	if v < 0 {
		dst, seconds, rest = append(dst, '-'), -seconds, -rest
	}
	dst = strconv.AppendUint(dst, uint64(seconds), 10)
	if digits == 0 {
		return dst
	}
	at := len(dst)
	dst = strconv.AppendInt(dst, power+rest, 10) // a one, then the digits
	dst[at] = '.'
	return dst
}

// unitOf returns the largest unit that represents a column's datetimes or durations exactly.
func unitOf(c records.Column) aw.TimeUnit {
	from, _ := c.Times()
	lo, _ := c.Durations()
	unit := aw.Second
	for _, d := range []time.Duration{c.Precision(), lo, time.Duration(from.Nanosecond())} {
		for d%unit.Multiplier() != 0 {
			unit++
		}
	}
	return unit
}

// writable returns an error for a column of datetimes that 64 bits cannot represent in its unit.
func writable(c records.Column) error {
	if c.Kind() != records.DatetimeColumn || unitOf(c) != aw.Nanosecond {
		return nil
	}
	from, to := c.Times()
	if from.Before(time.Unix(0, math.MinInt64)) || to.After(time.Unix(0, math.MaxInt64)) {
		return param.New("arrow.SchemaOf column "+c.Name(), c.String(),
			"a precision of microseconds, or years from 1678 to 2262")
	}
	return nil
}

// exactly returns a function that converts the cells of a column to whole numbers.
func exactly(f *records.Frame, c records.Column, j int) func(row int) (int64, bool) {
	unit := unitOf(c)
	switch c.Kind() {
	case records.DatetimeColumn:
		return func(row int) (int64, bool) {
			m, there := f.Time(row, j)
			switch unit {
			case aw.Second:
				return m.Unix(), there
			case aw.Millisecond:
				return m.UnixMilli(), there
			case aw.Microsecond:
				return m.UnixMicro(), there
			}
			return m.UnixNano(), there
		}
	case records.DurationColumn:
		return func(row int) (int64, bool) {
			d, there := f.Duration(row, j)
			return int64(d / unit.Multiplier()), there
		}
	}
	return func(row int) (int64, bool) { return f.Whole(row, j) }
}

// identifiers returns a column of identifiers, with null for a record without one.
func identifiers(f *records.Frame, j int) aw.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range f.Len() {
		if text := f.Value(i, j); text != "" {
			b.Append(text)
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}
