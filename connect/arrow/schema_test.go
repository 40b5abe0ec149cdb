package arrow_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/records"
)

// TestSchemas: the type of every kind of column, whether it may be null, and the order of levels.
func TestSchemas(t *testing.T) {
	from, to := time.Unix(0, 0).UTC(), time.Unix(1<<30, 0).UTC()
	const levels = "dictionary<values=utf8, indices=int32, ordered=%t>"
	for _, c := range []struct {
		column records.Column
		want   string
	}{
		{records.Numeric("c", 0, 1), "float64"}, {records.Integer("c", 0, 9), "int64"},
		{records.Categorical("c", "a", "b"), fmt.Sprintf(levels, false)},
		{records.Ordinal("c", "a", "b"), fmt.Sprintf(levels, true)},
		{records.Flag("c", "a", "b"), fmt.Sprintf(levels, false)},
		{records.Datetime("c", from, to, time.Hour), "timestamp[s, tz=UTC]"},
		{records.Datetime("c", from, to, time.Millisecond), "timestamp[ms, tz=UTC]"},
		{records.Datetime("c", from, to, 10*time.Microsecond), "timestamp[us, tz=UTC]"},
		{records.Datetime("c", from, to, time.Nanosecond), "timestamp[ns, tz=UTC]"},
		{records.Datetime("c", from.Add(time.Microsecond), to, time.Hour), "timestamp[us, tz=UTC]"},
		{records.Duration("c", 0, time.Hour, time.Second), "duration[s]"},
		{records.Duration("c", time.Nanosecond, time.Hour, time.Second), "duration[ns]"},
		{records.Identifier("c", records.UUID()), "utf8"},
	} {
		for _, missing := range []bool{false, true} {
			column := c.column
			if id := column.Kind() == records.IdentifierColumn; missing && !id {
				column = column.WithMissing()
			} else if missing {
				continue
			}
			s := must(records.NewSchema(column, records.Numeric("other", 0, 1)))(t)
			got := must(arrow.SchemaOf(s))(t)
			null := missing || column.Kind() == records.IdentifierColumn
			if f := got.Field(0); f.Type.String() != c.want || f.Nullable != null || f.Name != "c" ||
				got.NumFields() != 2 {
				t.Errorf("%v: got %v, nullable %t, want %s", column, f.Type, f.Nullable, c.want)
			}
		}
	}
	s := must(records.NewSchema(records.Identifier("id", records.UUID()),
		records.Numeric("x", 0, 1)))(t)
	f := must(records.FromValues(s, []any{nil, 0.5}, []any{nil, 1}))(t)
	named, _ := records.AsFrame(must(records.WithIdentifiers(f, 0, 1))(t))
	for what, f := range map[string]*records.Frame{"named": named, "unnamed": f} {
		ids := must(arrow.ToRecord(f))(t).Column(0).(*array.String)
		for i := range f.Len() {
			if ids.IsNull(i) != (f.Value(i, 0) == "") || !ids.IsNull(i) && ids.Value(i) != f.Value(i, 0) {
				t.Errorf("%s: identifier %d is written as %v, want %q", what, i, ids.ValueStr(i), f.Value(i,
					0))
			}
		}
	}
}

// TestDictionariesOfOtherTypes: a dictionary takes the types that a column takes, and no others.
func TestDictionariesOfOtherTypes(t *testing.T) {
	three := must(records.NewSchema(records.Categorical("c", "a", "b", "x").WithMissing()))(t)
	for what, of := range map[string]aw.DataType{"lists": aw.ListOf(aw.PrimitiveTypes.Int8),
		"bytes": aw.BinaryTypes.Binary, "bools of three levels": aw.FixedWidthTypes.Boolean,
		"dictionaries": &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Int8,
			ValueType: aw.BinaryTypes.String}} {
		kind := &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Int8, ValueType: of}
		schema := aw.NewSchema([]aw.Field{{Name: "c", Type: kind, Nullable: true}}, nil)
		a := array.MakeArrayOfNull(memory.DefaultAllocator, kind, 2)
		_, err := arrow.FromRecord(array.NewRecordBatch(schema, []aw.Array{a}, 2), three)
		if !errors.Is(err, records.ErrFormat) {
			t.Errorf("a dictionary of %s: %v", what, err)
		}
	}
}

// TestBatchesOfTheCaller: a batch whose bytes are fewer than it states is an error, and the memory
// of one that is read stays until the frame is gone.
func TestBatchesOfTheCaller(t *testing.T) {
	number := must(records.NewSchema(records.Numeric("c", 0, 1)))(t)
	short := array.NewBooleanData(array.NewData(aw.FixedWidthTypes.Boolean, 100, []*memory.Buffer{nil,
		memory.NewBufferBytes([]byte{1})}, nil, 0, 0))
	if f, err := arrow.FromRecord(batchOf(short), number); !errors.Is(err, records.ErrFormat) {
		t.Errorf("a batch of one byte for 100 bools: %v, %v", f.Len(), err)
	}
	owned := memory.NewCheckedAllocator(memory.DefaultAllocator)
	b := array.NewFloat64Builder(owned)
	b.AppendValues([]float64{0.25, 0.5}, nil)
	a := b.NewArray()
	b.Release()
	batch := batchOf(a)
	a.Release()
	f := must(arrow.FromRecord(batch, number))(t)
	batch.Release()
	if owned.CurrentAlloc() == 0 || f.Number(1, 0) != 0.5 {
		t.Errorf("the memory of a frame is given back: %d bytes are left", owned.CurrentAlloc())
	}
}
