package main

import (
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// kindsSchema returns a schema with difficult columns. Some columns have values that float64 cannot
// represent: whole numbers of 63 bits, times of every unit from the first year to the last, and
// durations. Some columns have names that are easily confused.
func kindsSchema() (records.Schema, error) {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	return records.NewSchema(
		records.Integer("whole", -1<<61, 1<<61-1).WithMissing(),
		records.Numeric("x", -math.MaxFloat64/2, math.MaxFloat64/2).WithMissing(),
		records.Datetime("day", day(1, 1, 1), day(9999, 12, 31), 24*time.Hour).WithMissing(),
		records.Datetime("milli", day(1, 1, 1), day(9999, 12, 31), time.Millisecond).WithMissing(),
		records.Datetime("micro", day(1600, 1, 1), day(2400, 1, 1), time.Microsecond).WithMissing(),
		records.Datetime("nano", day(1902, 1, 1), day(2038, 1, 1), time.Nanosecond).WithMissing(),
		records.Duration("stay", -30*24*time.Hour, 30*24*time.Hour, time.Millisecond).WithMissing(),
		records.Duration("tick", 0, time.Hour, time.Nanosecond),
		records.Ordinal("grade", "none", "NaN", "null", "0").WithMissing(),
		records.Categorical("name", "ä", "a\u0308", "日本", "𝄞", "\"", "'", "NULL").WithMissing(),
	)
}

func writeKinds(folder string) error {
	s, err := kindsSchema()
	if err != nil {
		return err
	}
	f, err := records.FromValues(s,
		[]any{int64(1<<53 + 1), math.MaxFloat64 / 2, "0001-01-01", "0001-01-01T00:00:00.001Z",
			"1600-01-01T00:00:00.000001Z", "1902-01-01T00:00:00.000000001Z", "-2592000", "0", "none", "ä"},
		[]any{int64(-1<<53 - 1), -math.MaxFloat64 / 2, "9999-12-31", "9999-12-30T23:59:59.999Z",
			"2399-12-31T23:59:59.999999Z", "2037-12-31T23:59:59.999999999Z", "2592000", "3600", "NaN",
			"a\u0308"},
		[]any{int64(-1 << 61), 5e-324, "1969-12-31", "1969-12-31T23:59:59.999Z",
			"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999999Z", "-0.001", "0.000000001",
			"null", "日本"},
		[]any{int64(1<<61 - 1), math.Nextafter(1, 2), "1970-01-01", "1970-01-01", "1970-01-01",
			"1970-01-01", "0.001", "3599.999999999", "0", "𝄞"},
		// hours that occur twice or not at all because of summer time, and leap days
		[]any{int64(0), 0.1, "2024-02-29", "2024-03-31T02:30:00+01:00", "2024-10-27T02:30:00+02:00",
			"2024-10-27T02:30:00+01:00", "86399.999", "1800", "0", "\""},
		[]any{int64(-1), -0.1, "1900-02-28", "2000-02-29T23:59:59.999Z", "2016-12-31T23:59:59.999999Z",
			"2016-12-31T23:59:59.999999999Z", "-86400.001", "0.5", "none", "'"},
		[]any{int64(1<<53 - 1), 1e22, "2100-03-01", "2100-03-01", "2100-03-01", "2000-03-01", "0", "1",
			"none", "NULL"},
		[]any{nil, nil, nil, nil, nil, nil, nil, "2", nil, nil})
	if err != nil {
		return err
	}
	if err := records.Check(f); err != nil {
		return err
	}
	return writeFiles(folder, "kinds", f)
}

// writeFiles writes a table as lines of JSON, Parquet, and Arrow in both layouts.
func writeFiles(folder, name string, f *records.Frame) error {
	create := func(extension string, write func(*os.File) error) error {
		file, err := os.Create(filepath.Join(folder, name+extension))
		if err != nil {
			return err
		}
		defer file.Close()
		return write(file)
	}
	if err := create(".jsonl", func(file *os.File) error {
		return (records.JSONLines{}).WriteFrame(file, f)
	}); err != nil {
		return err
	}
	if err := create(".parquet", func(file *os.File) error {
		return parquet.WriteFrame(file, f)
	}); err != nil {
		return err
	}
	for extension, layout := range map[string]arrow.Layout{".arrows": arrow.StreamLayout,
		".arrow": arrow.FileLayout} {
		if err := create(extension, func(file *os.File) error {
			return arrow.WriteFrames(file, layout, f.Schema(), halves(f))
		}); err != nil {
			return err
		}
	}
	return nil
}
