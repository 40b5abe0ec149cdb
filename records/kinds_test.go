package records_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

func at(text string) time.Time {
	m, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return m
}

// wide is records.Integer for bounds that an int of 32 bits cannot hold. There it reads the column
// from a schema.
func wide(name string, lo, hi int64) records.Column {
	if int64(int(lo)) == lo && int64(int(hi)) == hi {
		return records.Integer(name, int(lo), int(hi))
	}
	var s records.Schema
	text := fmt.Sprintf(`{"kind":"table","columns":[{"name":%q,"type":"integer","lo":%d,"hi":%d}]}`,
		name, lo, hi)
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s.Columns()[0]
}

// visits returns the schema of a table with a column of every kind that the schema of people lacks.
func visits(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Identifier("id", records.UUID()),
		records.Datetime("seen", at("2020-01-01T00:00:00Z"), at("2025-12-31T23:59:59Z"),
			time.Second).WithParts(records.MonthPart|records.WeekdayPart|records.HourPart),
		records.Datetime("born", at("1900-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"),
			24*time.Hour).WithMissing().WithParts(records.WeekdayPart),
		records.Datetime("tick", at("2026-01-01T00:00:00.5Z"), at("2026-01-01T00:00:02Z"),
			time.Nanosecond),
		records.Duration("stay", -time.Hour, 30*24*time.Hour, 100*time.Millisecond).WithMissing(),
		records.Duration("wait", 0, 5*time.Hour, time.Second).Logarithmic(),
		wide("account", 1<<53, 1<<62),
		wide("debt", -1<<61, 1<<61).WithMissing().Logarithmic(),
		records.Hashed("drug", 40, "aspirin", "ibuprofen"),
		records.Hashed("street", 300).WithMissing(),
		records.Ordinal("pain", "none", "some", "bad"),
		records.Identifier("number", records.Sequence(1000)),
		records.Label("outcome", "well", "ill"),
	))(t)
}

// TestTimesAreReadAndWrittenExactly checks how values are written, and that the text of every value
// is read as the same value.
func TestTimesAreReadAndWrittenExactly(t *testing.T) {
	s := must(records.NewSchema(
		records.Datetime("day", at("0001-01-01T00:00:00Z"), at("9999-12-31T00:00:00Z"), 24*time.Hour),
		records.Datetime("second", at("1992-01-01T00:00:00Z"), at("1998-12-31T00:00:00Z"),
			time.Second).WithMissing(),
		records.Datetime("nano", at("1992-01-01T00:00:00.000000001Z"), at("1998-12-31T00:00:00Z"),
			time.Nanosecond),
		records.Duration("span", -time.Minute, time.Hour, time.Millisecond),
		wide("wide", math.MinInt64/4, math.MaxInt64/4)))(t)
	for _, c := range []struct {
		row  []any
		want []string
	}{
		{[]any{"1995-06-17", "1995-06-17T10:11:12Z", "1995-06-17T10:11:12.123456789Z", "1.5",
			"1234567890123456789"},
			[]string{"1995-06-17", "1995-06-17T10:11:12Z", "1995-06-17T10:11:12.123456789Z", "1.500",
				"1234567890123456789"}},
		{[]any{at("2024-02-29T23:00:00Z"), "1995-06-17 10:11:12.9", "1995-06-17T12:11:12+02:00",
			90 * time.Second, int64(-1<<60 - 1)},
			[]string{"2024-02-29", "1995-06-17T10:11:12Z", "1995-06-17T10:11:12.000000000Z", "90.000",
				"-1152921504606846977"}},
		{[]any{at("2024-02-29T23:00:00-05:00"), 800_000_000, 800_000_000.25, -0.0005, uint64(1 << 60)},
			[]string{"2024-03-01", "1995-05-09T06:13:20Z", "1995-05-09T06:13:20.250000000Z", "-0.001",
				"1152921504606846976"}},
		{[]any{"soon", nil, "no", "-1m0.001s", 1e300}, // the first and the third are not times
			[]string{"0001-01-01", "", "1992-01-01T00:00:00.000000001Z", "-60.000",
				fmt.Sprint(int64(math.MaxInt64 / 4))}},
		{[]any{at("9999-12-31T23:00:00Z"), "2040-01-01", "1900-01-01", "1h30m", "-99999999999999999999"},
			[]string{"9999-12-31", "1998-12-31T00:00:00Z", "1992-01-01T00:00:00.000000001Z", "3600.000",
				fmt.Sprint(int64(math.MinInt64 / 4))}},
	} {
		f := must(records.FromValues(s, c.row))(t)
		var got []string
		for j := range c.row {
			got = append(got, f.Value(0, j))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v\nis %q\nwant %q", c.row, got, c.want)
		}
		back := throughCSV(t, records.CSV{}, f)
		for j := range c.row {
			if back.Value(0, j) != c.want[j] {
				t.Errorf("%q is read back as %q", c.want[j], back.Value(0, j))
			}
		}
		if records.Check(back) != nil {
			t.Errorf("%q: Check returns %v", c.want, records.Check(back))
		}
	}
}

func TestExactAccessors(t *testing.T) {
	s := visits(t)
	row := make([]any, len(s.Columns()))
	row[s.ColumnIndex("account")] = int64(1<<61 + 1)
	row[s.ColumnIndex("seen")] = at("2024-02-29T01:02:03.9Z")
	row[s.ColumnIndex("stay")] = 90*time.Minute + 155*time.Millisecond
	f := must(records.FromValues(s, row))(t)
	if v, ok := f.Whole(0, s.ColumnIndex("account")); v != 1<<61+1 || !ok {
		t.Errorf("got account %d, %v", v, ok)
	}
	if v, ok := f.Time(0, s.ColumnIndex("seen")); !v.Equal(at("2024-02-29T01:02:03Z")) || !ok {
		t.Errorf("got seen %v, %v", v, ok)
	}
	if v, ok := f.Duration(0, s.ColumnIndex("stay")); v != 90*time.Minute+100*time.Millisecond || !ok {
		t.Errorf("got stay %v, %v", v, ok)
	}
	if v := f.Number(0, s.ColumnIndex("stay")); v != 5400.1 {
		t.Errorf("stay is %v seconds", v)
	}
	if _, ok := f.Whole(0, s.ColumnIndex("debt")); ok {
		t.Error("Whole returns a number for a missing debt")
	}
	born := s.ColumnIndex("born")
	if _, ok := f.Time(0, born); ok || !math.IsNaN(f.Number(0, born)) {
		t.Error("Time or Number returns a value for a missing birth")
	}
	if f.Value(0, 0) != "" || f.Value(0, s.ColumnIndex("number")) != "" {
		t.Error("a record that was read has an identifier")
	}
	small := must(records.NewSchema(records.Integer("n", 0, 9)))(t)
	if v, ok := must(records.FromValues(small, []any{3.4}))(t).Whole(0, 0); v != 3 || !ok {
		t.Errorf("n is %d, %v", v, ok)
	}
}

// TestDecodedKindsAreValid decodes rows from arbitrary coordinates. It checks that the rows pass
// [records.Check] and are encoded within the schema. They must be unchanged after they are written
// and read as CSV and as JSON lines.
func TestDecodedKindsAreValid(t *testing.T) {
	s := visits(t)
	const n = 4000
	r := rand.New(rand.NewPCG(3, 4))
	flat, labels := make([]float32, n*s.Dim()), make([]int32, n)
	for i := range flat {
		flat[i] = hostile(r)
	}
	f := must(records.DecodeFlat(s, flat, labels...))(t)
	if err := records.Check(f); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := (records.JSONLines{}).WriteFrame(&text, f); err != nil {
		t.Fatal(err)
	}
	lines := must(records.JSONLines{}.ReadFrame(&text, s))(t)
	var b device.Batch
	for _, back := range []*records.Frame{throughCSV(t, records.CSV{Header: true}, f), lines} {
		if err := records.Check(back); err != nil || !sameFrame(f, back) {
			t.Fatalf("the rows that are read differ from those written: %v", err)
		}
		back.Range(0, n, &b)
		for i := range n {
			if row := b.Dense.Row(i); norm(row) > s.MaxNorm() {
				t.Fatalf("got norm %v, want at most MaxNorm", norm(row))
			} else {
				validRow(t, s, row)
			}
		}
	}
	clamped := slices.Clone(flat)
	s.Clamp(clamped)
	for i := range n {
		validRow(t, s, clamped[i*s.Dim():(i+1)*s.Dim()])
	}
}

// TestPartsAgreeWithTheTime checks that the encoded parts of a record are the parts of its time.
// The time of a generated record must agree with its parts as far as the bounds allow.
func TestPartsAgreeWithTheTime(t *testing.T) {
	from, to := at("2024-01-10T00:00:00Z"), at("2026-06-30T23:59:59Z")
	s := must(records.NewSchema(records.Datetime("when", from, to,
		time.Second).WithParts(records.MonthPart | records.WeekdayPart | records.HourPart)))(t)
	if s.Dim() != 1+12+7+24 || len(s.Blocks()) != 4 || s.Blocks()[2].Part != records.WeekdayPart {
		t.Fatalf("got %d coordinates in the blocks %+v, want 44 in 4", s.Dim(), s.Blocks())
	}
	f := must(records.FromValues(s, []any{"2025-03-02T21:00:00Z"}))(t)
	row := f.Row(nil, 0)
	for _, place := range []int{1 + 2, 1 + 12 + 0, 1 + 12 + 7 + 21} { // March, Sunday
		if row[place] != 1 {
			t.Errorf("coordinate %d is %v in %v", place, row[place], row)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	agree := [3]int{}
	const n = 3000
	for range n {
		row := make([]float32, s.Dim())
		row[0] = r.Float32()
		month, weekday, hour := r.IntN(12), r.IntN(7), r.IntN(24)
		row[1+month], row[13+weekday], row[20+hour] = 1, 1, 1
		m, _ := must(records.DecodeFlat(s, row))(t).Time(0, 0)
		if m.Before(from) || m.After(to) {
			t.Fatalf("%v outside the bounds", m)
		}
		for i, same := range []bool{int(m.Month())-1 == month, int(m.Weekday()) == weekday,
			m.Hour() == hour} {
			if same {
				agree[i]++
			}
		}
		stated := from.Add(time.Duration(float64(row[0]) * float64(to.Sub(from))))
		if m.Sub(stated).Abs() > 340*24*time.Hour {
			t.Fatalf("%v moved to %v", stated, m)
		}
	}
	for i, k := range agree {
		if k < n*99/100 {
			t.Errorf("part %d agrees with its coordinates in %d of %d rows only", i, k, n)
		}
	}
}

// TestBucketsNeverChange checks that texts keep their buckets, because saved files depend on them.
func TestBucketsNeverChange(t *testing.T) {
	s := must(records.NewSchema(records.Hashed("h", 1000, "aspirin", "ibuprofen"),
		records.Hashed("most", 65_534).WithMissing()))(t)
	f := must(records.FromValues(s, []any{"aspirin", "a"}, []any{"", "bucket-17"},
		[]any{"Köln", nil}))(t)
	var got []int
	for i := range 3 {
		got = append(got, f.Level(i, 0), f.Level(i, 1))
	}
	if want := []int{436, 704, 957, 17, 381, -1}; !slices.Equal(got, want) {
		t.Errorf("got buckets %v, want %v", got, want)
	}
	if f.Value(0, 0) != "aspirin" || f.Value(1, 1) != "bucket-17" || f.Value(2, 1) != "" {
		t.Errorf("got %q, %q, %q, want aspirin, bucket-17 and a missing value",
			f.Value(0, 0), f.Value(1, 1), f.Value(2, 1))
	}
	if err := records.Check(f); err != nil {
		t.Error(err)
	}
	var many []records.Column
	for i := range 5 {
		many = append(many, records.Hashed(fmt.Sprint(i), 60_000))
	}
	if _, err := records.NewSchema(many...); err == nil {
		t.Error("a schema of 300,000 buckets is accepted")
	}
	text := strings.Repeat(`{"name":"a","type":"hashed","buckets":65534},`, 1000)
	var back records.Schema
	before := testing.AllocsPerRun(1, func() {
		if json.Unmarshal([]byte(`{"kind":"table","columns":[`+text[:len(text)-1]+`]}`), &back) == nil {
			t.Error("a schema of 65 million buckets is accepted")
		}
	})
	if before > 100_000 {
		t.Errorf("the error for 65 million buckets takes %v allocations", before)
	}
}

// TestBucketsAreEven distributes 200,000 texts over 100 buckets and checks that each bucket gets
// from 1,800 to 2,200 of them. The standard deviation is 45, so a fair hash fails with probability
// below 1e-3. The hash is fixed, so the result is always the same.
func TestBucketsAreEven(t *testing.T) {
	s := must(records.NewSchema(records.Hashed("h", 100)))(t)
	b := must(records.NewFrameBuilder(s))(t)
	for i := range 200_000 {
		if err := b.Append(fmt.Sprintf("customer-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	count := make([]int, 100)
	for _, l := range b.Frame().Levels(0) {
		count[l]++
	}
	if slices.Min(count) < 1800 || slices.Max(count) > 2200 {
		t.Errorf("got %v texts in the buckets, want about 2000 in each", count)
	}
}

func TestIdentifiersAreFreshAndNeverRead(t *testing.T) {
	s := must(records.NewSchema(records.Identifier("u", records.UUID()), records.Numeric("x", 0, 1),
		records.Identifier("n", records.Sequence(-5)),
		records.Identifier("p", records.Pattern(`\#?*-###/Ö`))))(t)
	read := must(records.CSV{Header: true}.ReadFrame(strings.NewReader("u,x\nsecret,0.5\n"), s))(t)
	if text := string(read.AppendJSON(nil, 0)); text != `{"u":null,"x":0.5,"n":null,"p":null}` {
		t.Errorf("identifiers are not dropped: read as %s", text)
	}
	const object = `{"u":3,"x":0.5,"n":4,"p":"5"}`
	nine := records.Values{Numbers: []float64{9}}
	for _, f := range []*records.Frame{must(records.FromValues(s, []any{1, 0.5, 7.0, uint8(3)}))(t),
		must(records.JSONLines{}.ReadFrame(strings.NewReader(object), s))(t),
		must(records.FromColumns(s, nine, nine, nine, nine))(t)} {
		for _, j := range []int{0, 2, 3} {
			if f.Value(0, j) != "" {
				t.Errorf("identifier %d is read as %q", j, f.Value(0, j))
			}
		}
	}
	const n = 30_000
	flat := make([]float32, n)
	seen := [3]map[string]bool{{}, {}, {}}
	for part := range 2 {
		f := must(records.DecodeFlat(s, flat[:n/2]))(t)
		d := must(records.WithIdentifiers(f, part*n/2, 7))(t)
		g, _ := records.AsFrame(d)
		for i := range n / 2 {
			for k, j := range []int{0, 2, 3} {
				seen[k][g.Value(i, j)] = true
			}
		}
		if part == 0 && (g.Value(0, 2) != "-5" || len(g.Value(0, 0)) != 36 || g.Value(0, 0)[14] != '4' ||
			!strings.ContainsRune("89ab", rune(g.Value(0, 0)[19])) || g.Value(0, 3)[0] != '#') {
			t.Errorf("got wrong identifiers %q, %q, %q", g.Value(0, 0), g.Value(0, 2), g.Value(0, 3))
		}
		if g.Slice(3, 4).Value(0, 0) != g.Value(3, 0) || g.Take([]int32{9}).Value(0, 3) != g.Value(9, 3) {
			t.Error("a slice or a copy of rows has other identifiers")
		}
	}
	for k := range seen {
		if len(seen[k]) != n {
			t.Errorf("got %d different identifiers of %d, want all different", len(seen[k]), n)
		}
	}
	few := must(records.NewSchema(records.Numeric("x", 0, 1),
		records.Identifier("p", records.Pattern("#"))))(t)
	f := must(records.DecodeFlat(few, make([]float32, 11)))(t)
	if _, err := records.WithIdentifiers(f, 0, 1); err == nil {
		t.Error("eleven records get identifiers of one digit")
	}
	all := map[string]bool{}
	g := must(records.WithIdentifiers(f.Slice(0, 10), 0, 1))(t).(*records.Frame)
	for i := range 10 {
		all[g.Value(i, 1)] = true
	}
	if len(all) != 10 {
		t.Errorf("ten digits give %d identifiers", len(all))
	}
}

// TestOldSchemaFilesAreRead checks that schema files without the newer kinds of column are still
// read, and that their columns are written as before.
func TestOldSchemaFilesAreRead(t *testing.T) {
	const old = `{"kind":"table","columns":[{"name":"h","type":"numeric","lo":50,"hi":2.5e2},
		{"name":"n","type":"integer","lo":-3,"hi":20.0,"missing":true},
		{"name":"s","type":"ordinal","levels":["a","b"]},{"name":"y","type":"target","lo":0,"hi":1}]}`
	var s records.Schema
	if err := json.Unmarshal([]byte(old), &s); err != nil {
		t.Fatal(err)
	}
	want := must(records.NewSchema(records.Numeric("h", 50, 250),
		records.Integer("n", -3, 20).WithMissing(), records.Ordinal("s", "a", "b"),
		records.Target("y", 0, 1)))(t)
	if !s.Equal(want) {
		t.Errorf("%v, want %v", s.Columns(), want.Columns())
	}
	const new = `{"kind":"table","columns":[{"name":"h","type":"numeric","lo":50,"hi":250}]}`
	text := must(json.Marshal(must(records.NewSchema(records.Numeric("h", 50, 250)))(t)))(t)
	if string(text) != new {
		t.Errorf("wrongly written as %s", text)
	}
}

func TestNewKindsReadBackFromJSON(t *testing.T) {
	s := visits(t)
	var back records.Schema
	if err := json.Unmarshal(must(json.Marshal(s))(t), &back); err != nil || !back.Equal(s) {
		t.Fatalf("error %v, got\n%v\nwant\n%v", err, back.Columns(), s.Columns())
	}
	for _, column := range []string{
		`{"name":"a","type":"datetime","lo":"2020-01-01","hi":"2021-01-01"}`,
		`{"name":"a","type":"datetime","lo":2020,"hi":2021,"precision":"1s"}`,
		`{"name":"a","type":"datetime","lo":"2020-01-01","hi":"2021-01-01","precision":"1s","parts":["day"]}`,
		`{"name":"a","type":"datetime","lo":"2020-01-01","hi":"2021-01-01","precision":"10000h"}`,
		`{"name":"a","type":"datetime","lo":"2020-01-01","hi":"2021-01-01","precision":"-1s"}`,
		`{"name":"a","type":"datetime","lo":"0001-01-01","hi":"9999-01-01","precision":"1ns"}`,
		`{"name":"a","type":"duration","lo":"0s","hi":"1m"}`,
		`{"name":"a","type":"numeric","lo":0,"hi":1,"precision":"1s"}`,
		`{"name":"a","type":"hashed","buckets":1}`, `{"name":"a","type":"hashed","buckets":1000000000}`,
		`{"name":"a","type":"hashed"}`, `{"name":"a","type":"hashed","buckets":9,"levels":["bucket-4"]}`,
		`{"name":"a","type":"identifier"}`, `{"name":"a","type":"identifier","rule":"pattern:x"}`,
		`{"name":"a","type":"identifier","rule":"sequence:x"}`,
		`{"name":"a","type":"integer","lo":0.5,"hi":9007199254740993}`,
		`{"name":"a","type":"numeric","lo":"0","hi":1}`,
	} {
		text := `{"kind":"table","columns":[{"name":"x","type":"numeric","lo":0,"hi":1},` + column + `]}`
		if err := json.Unmarshal([]byte(text), &back); err == nil {
			t.Errorf("%s is read as %v", column, back.Columns())
		}
	}
}

// TestCheckReportsInvalidTimes checks that Check reports times outside the schema and nothing else.
func TestCheckReportsInvalidTimes(t *testing.T) {
	s := must(records.NewSchema(records.Datetime("d", at("2020-01-01T00:00:00Z"),
		at("2021-01-01T00:00:00Z"), 24*time.Hour), wide("n", 0, 1<<60),
		records.Duration("l", 0, time.Hour, time.Second)))(t)
	fine := must(records.FromValues(s, []any{"2020-05-05", 3, "5"}))(t)
	if err := records.Check(fine); err != nil {
		t.Error(err)
	}
	odd := must(records.FromValues(s, []any{"2019-12-31", "x", "1h1s"}, []any{nil, -1, nil},
		[]any{"2021-01-02", uint64(math.MaxUint64), -time.Second}))(t)
	err := records.Check(odd)
	if err == nil || strings.Count(err.Error(), "\n") != 8 ||
		strings.Count(err.Error(), "outside the bounds") != 6 {
		t.Errorf("got error %v, want nine defects, six of them outside the bounds", err)
	}
	for i := range 3 {
		for j := range 3 {
			if !odd.Stray(i, j) || fine.Stray(0, j) {
				t.Errorf("row %d, column %d: Stray is wrong", i, j)
			}
		}
	}
}

// TestTimesOutsideTheBoundsAreEncodedInside checks that times below and above the bounds, and
// values that are not times, are encoded within the bounds.
func TestTimesOutsideTheBoundsAreEncodedInside(t *testing.T) {
	from := at("2024-01-01T00:00:00Z")
	s := must(records.NewSchema(records.Datetime("d", from, from.AddDate(0, 0, 3), 24*time.Hour),
		records.Duration("l", 0, 3*time.Second, time.Second),
		wide("n", 1<<60, 1<<60+3)))(t)
	for _, row := range [][]any{{"1999-01-01", -time.Hour, 0}, {"2050-01-01", time.Hour,
		int64(1<<62 + 5)}, {"x", "x", "x"}, {nil, nil, nil}} {
		encoded := must(records.FromValues(s, row))(t).Row(nil, 0)
		validRow(t, s, encoded)
		for j := range row {
			if want := float32(0); row[0] == "2050-01-01" && encoded[j] != 1 ||
				row[0] != "2050-01-01" && encoded[j] != want {
				t.Errorf("%v is encoded as %v", row[j], encoded[j])
			}
		}
	}
}
