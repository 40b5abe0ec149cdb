package arrow

import (
	"fmt"
	"io"
	"iter"
	"math"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Layout is the format in which a sequence of batches is written.
type Layout int

// The layouts. A file allows random access to its batches; a stream can be read without seeking.
const (
	StreamLayout Layout = iota // the IPC streaming format
	FileLayout                 // the IPC file format, also called Feather version 2
)

// SchemaOf returns the Arrow schema under which records of s are written.
//
// Errors: *[param.Error] for a schema that is not of a table, and for datetimes in nanoseconds
// beyond 64 bits.
func SchemaOf(s records.Schema) (*aw.Schema, error) {
	if _, err := records.NewFrameBuilder(s); err != nil { // for its errors about the schema
		return nil, err
	}
	var fields []aw.Field
	for _, c := range s.Columns() {
		if err := writable(c); err != nil {
			return nil, err
		}
		fields = append(fields, aw.Field{Name: c.Name(), Type: typeOf(c),
			Nullable: c.HasMissing() || c.Kind() == records.IdentifierColumn})
	}
	return aw.NewSchema(fields, nil), nil
}

func typeOf(c records.Column) aw.DataType {
	switch {
	case c.Kind() == records.DatetimeColumn:
		return &aw.TimestampType{Unit: unitOf(c), TimeZone: "UTC"}
	case c.Kind() == records.DurationColumn:
		return &aw.DurationType{Unit: unitOf(c)}
	case c.Kind() == records.IdentifierColumn:
		return aw.BinaryTypes.String
	case !c.IsNumber():
		return &aw.DictionaryType{IndexType: aw.PrimitiveTypes.Int32, ValueType: aw.BinaryTypes.String,
			Ordered: c.Kind() == records.OrdinalColumn}
	case c.Kind() == records.IntegerColumn:
		return aw.PrimitiveTypes.Int64
	}
	return aw.PrimitiveTypes.Float64
}

// ToRecord returns a frame as a record batch, which the caller must release.
//
// Errors: *[param.Error] for nil.
func ToRecord(f *records.Frame) (aw.RecordBatch, error) {
	if f == nil {
		return nil, param.New("arrow.ToRecord", nil, "records")
	}
	out, err := newWriter(f.Schema())
	if err != nil {
		return nil, err
	}
	return out.batch(f), nil
}

// WriteFrames writes records that arrive in parts, such as a generator's stream, one batch for each
// part. Its memory does not grow with the number of parts. It stops at the first error of the
// parts.
//
// Errors: the writer's errors; *[param.Error] for an unknown layout, a schema that is not of a
// table and records of another schema.
func WriteFrames(w io.Writer, l Layout, s records.Schema,
	parts iter.Seq2[records.Data, error]) error {
	out, err := newWriter(s)
	if err != nil {
		return err
	}
	batches, err := out.open(w, l)
	if err != nil {
		return err
	}
	for part, err := range parts {
		if err != nil {
			return err
		}
		f, err := frameOf(part, s)
		if err != nil {
			return err
		}
		b := out.batch(f)
		err = batches.Write(b)
		b.Release()
		if err != nil {
			return fmt.Errorf("arrow: writing: %w", err)
		}
	}
	if err := batches.Close(); err != nil {
		return fmt.Errorf("arrow: writing: %w", err)
	}
	return nil
}

// WriteFrame is [WriteFrames] for the records of one frame.
func WriteFrame(w io.Writer, l Layout, f *records.Frame) error {
	if f == nil {
		return param.New("arrow.WriteFrame", nil, "records")
	}
	return WriteFrames(w, l, f.Schema(),
		func(yield func(records.Data, error) bool) { yield(f, nil) })
}

func frameOf(part records.Data, s records.Schema) (*records.Frame, error) {
	if part == nil {
		return nil, param.New("arrow.WriteFrames", nil, "records")
	}
	if !part.Schema().Equal(s) {
		return nil, param.New("arrow.WriteFrames", part.Schema().String(), s.String())
	}
	if f, ok := records.AsFrame(part); ok {
		return f, nil
	}
	joined, err := records.Concat(s, part)
	if err != nil {
		return nil, err
	}
	f, ok := records.AsFrame(joined)
	if !ok {
		return nil, param.New("arrow.WriteFrames", fmt.Sprintf("%T", part), "records of a table")
	}
	return f, nil
}

// writer converts frames of one schema to batches.
type writer struct {
	schema *aw.Schema
	levels []aw.Array // the levels of each column that has them
}

func newWriter(s records.Schema) (*writer, error) {
	schema, err := SchemaOf(s)
	if err != nil {
		return nil, err
	}
	w := &writer{schema: schema, levels: make([]aw.Array, len(s.Columns()))}
	for j, c := range s.Columns() {
		if w.schema.Field(j).Type.ID() != aw.DICTIONARY {
			continue
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		b.AppendValues(c.Levels(), nil)
		w.levels[j] = b.NewArray()
	}
	return w, nil
}

// batchWriter is the writer of either layout.
type batchWriter interface {
	Write(aw.RecordBatch) error
	Close() error
}

func (w *writer) open(to io.Writer, l Layout) (batchWriter, error) {
	switch l {
	case StreamLayout:
		return ipc.NewWriter(to, ipc.WithSchema(w.schema)), nil
	case FileLayout:
		out, err := ipc.NewFileWriter(to, ipc.WithSchema(w.schema))
		if err != nil {
			return nil, fmt.Errorf("arrow: writing: %w", err)
		}
		return out, nil
	}
	return nil, param.New("arrow.WriteFrames.layout", int(l), "StreamLayout or FileLayout")
}

// batch returns a frame as a batch, which may share the frame's numbers.
func (w *writer) batch(f *records.Frame) aw.RecordBatch {
	var columns []aw.Array
	for j, c := range f.Schema().Columns() {
		switch {
		case c.Kind() == records.IdentifierColumn:
			columns = append(columns, identifiers(f, j))
		case c.Kind() == records.IntegerColumn || c.Kind() == records.DatetimeColumn ||
			c.Kind() == records.DurationColumn:
			columns = append(columns, whole(w.schema.Field(j).Type, f.Len(), exactly(f, c, j)))
		case !c.IsNumber():
			columns = append(columns, w.coded(f, j))
		default:
			columns = append(columns, numbers(f.Numbers(j)))
		}
	}
	out := array.NewRecordBatch(w.schema, columns, int64(f.Len()))
	for _, c := range columns {
		c.Release()
	}
	return out
}

// present returns the bitmap of values that are not missing, and the number of missing values.
func present(n int, missing func(i int) bool) (*memory.Buffer, int) {
	var bits []byte
	nulls := 0
	for i := range n {
		if !missing(i) {
			continue
		}
		if bits == nil {
			bits = make([]byte, bitutil.BytesForBits(int64(n)))
			bitutil.SetBitsTo(bits, 0, int64(n), true)
		}
		bitutil.ClearBit(bits, i)
		nulls++
	}
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}

// column returns an array of n values that uses the given bytes without a copy.
func column(t aw.DataType, n int, bytes []byte, missing func(i int) bool) *array.Data {
	bits, nulls := present(n, missing)
	return array.NewData(t, n, []*memory.Buffer{bits, memory.NewBufferBytes(bytes)}, nil, nulls, 0)
}

func numbers(values []float64) aw.Array {
	data := column(aw.PrimitiveTypes.Float64, len(values), aw.Float64Traits.CastToBytes(values),
		func(i int) bool { return math.IsNaN(values[i]) })
	defer data.Release()
	return array.NewFloat64Data(data)
}

// whole returns a column of 64-bit whole numbers, which represent numbers, datetimes or durations.
func whole(t aw.DataType, rows int, value func(row int) (int64, bool)) aw.Array {
	out, there := make([]int64, rows), make([]bool, rows)
	for i := range out {
		if out[i], there[i] = value(i); !there[i] {
			out[i] = 0
		}
	}
	data := column(t, rows, aw.Int64Traits.CastToBytes(out), func(i int) bool { return !there[i] })
	defer data.Release()
	return array.MakeFromData(data)
}

func (w *writer) coded(f *records.Frame, j int) aw.Array {
	codes := make([]int32, f.Len())
	for i := range codes {
		codes[i] = int32(f.Level(i, j))
	}
	data := column(aw.PrimitiveTypes.Int32, len(codes), aw.Int32Traits.CastToBytes(codes),
		func(i int) bool {
			missing := codes[i] < 0
			codes[i] = max(codes[i], 0) // a null must have a valid index too
			return missing
		})
	defer data.Release()
	places := array.NewInt32Data(data)
	defer places.Release()
	return array.NewDictionaryArray(w.schema.Field(j).Type, places, w.levels[j])
}
