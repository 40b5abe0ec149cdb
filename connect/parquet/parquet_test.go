package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func written(t testing.TB, f *records.Frame) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := parquet.WriteFrame(&file, f); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(data []byte, s records.Schema, limits ...records.Limits) (*records.Frame, error) {
	return parquet.ReadFrame(bytes.NewReader(data), int64(len(data)), s, limits...)
}

// TestFramesComeBack checks that frames are unchanged after writing and reading, for many sizes,
// including sizes near the sizes of batches and row groups.
func TestFramesComeBack(t *testing.T) {
	s := people(t)
	for _, n := range []int{0, 1, 1023, 1024, 1025, 1 << 17, 1<<17 + 1} {
		f := drawn(t, s, n)
		data := written(t, f)
		back := must(read(data, s))(t)
		if cellsOf(back) != cellsOf(f) || n > 0 && records.Check(back) != nil {
			t.Errorf("%d rows differ after reading: %v", n, records.Check(back))
		}
		var streamed []records.Data
		for part, err := range parquet.Stream(bytes.NewReader(data), int64(len(data)), s, 50_000) {
			streamed = append(streamed, must(part, err)(t))
		}
		if n == 0 {
			continue
		}
		joined, _ := records.AsFrame(must(records.Concat(s, streamed...))(t))
		if cellsOf(joined) != cellsOf(f) || len(streamed) != (n+49_999)/50_000 {
			t.Errorf("%d rows differ after streaming, or come in %d parts", n, len(streamed))
		}
	}
}

func TestColumnsKeepTheirOrder(t *testing.T) {
	s := people(t)
	data := written(t, drawn(t, s, 3))
	f := must(pq.OpenFile(bytes.NewReader(data), int64(len(data))))(t)
	for i, c := range f.Root().Columns() {
		if c.Name() != s.Columns()[i].Name() {
			t.Errorf("column %d is %q, which is not the schema's order", i, c.Name())
		}
	}
}

// TestTypesOfOthersAreRead reads columns of many types from a file that has them in another order
// and has further columns.
func TestTypesOfOthersAreRead(t *testing.T) {
	type row struct {
		Z     string   `parquet:"z"`
		Level int64    `parquet:"level"`
		Flag  bool     `parquet:"flag"`
		F32   *float32 `parquet:"f32,optional"`
		I32   int32    `parquet:"i32"`
		U32   uint32   `parquet:"u32"`
		Price int64    `parquet:"price,decimal(2:9)"`
		Text  string   `parquet:"text,dict"`
		Other []string `parquet:"other,list"`
		One   bool     `parquet:"one"`
	}
	quarter := float32(0.25)
	rows := []row{
		{Z: "b", Level: 7, Flag: true, F32: &quarter, I32: -5, U32: 1 << 31, Price: 1250, Text: " 2.5 "},
		{Z: "?", Level: 8, I32: 5, U32: 3, Price: -5, Text: "x", Other: []string{"a"}, One: true},
	}
	var file bytes.Buffer
	if err := pq.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	s := must(records.NewSchema(
		records.Numeric("text", 0, 9), records.Flag("flag", "n", "y"), records.Integer("i32", -9, 9),
		records.Numeric("f32", 0, 1).WithMissing(), records.Numeric("u32", 0, 1<<32),
		records.Categorical("level", "7", "9").WithMissing(), records.Numeric("price", -1, 99),
		records.Categorical("z", "a", "b"), records.Numeric("one", 0, 1),
	))(t)
	f := must(read(file.Bytes(), s))(t)
	want := `{"text":2.5,"flag":"y","i32":-5,"f32":0.25,"u32":2147483648,"level":"7","price":12.5,` +
		`"z":"b","one":0}` + "\n" +
		`{"text":0,"flag":"n","i32":5,"f32":null,"u32":3,"level":null,"price":-0.05,"z":"a","one":1}` +
		"\n"
	if got := cellsOf(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !f.Stray(1, 0) || !f.Stray(1, 7) || !f.Stray(1, 5) || f.Stray(1, 3) {
		t.Error("records.Check does not report the second row")
	}
	for name, c := range map[string]records.Column{
		"no column is named":       records.Numeric("absent", 0, 1),
		"nested":                   records.Numeric("other", 0, 1),
		"or of 2 levels; it has 3": records.Ordinal("flag", "a", "b", "c"),
	} {
		_, err := read(file.Bytes(), must(records.NewSchema(c))(t))
		if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), name) {
			t.Errorf("want records.ErrFormat with %q, got %v", name, err)
		}
	}
}

func TestArguments(t *testing.T) {
	s := people(t)
	data := written(t, drawn(t, s, 100))
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", what, err)
		}
	}
	_, err := read(data, records.Binary(3))
	wrong("vectors", err)
	_, err = parquet.ReadFrame(nil, 0, s)
	wrong("no file", err)
	wrong("no frame", parquet.WriteFrame(&bytes.Buffer{}, nil))
	wrong("another schema", parquet.WriteFrames(&bytes.Buffer{}, s,
		func(yield func(records.Data, error) bool) {
			yield(must(records.FromFlat(records.Binary(1), []float32{1}))(t), nil)
		}))
	for _, err := range parquet.Stream(bytes.NewReader(data), int64(len(data)), s, 0) {
		wrong("no rows", err)
	}
	limited := func(what string, l records.Limits) {
		t.Helper()
		_, err := read(data, s, l)
		if over := new(records.LimitError); !errors.As(err, &over) || over.Limit != what {
			t.Errorf("want a LimitError of %s, got %v", what, err)
		}
	}
	limited("Values", records.Limits{Values: 699})
	limited("UnpackedBytes", records.Limits{UnpackedBytes: 100})
	if _, err := read(data, s, records.Limits{Values: 700}); err != nil {
		t.Error(err)
	}
	if err := parquet.WriteFrame(full{}, drawn(t, s, 1)); err == nil {
		t.Error("writing to a full disk returns no error")
	}
	if _, err := parquet.OpenFrame(t.TempDir()+"/none", s); err == nil {
		t.Error("opening a missing file returns no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// FuzzReadFrame reads damaged files, which must give an error or records of the schema and never a
// panic.
func FuzzReadFrame(f *testing.F) {
	s := people(f)
	whole := written(f, drawn(f, s, 50))
	f.Add(0, byte(0), len(whole))
	for i := range 40 {
		f.Add(i*len(whole)/40, byte(i*37+1), len(whole)-i%3)
	}
	f.Fuzz(func(t *testing.T, at int, change byte, length int) {
		data := bytes.Clone(whole)
		data[uint(at)%uint(len(data))] ^= change
		data = data[:uint(length)%uint(len(data)+1)]
		frame, err := read(data, s, records.Limits{UnpackedBytes: 1 << 20, Values: 1 << 16})
		if err == nil && frame.Len() > 1<<16 {
			t.Fatalf("%d rows were read, which exceeds the limit", frame.Len())
		}
	})
}

func Example() {
	schema, err := records.NewSchema(records.Integer("age", 0, 120), records.Flag("well", "no", "yes"))
	if err != nil {
		panic(err)
	}
	table, err := records.FromValues(schema, []any{41, "yes"}, []any{7, "no"})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := parquet.WriteFrame(&file, table); err != nil {
		panic(err)
	}
	back, err := parquet.ReadFrame(bytes.NewReader(file.Bytes()), int64(file.Len()), schema)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(back.AppendJSON(nil, 0)))
	// Output: {"age":41,"well":"yes"}
}
