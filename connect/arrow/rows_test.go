package arrow_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/records"
)

// TestARowWithABadIndexIsMissing: a row with an invalid dictionary index is missing and changes no
// other row, for indices of several widths, in batches and streams.
func TestARowWithABadIndexIsMissing(t *testing.T) {
	s := must(records.NewSchema(records.Categorical("c", "a", "b").WithMissing()))(t)
	values := column(t, aw.BinaryTypes.String, `["a","b"]`)
	const want = "{\"c\":\"b\"}\n{\"c\":null}\n{\"c\":\"a\"}\n"
	for _, c := range []struct {
		index aw.DataType
		bytes []byte
	}{
		{aw.PrimitiveTypes.Int8, []byte{1, 0xff, 0}},
		{aw.PrimitiveTypes.Uint8, []byte{1, 2, 0}},
		{aw.PrimitiveTypes.Int32, aw.Int32Traits.CastToBytes([]int32{1, 1 << 30, 0})},
		{aw.PrimitiveTypes.Int64, aw.Int64Traits.CastToBytes([]int64{1, -1 << 63, 0})},
		{aw.PrimitiveTypes.Uint64, aw.Uint64Traits.CastToBytes([]uint64{1, 1<<64 - 1, 0})},
	} {
		of := &aw.DictionaryType{IndexType: c.index, ValueType: aw.BinaryTypes.String}
		data := array.NewDataWithDictionary(of, 3,
			[]*memory.Buffer{nil, memory.NewBufferBytes(c.bytes)}, 0, 0, values.Data().(*array.Data))
		batch := batchOf(array.NewDictionaryData(data))
		got := must(arrow.FromRecord(batch, s))(t)
		if cellsOf(got) != want {
			t.Errorf("%v: got %s", c.index, cellsOf(got))
		}
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(batch.Schema()))
		if err := errors.Join(w.Write(batch), w.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := read(b.Bytes(), s)
		if err != nil || cellsOf(got) != want {
			t.Errorf("%v, from a stream: the cells differ, or reading fails: %v", c.index, err)
		}
	}
}

// TestARowWithABadTextIsMissing: a text that ends before it begins, and a text beyond the end of
// the column's bytes, are missing values.
func TestARowWithABadTextIsMissing(t *testing.T) {
	s := must(records.NewSchema(records.Categorical("c", "a", "b").WithMissing()))(t)
	offsets := aw.Int32Traits.CastToBytes([]int32{0, 1, 500, 1, 2})
	data := array.NewData(aw.BinaryTypes.String, 4, []*memory.Buffer{nil,
		memory.NewBufferBytes(offsets), memory.NewBufferBytes([]byte("ab"))}, nil, 0, 0)
	const want = "{\"c\":\"a\"}\n{\"c\":null}\n{\"c\":null}\n{\"c\":\"b\"}\n"
	got, err := arrow.FromRecord(batchOf(array.NewStringData(data)), s)
	if err != nil || cellsOf(got) != want {
		t.Errorf("got %v, error %v", got, err)
	}
}

// TestANullChangesNoOtherRow: the value of a row, of any type and in a column of any kind, is the
// same whether another row is null, has another value or is not there.
func TestANullChangesNoOtherRow(t *testing.T) {
	second := time.Second
	kinds := []records.Column{records.Numeric("c", -9, 1e6), records.Integer("c", -1<<61, 1<<61),
		records.Duration("c", 0, 100*second, second), records.Duration("c", -second, 100*second, 1),
		records.Datetime("c", time.Unix(0, 0).UTC(), time.Unix(1e9, 0).UTC(), time.Hour),
		records.Categorical("c", "0", "1", "3", "x"), records.Hashed("c", 7)}
	types := []aw.DataType{aw.PrimitiveTypes.Float64, aw.PrimitiveTypes.Float32,
		aw.PrimitiveTypes.Int64, aw.BinaryTypes.String,
		aw.FixedWidthTypes.Date32, &aw.DurationType{Unit: aw.Microsecond}}
	values := []string{"2.9999999999999996", "59.9999999996", "1e18", "-0", "NaN", "Inf", "7",
		"9007199254740993", "x"}
	for _, of := range types {
		for _, c := range kinds {
			s := must(records.NewSchema(c.WithMissing()))(t)
			first := func(value, other string) string {
				b := array.NewBuilder(memory.DefaultAllocator, of)
				if b.AppendValueFromString(value) != nil {
					return "" // the type has no such value
				}
				if other == "null" {
					b.AppendNull()
				} else if other != "" {
					_ = b.AppendValueFromString(other) // null, if the type has no such value
				}
				f := must(arrow.FromRecord(batchOf(b.NewArray()), s))(t)
				return string(f.AppendJSON(nil, 0)) + f.Problem(0, 0)
			}
			for _, value := range values {
				want := first(value, "")
				for _, other := range append(values, "null") {
					if got := first(value, other); got != want {
						t.Errorf("%v read as %v: %s is %s alone and %s beside %s", of, c, value, want, got, other)
					}
				}
			}
		}
	}
}
