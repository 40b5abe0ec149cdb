package arrow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/records"
)

// TestEveryTypeInEveryKind reads the numbers of every type at the ends of its range into columns of
// every kind that takes them, alone and in a dictionary.
func TestEveryTypeInEveryKind(t *testing.T) {
	const most = 1 << 61
	lo, hi := time.Unix(-1<<33, 0).UTC(), time.Unix(1<<33, 0).UTC()
	integers := map[aw.DataType][]string{
		aw.PrimitiveTypes.Int8: {"-128", "127", "5"}, aw.PrimitiveTypes.Int16: {"-32768", "32767", "5"},
		aw.PrimitiveTypes.Int32: {"-2147483648", "2147483647", "5"},
		aw.PrimitiveTypes.Int64: {"-2305843009213693952", "2305843009213693952", "9007199254740993"},
		aw.PrimitiveTypes.Uint8: {"0", "255", "5"}, aw.PrimitiveTypes.Uint16: {"0", "65535", "5"},
		aw.PrimitiveTypes.Uint32: {"0", "4294967295", "5"},
		aw.PrimitiveTypes.Uint64: {"0", "2305843009213693952", "9007199254740993"},
	}
	kinds := map[string]func(levels []string) records.Column{
		"integer": func([]string) records.Column { return records.Integer("c", -most, most) },
		"number":  func([]string) records.Column { return records.Numeric("c", -most, most) },
		"level":   func(levels []string) records.Column { return records.Categorical("c", levels...) },
		"duration": func([]string) records.Column {
			return records.Duration("c", -1<<31*time.Second, 1<<31*time.Second, time.Second)
		},
		"datetime": func([]string) records.Column { return records.Datetime("c", lo, hi, time.Second) },
	}
	for of, values := range integers {
		for kind, make := range kinds {
			wide := len(values[1]) > 10
			if wide && kind == "datetime" || kind == "duration" && (wide ||
				of == aw.PrimitiveTypes.Uint32) {
				continue // beyond the bounds of the column
			}
			var want strings.Builder
			for _, v := range append(values[:3:3], "") {
				cell := v
				switch {
				case v == "":
					cell = "null"
				case kind == "level":
					cell = fmt.Sprintf("%q", v)
				case kind == "datetime":
					var seconds int64
					_, _ = fmt.Sscan(v, &seconds)
					cell = fmt.Sprintf("%q", time.Unix(seconds, 0).UTC().Format(time.RFC3339))
				case kind == "number" && wide:
					cell = map[string]string{"-2305843009213693952": "-2305843009213693952",
						"2305843009213693952": "2305843009213693952", "0": "0",
						"9007199254740993": "9007199254740992"}[v] // the nearest float64
				}
				fmt.Fprintf(&want, "{\"c\":%s}\n", cell)
			}
			s := must(records.NewSchema(make(values).WithMissing()))(t)
			text := "[" + strings.Join(values, ",") + ",null]"
			for how, a := range map[string]aw.Array{"alone": column(t, of, text),
				"in a dictionary": column(t, &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Int16,
					ValueType: of}, text)} {
				got := cellsOf(must(arrow.FromRecord(batchOf(a), s))(t))
				if kind == "number" {
					got = plain(t, got)
				}
				if got != want.String() {
					t.Errorf("%v %s as %s:\n%swant\n%s", of, how, kind, got, want.String())
				}
			}
		}
	}
}

// plain writes numbers without exponents.
func plain(t *testing.T, cells string) string {
	var out strings.Builder
	for line := range strings.Lines(cells) {
		var x float64
		if _, err := fmt.Sscanf(line, `{"c":%g}`, &x); err != nil {
			out.WriteString(line)
			continue
		}
		fmt.Fprintf(&out, "{\"c\":%.0f}\n", x)
	}
	return out.String()
}

// TestTimesOfEveryType reads dates and times of day of every type and unit, as times, durations,
// numbers and levels.
func TestTimesOfEveryType(t *testing.T) {
	day := must(records.NewSchema(records.Datetime("c", time.Unix(0, 0).UTC(),
		time.Unix(1<<32, 0).UTC(), time.Second).WithMissing()))(t)
	number := must(records.NewSchema(records.Numeric("c", -1e18, 1e18).WithMissing()))(t)
	seconds := must(records.NewSchema(records.Duration("c", -time.Hour, time.Hour,
		time.Nanosecond).WithMissing()))(t)
	level := func(names ...string) records.Schema {
		return must(records.NewSchema(records.Categorical("c", names...).WithMissing()))(t)
	}
	for _, c := range []struct {
		of     aw.DataType
		json   string
		schema records.Schema
		want   string
	}{
		{aw.FixedWidthTypes.Date32, `["1970-01-03",null]`, day, `"1970-01-03T00:00:00Z" null`},
		{aw.FixedWidthTypes.Date64, `["1970-01-03",null]`, day, `"1970-01-03T00:00:00Z" null`},
		{aw.FixedWidthTypes.Date64, `["1970-01-03",null]`, number, `172800000 null`},
		{aw.FixedWidthTypes.Date64, `["1970-01-03"]`, level("172800000", "2"), `"172800000"`},
		{aw.FixedWidthTypes.Time32s, `["00:01:30",null]`, number, `90 null`},
		{aw.FixedWidthTypes.Time32ms, `["00:01:30",null]`, number, `90000 null`},
		{aw.FixedWidthTypes.Time64us, `["00:01:30",null]`, number, `90000000 null`},
		{aw.FixedWidthTypes.Time64ns, `["00:01:30"]`, level("90000000000", "2"), `"90000000000"`},
		{aw.FixedWidthTypes.Duration_s, `[-90,7,null]`, seconds, `-90 7 null`},
		{aw.FixedWidthTypes.Duration_ms, `[-90500,1]`, seconds, `-90.5 0.001`},
		{aw.FixedWidthTypes.Duration_us, `[-90500000,1]`, seconds, `-90.5 0.000001`},
		{aw.FixedWidthTypes.Duration_ns, `[-90500000000,1]`, seconds, `-90.5 0.000000001`},
		{aw.FixedWidthTypes.Time32s, `["00:01:30",null]`, seconds, `90 null`},
		{aw.FixedWidthTypes.Time32ms, `["00:01:30"]`, seconds, `90`},
		{aw.FixedWidthTypes.Time64us, `["00:01:30.000001"]`, seconds, `90.000001`},
		{aw.FixedWidthTypes.Time64ns, `["00:01:30.000000001"]`, seconds, `90.000000001`},
		{aw.PrimitiveTypes.Float64, `[-90.5,0.000000001,null]`, seconds, `-90.5 0.000000001 null`},
		{&aw.TimestampType{Unit: aw.Second}, `["1970-01-03 00:00:01"]`, day, `"1970-01-03T00:00:01Z"`},
		{&aw.TimestampType{Unit: aw.Microsecond}, `["1970-01-03 00:00:01"]`, day,
			`"1970-01-03T00:00:01Z"`},
		{&aw.TimestampType{Unit: aw.Nanosecond}, `["1970-01-03 00:00:01"]`, day,
			`"1970-01-03T00:00:01Z"`},
	} {
		got := cellsOf(must(arrow.FromRecord(batchOf(column(t, c.of, c.json)), c.schema))(t))
		got = strings.NewReplacer("{\"c\":", "", "}\n", " ", "000000000,", ",").Replace(got)
		for _, cell := range strings.Fields(c.want) {
			if c.schema.Columns()[0].Kind() != records.DurationColumn {
				break
			}
			if whole, fraction, _ := strings.Cut(cell, "."); cell != "null" { // nine digits
				c.want = strings.Replace(" "+c.want+" ", " "+cell+" ", " "+whole+"."+
					(fraction + "000000000")[:9]+" ", 1)
				c.want = strings.TrimSpace(c.want)
			}
		}
		if got != c.want+" " {
			t.Errorf("%v %s: got %s want %s", c.of, c.json, got, c.want)
		}
	}
}

// TestExactLimits reads a stream of several batches within limits that it just meets, and refuses
// it with smaller ones: limits count all batches together.
func TestExactLimits(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 1), records.Integer("b", 0, 9)))(t)
	const rows, batches = 100, 3
	f := must(records.FromColumns(s, records.Values{Numbers: make([]float64, rows)},
		records.Values{Whole: make([]int64, rows)}))(t)
	batch := must(arrow.ToRecord(f))(t)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(batch.Schema()), ipc.WithZstd())
	for range batches {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fits := func(l records.Limits) bool {
		got, err := read(b.Bytes(), s, l)
		if err == nil && got.Len() != rows*batches {
			t.Errorf("%+v: %d rows are read", l, got.Len())
		}
		if over := new(records.LimitError); err != nil && !errors.As(err, &over) {
			t.Errorf("%+v: %v, want a LimitError", l, err)
		}
		return err == nil
	}
	const values, unpacked = 2 * rows * batches, 2 * 8 * rows * batches
	if !fits(records.Limits{Values: values, UnpackedBytes: 1 << 20}) ||
		fits(records.Limits{Values: values - 1, UnpackedBytes: 1 << 20}) {
		t.Errorf("a stream of %d values", values)
	}
	if !fits(records.Limits{Values: values, UnpackedBytes: 2 * unpacked}) || // with padding
		fits(records.Limits{Values: values, UnpackedBytes: unpacked - 1}) {
		t.Errorf("a stream that unpacks to %d bytes", unpacked)
	}
}

// TestStatedLengths: a message that states a length beyond its bytes, or one that no message has,
// and a column that occurs twice.
func TestStatedLengths(t *testing.T) {
	s := people(t)
	whole := written(t, arrow.StreamLayout, s, drawn(t, s, 3))
	for _, length := range []uint32{1 << 31, 1<<31 - 1, 1 << 30, 1 << 16} {
		data := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(data[4:], length)
		if _, err := read(data, s); !errors.Is(err, records.ErrFormat) {
			t.Errorf("a description of %d bytes: %v", length, err)
		}
	}
	old := append(bytes.Clone(whole[4:8]), whole[8:]...) // without the first marker, as before 0.15
	if f, err := read(old, s); err != nil || f.Len() != 3 {
		t.Errorf("a message without a marker: %v", err)
	}
	if _, err := read(whole[:len(whole)-8], s); err != nil {
		t.Errorf("a stream without an end marker: %v", err)
	}
	a := column(t, aw.PrimitiveTypes.Int8, "[1]")
	twice := aw.NewSchema([]aw.Field{{Name: "c", Type: a.DataType()},
		{Name: "c", Type: a.DataType()}}, nil)
	_, err := arrow.FromRecord(array.NewRecordBatch(twice, []aw.Array{a, a}, 1),
		must(records.NewSchema(records.Numeric("c", 0, 9)))(t))
	if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), "2 columns") {
		t.Errorf("two columns of one name: %v", err)
	}
	path := filepath.Join(t.TempDir(), "people.arrow")
	if _, err := arrow.OpenFrame(path, s); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := arrow.OpenFrame(path, s); err != nil || f.Len() != 3 {
		t.Errorf("a file: %v", err)
	}
}

// TestNaNIsNoLevel: NaN in a column of levels is a missing value, as in a row of Go values.
func TestNaNIsNoLevel(t *testing.T) {
	s := must(records.NewSchema(
		records.Categorical("c", "1", "x").WithOther("x").WithMissing()))(t)
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]float32{1, float32(math.NaN()), 3}, nil)
	f := must(arrow.FromRecord(batchOf(b.NewArray()), s))(t)
	if got := cellsOf(f); got != "{\"c\":\"1\"}\n{\"c\":null}\n{\"c\":\"x\"}\n" {
		t.Errorf("got %s", got)
	}
}
