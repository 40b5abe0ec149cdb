package records_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// TestColumnsOfTicksAreReadAsRows: columns of moments, lengths of time and wide whole numbers
// equal, in each form, the frame that the same values make row by row. Whatever the values are,
// encoded rows stay within their bounds.
func TestColumnsOfTicksAreReadAsRows(t *testing.T) {
	day := func(y int) time.Time { return time.Date(y, 1, 2, 3, 4, 5, 6, time.UTC) }
	s := must(records.NewSchema(
		records.Datetime("at", day(2001), day(2020), time.Second).WithMissing(),
		records.Duration("for", time.Second, 1000*time.Hour, time.Millisecond).WithMissing(),
		records.Integer("count", -5, min(1<<40, math.MaxInt)).WithMissing(),
		records.Numeric("x", 0, 10).WithMissing(),
	))(t)
	nan := math.NaN()
	numbers := []float64{nan, math.Inf(1), math.Inf(-1), 1e300, -1e300, 0, 1.5, 1e9, 1.2e9}
	whole := []int64{math.MaxInt64, math.MinInt64, 0, 7, -7, 1 << 40, 1_000_000_000, 60, 61}
	texts := []string{"", "2010-05-06", "1h30m", " 12 ", "nonsense", "-3", "2e400",
		"2001-01-02T03:04:05Z",
		"9999999999999999999999"}
	missing := []bool{false, true, false, false, true, false, false, false, false}
	codes, dictionary := []int32{0, 1, 2, -1, 99, 3, 3, 2, 1}, []string{"5", " 2015-01-01 ", "bad",
		"90"}
	for name, v := range map[string]records.Values{"numbers": {Numbers: numbers},
		"whole": {Whole: whole},
		"texts": {Texts: texts}, "codes": {Codes: codes, Dictionary: dictionary}} {
		for _, with := range []bool{false, true} {
			rows := make([][]any, len(missing))
			for i := range rows {
				var cell any
				switch {
				case with && missing[i]:
				case v.Numbers != nil:
					cell = numbers[i]
				case v.Whole != nil:
					cell = whole[i]
				case v.Texts != nil:
					cell = texts[i]
				case codes[i] >= 0 && int(codes[i]) < len(dictionary):
					cell = dictionary[codes[i]]
				}
				rows[i] = []any{cell, cell, cell, cell}
			}
			if v.Missing = nil; with {
				v.Missing = missing
			}
			got := must(records.FromColumns(s, v, v, v, v))(t)
			if want := must(records.FromValues(s, rows...))(t); !sameFrame(got, want) {
				t.Errorf("%s, missing %t: the frame of columns is\n%v\nthat of rows is\n%v", name, with, got,
					want)
			}
			inBounds(t, name, got)
		}
	}
	times := []time.Time{day(2001), day(2020), day(1), day(9999), {}, day(2010)}
	other := records.Values{Numbers: make([]float64, len(times))}
	got := must(records.FromColumns(s, records.Values{Times: times}, other, other, other))(t)
	var rows [][]any
	for _, at := range times {
		rows = append(rows, []any{at, 0.0, 0.0, 0.0})
	}
	if want := must(records.FromValues(s, rows...))(t); !sameFrame(got, want) {
		t.Error("moments of a column differ from moments of rows")
	}
	inBounds(t, "moments", got)
}

// inBounds checks that every coordinate of a data set lies in [0,1].
func inBounds(t *testing.T, name string, d records.Data) {
	t.Helper()
	var b device.Batch
	d.Range(0, d.Len(), &b)
	for i := range b.Rows {
		for j, x := range b.Dense.Row(i) {
			if !(x >= 0 && x <= 1) {
				t.Errorf("%s: row %d has the coordinate %v at %d", name, i, x, j)
			}
		}
	}
}

// ending is data that fail when they are read.
type ending struct{ records.Data }

func (ending) Gather([]int32, *device.Batch) { panic("no rows today") }
func (ending) Range(int, int, *device.Batch) { panic("no rows today") }

// TestGroupsOfDataThatFail: data that cannot be read have no persons.
func TestGroupsOfDataThatFail(t *testing.T) {
	d := must(records.FromFlat(records.Interval(2, 0, 1), make([]float32, 8)))(t)
	if p, err := records.GroupBy(ending{d}, []int{1, 1, 2, 2}, 2); !errors.Is(err, records.ErrData) {
		t.Errorf("got %v, %v, want %v", p, err, records.ErrData)
	}
	if p, err := records.GroupBy(struct{ records.Data }{d}, []int{1, 1, 2, 2}, 2); err != nil ||
		p.Len() != 2 {
		t.Errorf("got %v, %v, want two persons", p, err)
	}
}
