package arrow_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// must returns a function. The function returns v, or ends the test if err is not nil.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// people returns the schema of a table with columns of every kind of number and level.
func people(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Numeric("weight", 0, 200),
		records.Integer("age", -(math.MaxInt>>10+1), math.MaxInt>>10+1).WithMissing(),
		records.Categorical("town", "Köln", "Bonn", "1").WithOther("Bonn"),
		records.Ordinal("size", "S", "M", "L").WithMissing(),
		records.Flag("alive", "no", "yes"),
		records.Numeric("bonus", -math.MaxFloat64/2, math.MaxFloat64/2).WithMissing(),
		records.Label("class", "a", "b"),
	))(t)
}

// drawn returns n random records of the schema, with missing values and with values at the bounds.
func drawn(t testing.TB, s records.Schema, n int) *records.Frame {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b := must(records.NewFrameBuilder(s))(t)
	for range n {
		row := make([]any, 0, len(s.Columns()))
		for _, c := range s.Columns() {
			lo, hi := c.Bounds()
			switch at := []float64{0, 1, r.Float64()}[r.IntN(3)]; {
			case c.HasMissing() && r.IntN(3) == 0:
				row = append(row, nil)
			case c.Kind() == records.IntegerColumn:
				row = append(row, math.Round(lo+at*(hi-lo)))
			case c.IsNumber():
				row = append(row, lo+at*(hi-lo))
			default:
				row = append(row, c.Levels()[r.IntN(len(c.Levels()))])
			}
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// cellsOf returns the records as lines of JSON.
func cellsOf(f *records.Frame) string {
	var b strings.Builder
	for i := range f.Len() {
		b.Write(append(f.AppendJSON(nil, i), '\n'))
	}
	return b.String()
}

// parts yields the given data, one after another.
func parts(all ...records.Data) func(yield func(records.Data, error) bool) {
	return func(yield func(records.Data, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// visitsSchema returns the schema of a table with columns of every kind of time, and of other
// kinds that people does not have.
func visitsSchema(t testing.TB) records.Schema {
	t.Helper()
	from := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	to := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	return must(records.NewSchema(
		records.Identifier("id", records.UUID()),
		records.Datetime("day", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 24*time.Hour).WithMissing(),
		records.Datetime("second", from, to, time.Second).WithParts(records.HourPart),
		records.Datetime("micro", from, to, 10*time.Microsecond).WithMissing(),
		records.Datetime("nano", from.Add(7), to, 100*time.Nanosecond),
		records.Duration("span", -time.Hour, time.Hour, time.Second),
		records.Duration("exact", -time.Hour, 100*365*24*time.Hour, time.Nanosecond).WithMissing(),
		records.Integer("wide", -(math.MaxInt>>3), math.MaxInt>>2).WithMissing(),
		records.Hashed("drug", 60_000, "aspirin"),
	))(t)
}

// visits returns a table with columns of every kind of time, of large whole numbers and of hashed
// values. It contains random records, and records with the first and last values of columns.
func visits(t testing.TB) (records.Schema, *records.Frame) {
	t.Helper()
	s := visitsSchema(t)
	r := rand.New(rand.NewPCG(1, 2))
	flat := make([]float32, 600*s.Dim())
	for i := range flat {
		flat[i] = r.Float32()
	}
	random := must(records.DecodeFlat(s, flat))(t)
	edges := must(records.FromValues(s,
		[]any{"x", "0001-01-01", "1990-01-01", "1990-01-01T00:00:00.00001Z",
			"2029-12-31T23:59:59.9999999Z", "-3600", "3153599999.000000001", int64(1<<61 - 1), "some other"},
		[]any{nil, "9999-01-01", "2030-01-01", nil, "1990-01-01", "1", nil, nil, "bucket-7"},
		[]any{nil, nil, "1969-01-01", "1990-01-01T00:00:00.00123Z", 0, 3599.5, -0.000000001,
			int64(-1<<60 + 1), "aspirin"}))(t)
	f, _ := records.AsFrame(must(records.Concat(s, random, edges))(t))
	return s, f
}
