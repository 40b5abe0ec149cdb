package arrow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/records"
)

// TestStatedListsTakeNoMemory writes a number of millions over each word of a stream with every
// list that a description can have: nested columns, the numbers of a union, names and values of
// notes, dictionaries, buffers and variadic buffers. Whatever the word meant, reading takes little
// memory.
func TestStatedListsTakeNoMemory(t *testing.T) {
	notes := aw.NewMetadata([]string{"a", "b"}, []string{"1", "2"})
	union := aw.SparseUnionOf([]aw.Field{{Name: "x", Type: aw.PrimitiveTypes.Int8},
		{Name: "y", Type: aw.BinaryTypes.String}}, []aw.UnionTypeCode{0, 5})
	schema := aw.NewSchema([]aw.Field{
		{Name: "c", Type: aw.PrimitiveTypes.Float64, Metadata: notes},
		{Name: "list", Type: aw.ListOf(aw.StructOf(aw.Field{Name: "deep",
			Type: aw.PrimitiveTypes.Int16}))},
		{Name: "union", Type: union},
		{Name: "level", Type: &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Int8,
			ValueType: aw.BinaryTypes.String}},
		{Name: "view", Type: aw.BinaryTypes.StringView}}, &notes)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
	for i, text := range []string{"a text of more than twelve bytes", "b"} {
		list := b.Field(1).(*array.ListBuilder)
		list.Append(true)
		deep := list.ValueBuilder().(*array.StructBuilder)
		deep.Append(true)
		deep.FieldBuilder(0).(*array.Int16Builder).Append(int16(i))
		u := b.Field(2).(*array.SparseUnionBuilder)
		u.Append(0)
		u.Child(0).(*array.Int8Builder).Append(int8(i))
		u.Child(1).AppendEmptyValue()
		if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(text); err != nil {
			t.Fatal(err)
		}
		b.Field(4).(*array.StringViewBuilder).Append(text)
	}
	batch := b.NewRecordBatch()
	s := must(records.NewSchema(records.Numeric("c", 0, 9)))(t)
	for name, options := range map[string][]ipc.Option{"plain": nil, "packed": {ipc.WithZstd()}} {
		var file bytes.Buffer
		w := ipc.NewWriter(&file, append(options, ipc.WithSchema(schema))...)
		if err := errors.Join(w.Write(batch), w.Close()); err != nil {
			t.Fatal(err)
		}
		if f := must(read(file.Bytes(), s))(t); f.Len() != 2 {
			t.Fatal(f.Len())
		}
		for at := 0; at+4 <= file.Len(); at += 4 {
			data := bytes.Clone(file.Bytes())
			binary.LittleEndian.PutUint32(data[at:], 6_000_000)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(data, s)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
				t.Errorf("%s: with millions at byte %d of %d reading takes %d MB: %v", name, at, file.Len(),
					took>>20, err)
			}
		}
	}
}

// TestLargeWindows changes the window that a compressed buffer asks for, which its decoder
// allocates: up to that of any decoder, or the caller's limit, the stream is read.
func TestLargeWindows(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("c", 0, 1)))(t)
	f := must(records.FromColumns(s, records.Values{Numbers: make([]float64, 20_000)}))(t)
	batch := must(arrow.ToRecord(f))(t)
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(batch.Schema()), ipc.WithZstd())
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file.Bytes(), []byte{0x28, 0xb5, 0x2f, 0xfd}) + 4
	if head := file.Bytes()[at]; head&0b00100000 != 0 { // one segment
		t.Fatalf("a frame without a window: %x", head)
	}
	for _, c := range []struct {
		window byte // RFC 8878, section 3.1.1.1.2: an exponent above 10, and eighths
		limit  int64
		good   bool
	}{{13 << 3, 1 << 20, true}, {13<<3 | 1, 1 << 20, false}, {13<<3 | 1, 9 << 20, true},
		{14 << 3, 9 << 20, false}, {14 << 3, 16 << 20, true}, {20 << 3, 0, false}} {
		data := bytes.Clone(file.Bytes())
		data[at+1] = c.window
		_, err := read(data, s, records.Limits{UnpackedBytes: c.limit})
		over := new(records.LimitError)
		if (err == nil) != c.good || !c.good && (!errors.As(err, &over) ||
			over.Limit != "UnpackedBytes") {
			t.Errorf("a window of %d with a limit of %d: %v", c.window, c.limit, err)
		}
	}
}

// TestWritersThatFail lets a writer fail after every few bytes: each failure is an error.
func TestWritersThatFail(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 900)
	for _, l := range layouts {
		size := len(written(t, l, s, f, f.Slice(0, 3)))
		for room := 0; room < size; room += 1 + size/40 {
			err := arrow.WriteFrames(&limited{room}, l, s, parts(f, f.Slice(0, 3)))
			if !errors.Is(err, errRoom) {
				t.Errorf("layout %d, room for %d of %d bytes: %v", l, room, size, err)
			}
		}
	}
}

type limited struct{ room int }

var errRoom = errors.New("no more room")

func (l *limited) Write(b []byte) (int, error) {
	if l.room -= len(b); l.room < 0 {
		return 0, errRoom
	}
	return len(b), nil
}
