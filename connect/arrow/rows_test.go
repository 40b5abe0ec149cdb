package arrow_test

import (
	"bytes"
	"errors"
	"testing"

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
