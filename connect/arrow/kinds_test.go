package arrow_test

import (
	"testing"
	"time"

	aw "github.com/apache/arrow-go/v18/arrow"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/records"
)

// TestTimesComeBack: times, and numbers that float64 cannot represent, are read as they were
// written.
func TestTimesComeBack(t *testing.T) {
	s, f := visits(t)
	named, _ := records.AsFrame(must(records.WithIdentifiers(f, 0, 1))(t))
	for _, l := range layouts {
		back := must(read(written(t, l, s, f), s))(t)
		if cellsOf(back) != cellsOf(f) || records.Check(back) != nil {
			t.Errorf("layout %d: the records differ after reading: %v", l, records.Check(back))
		}
		data := written(t, l, s, named)
		if len(data) == len(written(t, l, s, f)) {
			t.Error("identifiers are not written")
		}
		if again := must(read(data, s))(t); again.Value(0, 0) != "" {
			t.Error("an identifier is read")
		}
	}
}

// TestTimesOfOthersAreRead reads timestamps and durations in every unit, and unsigned numbers of 64
// bits, as other programs write them.
func TestTimesOfOthersAreRead(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 30, 1, 250_000_000, time.UTC)
	moment := records.Datetime("c", at.AddDate(-1, 0, 0).Truncate(time.Hour), at.AddDate(1, 0, 0),
		time.Millisecond).WithMissing()
	span := records.Duration("c", -time.Hour, time.Hour, time.Millisecond).WithMissing()
	for _, c := range []struct {
		of     aw.DataType
		json   string
		column records.Column
		want   string
	}{
		{aw.FixedWidthTypes.Timestamp_ns, `["2024-02-29 12:30:01.25Z",null]`, moment,
			`"2024-02-29T12:30:01.250Z"`},
		{aw.FixedWidthTypes.Timestamp_s, `["2024-02-29 12:30:01Z",null]`, moment,
			`"2024-02-29T12:30:01.000Z"`},
		{aw.FixedWidthTypes.Date32, `["2024-02-29",null]`, moment, `"2024-02-29T00:00:00.000Z"`},
		{aw.PrimitiveTypes.Int64, `[1709209801,null]`, moment, `"2024-02-29T12:30:01.000Z"`},
		{aw.BinaryTypes.String, `["2024-02-29 12:30:01.25Z",null]`, moment,
			`"2024-02-29T12:30:01.250Z"`},
		{aw.FixedWidthTypes.Duration_ms, `[-1250,null]`, span, "-1.250"},
		{aw.FixedWidthTypes.Duration_ns, `[5000000,null]`, span, "0.005"},
		{aw.FixedWidthTypes.Duration_s, `[90,null]`, span, "90.000"},
		{aw.PrimitiveTypes.Int16, `[90,null]`, span, "90.000"},
		{aw.PrimitiveTypes.Float64, `[0.125,null]`, span, "0.125"},
		{aw.PrimitiveTypes.Uint64, `[18446744073709551615,null]`,
			records.Integer("c", 0, 1<<61).WithMissing(), "2305843009213693952"},
	} {
		s := must(records.NewSchema(c.column))(t)
		got := cellsOf(must(arrow.FromRecord(batchOf(column(t, c.of, c.json)), s))(t))
		if want := "{\"c\":" + c.want + "}\n{\"c\":null}\n"; got != want {
			t.Errorf("%v: got %s\nwant %s", c.of, got, want)
		}
	}
}

// TestMomentsThatNoUnitHoldsAreRefused: datetimes that no Arrow unit can represent are an error
// before anything is written.
func TestMomentsThatNoUnitHoldsAreRefused(t *testing.T) {
	s := must(records.NewSchema(records.Datetime("d", time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), time.Nanosecond)))(t)
	if _, err := arrow.SchemaOf(s); err == nil {
		t.Error("SchemaOf accepts datetimes that 64 bits cannot represent")
	}
}
