package parquet

import (
	"fmt"
	"io"
	"iter"
	"reflect"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A row group is held in memory until it is full. It has 131,072 rows. If there are many columns,
// it has fewer rows and at most 8,388,608 values, but never fewer than 1,024 rows.
const (
	groupRows   = 1 << 17
	groupValues = 1 << 23
	fewestRows  = 1 << 10
)

// rowsOfGroup returns the number of rows of a row group with the given number of columns.
func rowsOfGroup(columns int) int {
	return min(max(groupValues/columns, fewestRows), groupRows)
}

// WriteFrame writes the records of a table, with the schema's columns in their order.
//
// Errors: the writer's errors; *[param.Error] for nil.
func WriteFrame(w io.Writer, f *records.Frame) error {
	if f == nil {
		return param.New("parquet.WriteFrame", nil, "records")
	}
	return WriteFrames(w, f.Schema(), func(yield func(records.Data, error) bool) { yield(f, nil) })
}

// WriteFrames writes records that arrive in parts, such as a generator's stream. It holds one row
// group in memory, and for the footer a few kilobytes for each column of each row group. It stops
// at the first error of the parts.
//
// Errors: see [WriteFrame]; the first error of the parts.
func WriteFrames(w io.Writer, s records.Schema, parts iter.Seq2[records.Data, error]) (err error) {
	if _, err := records.NewFrameBuilder(s); err != nil { // for its errors about the schema
		return err
	}
	if err := writable(s); err != nil {
		return err
	}
	out := newWriter(w, s)
	for part, err := range parts {
		if err != nil {
			return err
		}
		f, err := frameOf(part, s)
		if err != nil {
			return err
		}
		if err := out.write(f); err != nil {
			return fmt.Errorf("parquet: writing: %w", err)
		}
	}
	if err := out.file.Close(); err != nil {
		return fmt.Errorf("parquet: writing: %w", err)
	}
	return nil
}

// frameOf returns a part as a frame.
func frameOf(part records.Data, s records.Schema) (*records.Frame, error) {
	const path = "parquet.WriteFrames"
	if part == nil {
		return nil, param.New(path, nil, "records")
	}
	if !part.Schema().Equal(s) {
		return nil, param.New(path, part.Schema().String(), s.String())
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
		return nil, param.New(path, fmt.Sprintf("%T", part), "records of a table")
	}
	return f, nil
}

// writer is a file being written.
type writer struct {
	file   *pq.GenericWriter[any]
	schema records.Schema
	levels [][]pq.Value // the levels of each column that has them
	size   int          // the number of rows of a full row group
	rows   int          // the number of rows in the current row group
	buffer []pq.Value
}

func newWriter(w io.Writer, s records.Schema) *writer {
	columns := s.Columns()
	out := &writer{schema: s, levels: make([][]pq.Value, len(columns)),
		size: rowsOfGroup(len(columns))}
	root := ordered{Group: pq.Group{}}
	for j, c := range columns {
		var node pq.Node
		switch {
		case c.Kind() == records.DatetimeColumn:
			node = timeNode(c)
		case c.Kind() == records.DurationColumn:
			if node = pq.Leaf(pq.Int64Type); decimals(c) > 0 {
				node = pq.Decimal(decimals(c), 18, pq.Int64Type)
			}
		case c.Kind() == records.IdentifierColumn:
			node = pq.Optional(pq.String())
		case !c.IsNumber():
			node = pq.Encoded(pq.String(), &pq.RLEDictionary)
			for _, level := range c.Levels() {
				out.levels[j] = append(out.levels[j], pq.ByteArrayValue([]byte(level)))
			}
		case c.Kind() == records.IntegerColumn:
			node = pq.Leaf(pq.Int64Type)
		default:
			node = pq.Leaf(pq.DoubleType)
		}
		if c.HasMissing() {
			node = pq.Optional(node)
		}
		root.Group[c.Name()] = node
		root.fields = append(root.fields, field{node, c.Name()})
	}
	out.file = pq.NewGenericWriter[any](w, pq.NewSchema("records", root),
		pq.Compression(&zstd.Codec{}))
	return out
}

// ordered is a group that keeps its columns in the order of the schema; parquet-go's own group
// sorts them by name.
type ordered struct {
	pq.Group
	fields []pq.Field
}

func (o ordered) Fields() []pq.Field { return o.fields }

type field struct {
	pq.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(f.name))
}

// write writes the rows of a frame, and begins a new row group whenever one is full.
func (w *writer) write(f *records.Frame) error {
	for lo := 0; lo < f.Len(); {
		hi := min(f.Len(), lo+w.size-w.rows)
		for j := range w.levels {
			if err := w.column(f, j, lo, hi); err != nil {
				return err
			}
		}
		if w.rows += hi - lo; w.rows == w.size {
			if err := w.file.Flush(); err != nil {
				return err
			}
			w.rows = 0
		}
		lo = hi
	}
	return nil
}

// column writes some rows of one column.
func (w *writer) column(f *records.Frame, j, lo, hi int) error {
	c := w.schema.Columns()[j]
	present := 0 // the definition level of a value that is not null
	if c.HasMissing() || c.Kind() == records.IdentifierColumn {
		present = 1
	}
	exactly := exact(f, c, j)
	w.buffer = w.buffer[:0]
	for i := lo; i < hi; i++ {
		v, level := pq.NullValue(), 0
		if exactly != nil {
			if exact, there := exactly(i); there {
				v, level = exact, present
			}
		} else if number := f.Number(i, j); c.IsNumber() && number == number {
			v, level = pq.DoubleValue(number), present
		} else if l := f.Level(i, j); l >= 0 {
			v, level = w.levels[j][l], present
		}
		w.buffer = append(w.buffer, v.Level(0, level, j))
	}
	_, err := w.file.ColumnWriters()[j].WriteRowValues(w.buffer)
	return err
}
