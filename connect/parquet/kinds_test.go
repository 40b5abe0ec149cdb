package parquet_test

import (
	"bytes"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// TestTimesComeBack: times, and numbers that float64 cannot represent, are read as they were
// written.
func TestTimesComeBack(t *testing.T) {
	s, f := visits(t)
	back := must(read(written(t, f), s))(t)
	if cellsOf(back) != cellsOf(f) || records.Check(back) != nil {
		t.Errorf("the records differ after reading: %v", records.Check(back))
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

// TestTimesOfOthersAreRead reads timestamps in every unit and unsigned numbers of 64 bits, as other
// programs write them.
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
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMomentsThatNoUnitHoldsAreRefused: datetimes that no unit of the format can represent are an
// error before anything is written.
func TestMomentsThatNoUnitHoldsAreRefused(t *testing.T) {
	s := must(records.NewSchema(records.Datetime("d", time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), time.Nanosecond)))(t)
	var file bytes.Buffer
	err := parquet.WriteFrame(&file, must(records.FromValues(s, []any{"1650-01-01"}))(t))
	if err == nil || file.Len() > 0 {
		t.Errorf("got error %v and %d bytes, want an error and no bytes", err, file.Len())
	}
}
