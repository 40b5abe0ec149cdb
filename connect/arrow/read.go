package arrow

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Stream reads the records of an IPC stream or file, one frame for each batch. Its memory does not
// grow with the number of batches. It ends after the first error.
//
// Errors: [records.ErrFormat] for a damaged stream, and for a column that is absent, occurs twice
// or has an unsupported type; *[records.LimitError]; *[param.Error] for a schema that is not of a
// table; the reader's errors.
func Stream(r io.Reader, s records.Schema,
	limits ...records.Limits) iter.Seq2[*records.Frame, error] {
	return func(yield func(*records.Frame, error) bool) {
		in, err := open(r, s, limits)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.reader.Release()
		for {
			f, err := in.next()
			if f == nil && err == nil || !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// ReadFrame reads all records of an IPC stream or file.
//
// Errors: see [Stream].
func ReadFrame(r io.Reader, s records.Schema, limits ...records.Limits) (*records.Frame, error) {
	var parts []records.Data
	for f, err := range Stream(r, s, limits...) {
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	if len(parts) == 1 {
		return parts[0].(*records.Frame), nil
	}
	if len(parts) == 0 {
		return records.FromValues(s)
	}
	all, err := records.Concat(s, parts...)
	if err != nil {
		return nil, err
	}
	f, ok := records.AsFrame(all)
	if !ok {
		return nil, param.New("arrow.ReadFrame", fmt.Sprintf("%T", all), "records of a table")
	}
	return f, nil
}

// OpenFrame is [ReadFrame] on a file.
func OpenFrame(path string, s records.Schema, limits ...records.Limits) (*records.Frame, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	defer f.Close()
	return ReadFrame(f, s, limits...)
}

// FromRecord returns a frame of a record batch. The frame may share memory with the batch: the
// batch is retained and never released, and must not be written to.
//
// Errors: see [Stream] for its errors about columns.
func FromRecord(batch aw.RecordBatch, s records.Schema) (f *records.Frame, err error) {
	defer rescue(&err)
	if batch == nil {
		return nil, param.New("arrow.FromRecord.batch", nil, "a record batch")
	}
	places, err := find(batch.Schema(), s)
	if err != nil {
		return nil, err
	}
	batch.Retain()
	return frame(batch, s, places)
}

// input is a stream being read.
type input struct {
	schema   records.Schema
	messages *messages
	memory   *budget
	reader   *ipc.Reader
	places   []int
	values   int64
}

func open(r io.Reader, s records.Schema, limits []records.Limits) (in *input, err error) {
	if _, err := records.NewFrameBuilder(s); err != nil { // for its errors about the schema
		return nil, err
	}
	if r == nil {
		return nil, param.New("arrow.Stream.reader", nil, "a stream")
	}
	var l records.Limits
	if len(limits) > 0 {
		l = limits[len(limits)-1]
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(r)
	if head, _ := buffered.Peek(len(magic)); string(head) == magic {
		_, _ = buffered.Discard(len(magic))
	}
	in = &input{schema: s, messages: &messages{r: buffered, limits: l}}
	in.memory = &budget{Allocator: memory.NewGoAllocator(), in: in.messages}
	defer in.rescue(&err)
	in.reader, err = ipc.NewReaderFromMessageReader(in.messages, ipc.WithAllocator(in.memory))
	if err != nil {
		return nil, in.damaged()
	}
	if in.places, err = find(in.reader.Schema(), s); err != nil {
		in.reader.Release()
		return nil, err
	}
	return in, nil
}

// next returns the frame of the next batch, nil at the end.
func (in *input) next() (f *records.Frame, err error) {
	defer in.rescue(&err)
	if !in.reader.Next() {
		if in.reader.Err() != nil || in.messages.failed != nil {
			return nil, in.damaged()
		}
		return nil, nil
	}
	batch := in.reader.RecordBatch()
	in.values += batch.NumRows() * int64(len(in.places))
	if rows := batch.NumRows(); rows < 0 || rows > 1<<31-1 ||
		in.values > in.messages.limits.ValuesFor(in.messages.read) {
		return nil, &records.LimitError{Limit: "Values",
			What: "the stream holds more values than the limit allows"}
	}
	return frame(batch, in.schema, in.places)
}

// damaged returns the reason why a stream cannot be read. It omits the text of arrow-go's error,
// which may contain data from the stream.
func (in *input) damaged() error {
	switch {
	case in.messages.failed != nil:
		return fmt.Errorf("arrow: reading: %w", in.messages.failed)
	case in.messages.exceeded:
		return &records.LimitError{Limit: "UnpackedBytes",
			What: "the stream unpacks to more bytes than the limit allows"}
	}
	return malformed("the stream is damaged")
}

func (in *input) rescue(err *error) {
	if recover() != nil {
		*err = in.damaged()
	}
}

// rescue turns a panic over a damaged batch into an error.
func rescue(err *error) {
	if recover() != nil {
		*err = malformed("the batch is damaged")
	}
}

// find returns the index of each of the schema's columns in the file, -1 for identifiers.
func find(have *aw.Schema, s records.Schema) (places []int, err error) {
	if _, err := records.NewFrameBuilder(s); err != nil {
		return nil, err
	}
	for _, c := range s.Columns() {
		if c.Kind() == records.IdentifierColumn { // identifiers are never read
			places = append(places, -1)
			continue
		}
		found := have.FieldIndices(c.Name())
		switch {
		case len(found) == 0:
			return nil, malformed("no column is named %q; there are %s", c.Name(), fieldNames(have))
		case len(found) > 1:
			return nil, malformed("%d columns are named %q: want one", len(found), c.Name())
		}
		if err := readable(have.Field(found[0]).Type, c); err != nil {
			return nil, err
		}
		places = append(places, found[0])
	}
	return places, nil
}

// fieldNames lists the columns of a file.
func fieldNames(have *aw.Schema) string {
	var names []string
	for _, field := range have.Fields() {
		names = append(names, fmt.Sprintf("%q", field.Name))
	}
	return strings.Join(names, ", ")
}

// frame reads a batch.
func frame(batch aw.RecordBatch, s records.Schema, places []int) (*records.Frame, error) {
	values := make([]records.Values, len(places))
	for j, c := range s.Columns() {
		if places[j] < 0 {
			values[j] = records.Values{Whole: make([]int64, batch.NumRows())}
			continue
		}
		column := batch.Column(places[j])
		if int64(column.Len()) != batch.NumRows() {
			return nil, malformed("column %q has more or fewer values than the batch has rows", c.Name())
		}
		values[j] = read(column, c)
	}
	return records.FromColumns(s, values...)
}
