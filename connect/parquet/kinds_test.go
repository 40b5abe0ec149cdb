package parquet_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// visits has a column of every kind of time, and what else people lacks.
func visits(t testing.TB) records.Schema {
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
		records.Integer("wide", -1<<60, 1<<61).WithMissing(),
		records.Hashed("drug", 60_000, "aspirin"),
	))(t)
}

// TestTimesComeBack value by value, as numbers that float64 does not hold do.
func TestTimesComeBack(t *testing.T) {
	s := visits(t)
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
	back := must(read(written(t, f), s))(t)
	if cellsOf(back) != cellsOf(f) || records.Check(back) != nil {
		t.Errorf("the records come back otherwise: %v", records.Check(back))
	}
	named, _ := records.AsFrame(must(records.WithIdentifiers(f, 0, 1))(t))
	data := written(t, named)
	if !bytes.Contains(data, []byte(named.Value(0, 0))) && len(data) == len(written(t, f)) {
		t.Error("identifiers are not written")
	}
	if again := must(read(data, s))(t); again.Value(0, 0) != "" {
		t.Error("an identifier is read")
	}
}

// TestTimesOfOthersAreRead: moments of every unit, and whole numbers of 64 bits without a sign.
func TestTimesOfOthersAreRead(t *testing.T) {
	type row struct {
		Milli  time.Time `parquet:"milli,timestamp(millisecond)"`
		Day    int32     `parquet:"day,date"`
		Text   string    `parquet:"text"`
		Unix   int64     `parquet:"unix"`
		Float  float64   `parquet:"float"`
		Price  int64     `parquet:"price,decimal(3:18)"`
		Whole  int32     `parquet:"whole"`
		Number uint64    `parquet:"number"`
	}
	at := time.Date(2024, 2, 29, 12, 30, 1, 250_000_000, time.UTC)
	rows := []row{{at, int32(at.Unix() / 86400), "2024-02-29 12:30:01.25", at.Unix(), 1709209801.25,
		-1250, 90, 1<<64 - 1}}
	var file bytes.Buffer
	if err := pq.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	lo, hi := at.AddDate(-1, 0, 0), at.AddDate(1, 0, 0)
	var columns []records.Column
	for _, name := range []string{"milli", "day", "text", "unix", "float"} {
		columns = append(columns, records.Datetime(name, lo.Truncate(time.Hour), hi, time.Millisecond))
	}
	columns = append(columns, records.Duration("price", -time.Hour, time.Hour, time.Millisecond),
		records.Duration("whole", 0, time.Hour, time.Second), records.Integer("number", 0, 1<<61))
	f := must(read(file.Bytes(), must(records.NewSchema(columns...))(t)))(t)
	const want = `{"milli":"2024-02-29T12:30:01.250Z","day":"2024-02-29T00:00:00.000Z",` +
		`"text":"2024-02-29T12:30:01.250Z","unix":"2024-02-29T12:30:01.000Z",` +
		`"float":"2024-02-29T12:30:01.250Z","price":-1.250,"whole":90,"number":2305843009213693952}`
	if got := string(f.AppendJSON(nil, 0)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestMomentsThatNoUnitHoldsAreRefused before anything is written.
func TestMomentsThatNoUnitHoldsAreRefused(t *testing.T) {
	s := must(records.NewSchema(records.Datetime("d", time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), time.Nanosecond)))(t)
	var file bytes.Buffer
	err := parquet.WriteFrame(&file, must(records.FromValues(s, []any{"1650-01-01"}))(t))
	if err == nil || file.Len() > 0 {
		t.Errorf("%v, %d bytes", err, file.Len())
	}
}
