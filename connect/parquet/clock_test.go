package parquet_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// TestTimesOfDayAndNaN: a time of day is a length of time since midnight, in whatever unit the file
// has it, and NaN is a missing level, as it is in a row of Go values.
func TestTimesOfDayAndNaN(t *testing.T) {
	type row struct {
		A int32   `parquet:"a,time(millisecond)"`
		B int64   `parquet:"b,time(microsecond)"`
		C int64   `parquet:"c,time(nanosecond)"`
		L float64 `parquet:"l"`
		H float32 `parquet:"h"`
	}
	var file bytes.Buffer
	w := pq.NewGenericWriter[row](&file)
	rows := []row{{36_000_500, 36_000_500_000, 36_000_500_000_000, math.NaN(), float32(math.NaN())},
		{A: 1, L: 2, H: 0.5}}
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	length := func(name string) records.Column {
		return records.Duration(name, 0, 24*time.Hour, time.Millisecond)
	}
	s, err := records.NewSchema(length("a"), length("b"), length("c"),
		records.Categorical("l", "1", "2", "x").WithOther("x").WithMissing(),
		records.Hashed("h", 1000).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.ReadFrame(bytes.NewReader(file.Bytes()), int64(file.Len()), s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := records.FromValues(s, []any{36000.5, 36000.5, 36000.5, math.NaN(), math.NaN()},
		[]any{0.001, 0, 0, 2, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Len() {
		for j, c := range s.Columns() {
			if got, want := got.Value(i, j), want.Value(i, j); got != want {
				t.Errorf("row %d, column %s: got %q, want %q", i, c.Name(), got, want)
			}
		}
	}
}
