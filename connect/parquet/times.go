package parquet

import (
	"math"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Datetimes are written as DATE, or as TIMESTAMP in a unit that represents their precision.
// Durations are written as a number of seconds, either whole or DECIMAL.

// writable returns an error for a datetime that no unit can represent.
func writable(s records.Schema) error {
	for _, c := range s.Columns() {
		from, to := c.Times()
		nanos := c.Kind() == records.DatetimeColumn && decimals(c) > 6
		if nanos && (from.Before(time.Unix(0, math.MinInt64)) || to.After(time.Unix(0, math.MaxInt64))) {
			return param.New("parquet.WriteFrames column "+c.Name(), c.String(),
				"a precision of microseconds, or years from 1678 to 2262")
		}
	}
	return nil
}

// decimals returns the number of decimal places of the seconds in a column.
func decimals(c records.Column) int {
	lo, _ := c.Durations()
	from, _ := c.Times()
	n := 0
	for _, d := range []time.Duration{c.Precision(), lo, time.Duration(from.Nanosecond())} {
		for unit := time.Second; d%unit != 0; unit /= 10 {
			n = max(n, digits(unit)+1)
		}
	}
	return n
}

// digits returns the number of decimal places of a second that the given unit needs.
func digits(unit time.Duration) int {
	n := 0
	for ; unit < time.Second; unit *= 10 {
		n++
	}
	return n
}

// days reports whether all times of a column are midnights.
func days(c records.Column) bool {
	const day = 24 * time.Hour
	from, _ := c.Times()
	return c.Precision()%day == 0 && from.Equal(from.Truncate(day))
}

func timeNode(c records.Column) pq.Node {
	switch n := decimals(c); {
	case days(c):
		return pq.Date()
	case n > 6:
		return pq.Timestamp(pq.Nanosecond)
	case n > 3:
		return pq.Timestamp(pq.Microsecond)
	}
	return pq.Timestamp(pq.Millisecond)
}

// exact returns a function that reads the cells of a column without float64 values, and nil for
// other columns.
func exact(f *records.Frame, c records.Column, column int) func(row int) (pq.Value, bool) {
	switch c.Kind() {
	case records.IntegerColumn:
		return func(row int) (pq.Value, bool) {
			v, there := f.Whole(row, column)
			return pq.Int64Value(v), there
		}
	case records.DatetimeColumn:
		n, dates := decimals(c), days(c)
		return func(row int) (pq.Value, bool) {
			m, there := f.Time(row, column)
			switch {
			case dates:
				return pq.Int32Value(int32(m.Unix() / 86400)), there
			case n > 6:
				return pq.Int64Value(m.UnixNano()), there
			case n > 3:
				return pq.Int64Value(m.UnixMicro()), there
			}
			return pq.Int64Value(m.UnixMilli()), there
		}
	case records.DurationColumn:
		unit := time.Second
		for range decimals(c) {
			unit /= 10
		}
		return func(row int) (pq.Value, bool) {
			d, there := f.Duration(row, column)
			return pq.Int64Value(int64(d / unit)), there
		}
	case records.IdentifierColumn:
		return func(row int) (pq.Value, bool) {
			text := f.Value(row, column)
			return pq.ByteArrayValue([]byte(text)), text != ""
		}
	}
	return nil
}
