package arrow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func written(t testing.TB, l arrow.Layout, s records.Schema, all ...records.Data) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := arrow.WriteFrames(&b, l, s, parts(all...)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte, s records.Schema, limits ...records.Limits) (*records.Frame, error) {
	return arrow.ReadFrame(bytes.NewReader(data), s, limits...)
}

var layouts = []arrow.Layout{arrow.StreamLayout, arrow.FileLayout}

func TestRecordsComeBack(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 300)
	for _, l := range layouts {
		data := written(t, l, s, f.Slice(0, 100), f.Slice(100, 100), f.Slice(100, 300))
		back := must(read(data, s))(t)
		if cellsOf(back) != cellsOf(f) || records.Check(back) != nil {
			t.Errorf("layout %d: the records differ after reading: %s", l, cellsOf(back))
		}
		var sizes []int
		for part, err := range arrow.Stream(iotest.OneByteReader(bytes.NewReader(data)), s) {
			sizes = append(sizes, must(part, err)(t).Len())
		}
		if fmt.Sprint(sizes) != "[100 0 200]" {
			t.Errorf("layout %d: got parts of %v, want [100 0 200]", l, sizes)
		}
		if none := must(read(written(t, l, s), s))(t); none.Len() != 0 || !none.Schema().Equal(s) {
			t.Errorf("layout %d: got %d records, want none", l, none.Len())
		}
	}
	batch := must(arrow.ToRecord(f))(t)
	defer batch.Release()
	if back := must(arrow.FromRecord(batch, s))(t); cellsOf(back) != cellsOf(f) {
		t.Error("the records of a batch differ from the records written")
	}
	fewer := must(records.NewSchema(s.Columns()[5], s.Columns()[0]))(t)
	back := must(read(written(t, arrow.StreamLayout, s, f), fewer))(t)
	if !strings.HasPrefix(cellsOf(back), fmt.Sprintf(`{"bonus":%s,"weight":`, bonus(f))) {
		t.Errorf("reading two of the columns gives %.80s", cellsOf(back))
	}
}

func bonus(f *records.Frame) string {
	text := string(f.AppendJSON(nil, 0))
	_, rest, _ := strings.Cut(text, `"bonus":`)
	value, _, _ := strings.Cut(rest, ",")
	return value
}

// TestNumbersAreNotCopied: numbers without nulls are not copied when they are read, and all numbers
// are copied once when they are written.
func TestNumbersAreNotCopied(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 1), records.Numeric("b", 0, 1)))(t)
	const n = 1 << 20
	values := make([]float64, n)
	f := must(records.FromColumns(s, records.Values{Numbers: values, Shared: true},
		records.Values{Numbers: values, Shared: true}))(t)
	allocated := func(run func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var batch aw.RecordBatch
	if got := allocated(func() { batch = must(arrow.ToRecord(f))(t) }); got > 2*8*n+1<<16 {
		t.Errorf("%d bytes are allocated for a batch of %d numbers", got, 2*n)
	}
	if got := allocated(func() { must(arrow.FromRecord(batch, s))(t) }); got > 1<<16 {
		t.Errorf("%d bytes are allocated for reading a batch", got)
	}
	batch.Column(0).(*array.Float64).Float64Values()[7] = 0.5
	if back := must(arrow.FromRecord(batch, s))(t); back.Number(7, 0) != 0.5 {
		t.Error("the frame does not share the memory of the batch")
	}
}

// column returns an array of any type, made from JSON.
func column(t *testing.T, of aw.DataType, json string) aw.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func batchOf(a aw.Array) aw.RecordBatch {
	s := aw.NewSchema([]aw.Field{{Name: "c", Type: a.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(s, []aw.Array{a}, int64(a.Len()))
}

// TestTypes reads every supported type, as numbers and as levels, alone and in dictionaries, from
// batches and from streams.
func TestTypes(t *testing.T) {
	number := must(records.NewSchema(records.Numeric("c", -1e30, 1e30).WithMissing()))(t)
	level := func(names ...string) records.Schema {
		return must(records.NewSchema(records.Categorical("c", names...).WithMissing()))(t)
	}
	milli := &aw.TimestampType{Unit: aw.Millisecond}
	coded := func(of aw.DataType) aw.DataType {
		return &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Uint8, ValueType: of}
	}
	for _, c := range []struct {
		of     aw.DataType
		json   string
		schema records.Schema
		want   string
	}{
		{aw.PrimitiveTypes.Int8, "[-128,null,127]", number, "-128 null 127"},
		{aw.PrimitiveTypes.Uint16, "[0,null,65535]", number, "0 null 65535"},
		{aw.PrimitiveTypes.Int64, "[-9007199254740993,null,1]", level("-9007199254740993", "1"),
			`"-9007199254740993" null "1"`},
		{aw.PrimitiveTypes.Uint64, "[18446744073709551615,null]", level("18446744073709551615"),
			`"18446744073709551615" null`},
		{aw.FixedWidthTypes.Float16, "[1.5,null]", number, "1.5 null"},
		{aw.PrimitiveTypes.Float32, "[0.5,null,-2]", number, "0.5 null -2"},
		{aw.PrimitiveTypes.Float64, "[1e22,null,5e-324]", number, "1e+22 null 5e-324"},
		{aw.FixedWidthTypes.Boolean, "[true,null,false]", number, "1 null 0"},
		{aw.FixedWidthTypes.Boolean, "[true,null,false]", level("n", "y"), `"y" null "n"`},
		{aw.BinaryTypes.String, `["1.5",null," 7 ","x"]`, number, "1.5 null 7 null"},
		{aw.BinaryTypes.LargeString, `["a",null,"b","a"]`, level("b", "a"), `"a" null "b" "a"`},
		{aw.BinaryTypes.StringView, `["a",null,"a text that is longer than twelve"]`,
			level("a", "a text that is longer than twelve"),
			`"a" null "a text that is longer than twelve"`},
		{&aw.Decimal128Type{Precision: 10, Scale: 2}, `["1.25",null,"-3.00"]`, number, "1.25 null -3"},
		{&aw.Decimal256Type{Precision: 40, Scale: 1}, `["0.5",null]`, level("0.5"), `"0.5" null`},
		{aw.FixedWidthTypes.Date32, `["1970-01-03",null]`, number, "2 null"},
		{milli, `["1970-01-01 00:00:01",null]`, number, "1000 null"},
		{aw.FixedWidthTypes.Duration_s, `[90,null]`, number, "90 null"},
		{coded(aw.BinaryTypes.String), `["a",null,"b","a"]`, level("b", "a"), `"a" null "b" "a"`},
		{coded(aw.PrimitiveTypes.Int16), `[7,null,-1]`, number, "7 null -1"},
		{aw.Null, "[null,null]", number, "null null"},
		{aw.Null, "[null,null]", level("a"), "null null"},
	} {
		batch := batchOf(column(t, c.of, c.json))
		want := `{"c":` + strings.ReplaceAll(c.want, " ", "}\n{\"c\":") + "}\n"
		if strings.Contains(c.want, "text that") {
			want = "{\"c\":\"a\"}\n{\"c\":null}\n{\"c\":\"a text that is longer than twelve\"}\n"
		}
		if got := cellsOf(must(arrow.FromRecord(batch, c.schema))(t)); got != want {
			t.Errorf("%v: got %s\nwant %s", c.of, got, want)
		}
		for _, options := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			var b bytes.Buffer
			w := ipc.NewWriter(&b, append(options, ipc.WithSchema(batch.Schema()))...)
			if err := errors.Join(w.Write(batch), w.Close()); err != nil {
				t.Fatal(err)
			}
			if got := cellsOf(must(read(b.Bytes(), c.schema))(t)); got != want {
				t.Errorf("%v, from a stream: got %s\nwant %s", c.of, got, want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s, f := people(t), drawn(t, people(t), 3)
	level := must(records.NewSchema(records.Categorical("c", "a", "b", "x").WithMissing()))(t)
	for says, a := range map[string]aw.Array{
		"values of type LIST":      column(t, aw.ListOf(aw.PrimitiveTypes.Int8), "[[1],null]"),
		"values of type BINARY":    column(t, aw.BinaryTypes.Binary, `["YQ=="]`),
		"or of 2 levels; it has 3": column(t, aw.FixedWidthTypes.Boolean, "[true]"),
	} {
		_, err := arrow.FromRecord(batchOf(a), level)
		if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error with %q", err, says)
		}
	}
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", what, err)
		}
	}
	wrong("no batch", second(arrow.FromRecord(nil, level)))
	wrong("no frame", second(arrow.ToRecord(nil)))
	wrong("no frame", arrow.WriteFrame(io.Discard, arrow.FileLayout, nil))
	wrong("no layout", arrow.WriteFrame(io.Discard, 2, f))
	wrong("no stream", second(arrow.ReadFrame(nil, s)))
	wrong("vectors", second(read(nil, records.Binary(2))))
	wrong("vectors", second(arrow.SchemaOf(records.Binary(2))))
	wrong("limits", second(read(nil, s, records.Limits{Values: -1})))
	wrong("other records", arrow.WriteFrames(io.Discard, 0, level, parts(f)))
	wrong("no records", arrow.WriteFrames(io.Discard, 0, level, parts(nil)))
	broken := errors.New("no more")
	for _, l := range layouts {
		err := arrow.WriteFrames(io.Discard, l, s,
			func(yield func(records.Data, error) bool) { yield(nil, broken) })
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		if err := arrow.WriteFrame(full{}, l, f); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("layout %d: writing to a full writer: got %v, want io.ErrShortWrite", l, err)
		}
		data := written(t, l, s, f)
		_, err = arrow.ReadFrame(io.MultiReader(bytes.NewReader(data[:600]), iotest.ErrReader(broken)), s)
		if !errors.Is(err, broken) {
			t.Errorf("layout %d: reading from a broken reader: got %v, want its error", l, err)
		}
		_, err = read(data, must(records.NewSchema(records.Numeric("none", 0, 1)))(t))
		if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), `"none"`) {
			t.Errorf("layout %d: a missing column: got %v, want records.ErrFormat with its name", l, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestDamagedStreamsEndInErrors changes each byte of a stream in two ways, and cuts the stream at
// each byte. Reading may fail only with records.ErrFormat, and takes little memory.
func TestDamagedStreamsEndInErrors(t *testing.T) {
	s := people(t)
	for _, l := range layouts {
		whole := written(t, l, s, drawn(t, s, 20))
		refused, cut := 0, 0
		for at := range whole {
			for _, change := range []byte{1, 0xfd, 0} {
				data := bytes.Clone(whole)
				if data[at] ^= change; change == 0 {
					data = data[:at]
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := read(data, s)
				runtime.ReadMemStats(&after)
				if err != nil && !errors.Is(err, records.ErrFormat) {
					t.Errorf("byte %d, change %#x: got %v, want records.ErrFormat", at, change, err)
				}
				if err != nil && change == 0 {
					cut++
				} else if err != nil {
					refused++
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
					t.Errorf("byte %d, change %#x: reading takes %d MB: %v", at, change, took>>20, err)
				}
			}
		}
		t.Logf("layout %d: %d of %d damaged streams and %d of %d cut ones are refused", l, refused,
			2*len(whole), cut, len(whole))
		if refused < len(whole)/4 || cut < len(whole)/2 {
			t.Errorf("layout %d: %d of %d damaged streams and %d of %d cut ones are refused", l, refused,
				2*len(whole), cut, len(whole))
		}
	}
}

func TestLimits(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("c", 0, 1).WithMissing()))(t)
	over := func(limit string, err error) {
		t.Helper()
		if e := new(records.LimitError); !errors.As(err, &e) || e.Limit != limit {
			t.Errorf("got %v, want a LimitError of %s", err, limit)
		}
	}
	// Nulls take no bytes: a batch of 2³⁰ nulls has 300 bytes.
	empty := array.NewNull(1 << 30)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(batchOf(empty).Schema()))
	if err := errors.Join(w.Write(batchOf(empty)), w.Close()); err != nil {
		t.Fatal(err)
	}
	over("Values", second(read(b.Bytes(), s)))
	zeros := must(records.FromColumns(s, records.Values{Numbers: make([]float64, 3<<20)}))(t)
	b.Reset()
	batch := must(arrow.ToRecord(zeros))(t)
	w = ipc.NewWriter(&b, ipc.WithSchema(batch.Schema()), ipc.WithZstd())
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	over("UnpackedBytes", second(read(b.Bytes(), s, records.Limits{Values: 1 << 30})))
	all := records.Limits{Values: 1 << 30, UnpackedBytes: 1 << 30}
	if f := must(read(b.Bytes(), s, all))(t); f.Len() != 3<<20 {
		t.Errorf("got %d records, want 3·2²⁰", f.Len())
	}
}

// TestLongStreamsTakeNoMoreMemory checks that twenty times more records take no more memory.
func TestLongStreamsTakeNoMoreMemory(t *testing.T) {
	s := people(t)
	part := drawn(t, s, 20_000)
	peak := func(parts int) (most uint64) {
		in, out := io.Pipe()
		go func() {
			out.CloseWithError(arrow.WriteFrames(out, arrow.StreamLayout, s,
				func(yield func(records.Data, error) bool) {
					for range parts {
						if !yield(part, nil) {
							return
						}
					}
				}))
		}()
		records := 0
		for f, err := range arrow.Stream(in, s) {
			records += must(f, err)(t).Len()
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		if records != parts*part.Len() {
			t.Errorf("%d records were read, which is not the number written", records)
		}
		return most
	}
	if few, many := peak(2), peak(40); many > few+8<<20 {
		t.Errorf("memory grows from %d MB for 2 parts to %d MB for 40", few>>20, many>>20)
	}
}

func FuzzReadFrame(f *testing.F) {
	s := people(f)
	for _, l := range layouts {
		f.Add(written(f, l, s, drawn(f, s, 5)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(data, s)
		if err != nil {
			if !errors.Is(err, records.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for i := range got.Len() {
			got.AppendJSON(nil, i)
		}
	})
}
