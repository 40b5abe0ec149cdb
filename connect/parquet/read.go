package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ReadFrame reads all records of a table. It reads one row group for each processor concurrently.
//
// Errors: [records.ErrFormat] for a damaged file, and for a column that is absent, there twice,
// nested or has an unsupported type; *[records.LimitError]; *[param.Error] for a schema that is not
// of a table.
func ReadFrame(r io.ReaderAt, size int64, s records.Schema,
	limits ...records.Limits) (*records.Frame, error) {
	in, err := open("parquet.ReadFrame", r, size, s, limits)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if allowed := last(limits).ValuesFor(size); in.rows > allowed/max(1, int64(len(in.columns))) {
		return nil, &records.LimitError{Limit: "Values",
			What: "the file holds more values than the limit allows"}
	}
	return in.all(runtime.GOMAXPROCS(0))
}

// OpenFrame is [ReadFrame] on a file.
func OpenFrame(path string, s records.Schema, limits ...records.Limits) (*records.Frame, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return ReadFrame(f, info.Size(), s, limits...)
}

// Stream reads records of a table in frames of the given number of rows; the last frame may have
// fewer. Its memory does not grow with the file. It ends after the first error. For its errors, see
// [ReadFrame].
func Stream(r io.ReaderAt, size int64, s records.Schema, rows int,
	limits ...records.Limits) iter.Seq2[*records.Frame, error] {
	return func(yield func(*records.Frame, error) bool) {
		if rows < 1 {
			yield(nil, param.New("parquet.Stream rows", rows, "a positive number"))
			return
		}
		in, err := open("parquet.Stream", r, size, s, limits)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.close()
		for in.rows > 0 {
			f, err := in.next(int(min(int64(rows), in.rows)))
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

func last(limits []records.Limits) records.Limits {
	if len(limits) == 0 {
		return records.Limits{}
	}
	return limits[len(limits)-1]
}

// codecs lists the supported compressions. It omits LZ4, since parquet-go allocates memory without
// bound for a damaged LZ4 page.
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip,
	format.Brotli, format.Zstd}

// input is a file being read.
type input struct {
	schema  records.Schema
	columns []*column
	places  []int   // for each of the schema's columns its index in columns, -1 if it is not read
	rows    int64   // rows that have not been read
	sizes   []int64 // rows of each group
}

// open finds the schema's columns in a file. caller names the exported function in errors.
func open(caller string, r io.ReaderAt, size int64, s records.Schema,
	limits []records.Limits) (in *input, err error) {
	defer rescue(&err)
	if _, err := records.NewFrameBuilder(s); err != nil { // for its errors about the schema
		return nil, err
	}
	if r == nil {
		return nil, param.New(caller+".reader", nil, "a file")
	}
	b := boundsOf(r, size, last(limits))
	if err := checkFooter(b); err != nil {
		return nil, err
	}
	f, err := pq.OpenFile(r, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		// The text is omitted, since a footer holds the smallest and largest values of columns.
		return nil, malformed("the footer is damaged")
	}
	in = &input{schema: s}
	for _, c := range s.Columns() {
		if c.Kind() == records.IdentifierColumn { // identifiers are never read
			in.places = append(in.places, -1)
			continue
		}
		in.places = append(in.places, len(in.columns))
		found, err := find(f, c)
		if err != nil {
			return nil, err
		}
		found.bounds = b
		in.columns = append(in.columns, found)
	}
	unpacked := int64(0)
	for i, group := range f.RowGroups() {
		chunks := group.ColumnChunks()
		for _, c := range in.columns {
			if c.leaf >= len(chunks) || chunks[c.leaf].NumValues() != group.NumRows() ||
				group.NumRows() < 0 || group.NumRows() > math.MaxInt64-in.rows {
				return nil, malformed(fmt.Sprintf("row group %d: column %q has more or fewer values than the group has rows",
					i, c.name))
			}
			meta := &f.Metadata().RowGroups[i].Columns[c.leaf].MetaData
			c.chunks = append(c.chunks, chunk{chunks[c.leaf], meta})
			if !slices.Contains(codecs, meta.Codec) {
				return nil, malformed(fmt.Sprintf("column %q is compressed by %v, which is not read", c.name,
					meta.Codec))
			}
			bytes := max(meta.TotalUncompressedSize, 0)
			if unpacked += min(bytes, b.unpacked+1); unpacked > b.unpacked {
				return nil, &records.LimitError{Limit: "UnpackedBytes",
					What: "the file unpacks to more bytes than the limit allows"}
			}
		}
		in.rows += group.NumRows()
		in.sizes = append(in.sizes, group.NumRows())
	}
	return in, nil
}

// tailBytes is the number of bytes at the end of a file: the length of its footer, and a magic
// number.
const tailBytes = 8

// checkFooter returns an error if the footer is longer than the file or takes too much memory,
// before memory is allocated for it.
func checkFooter(b bounds) error {
	if b.size < 2*tailBytes {
		return malformed("the file is too short")
	}
	var tail [tailBytes]byte
	if _, err := b.file.ReadAt(tail[:], b.size-tailBytes); err != nil && err != io.EOF {
		return fmt.Errorf("parquet: reading: %w", err)
	}
	if magic := string(tail[4:]); magic != "PAR1" {
		return malformed("the file does not end like a Parquet file")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > b.size-tailBytes {
		return malformed("the footer is longer than the file")
	}
	footer := make([]byte, length)
	if _, err := b.file.ReadAt(footer, b.size-tailBytes-length); err != nil && err != io.EOF {
		return fmt.Errorf("parquet: reading: %w", err)
	}
	return b.footer(footer)
}

// next returns the frame of the next rows.
func (in *input) next(rows int) (f *records.Frame, err error) {
	defer rescue(&err)
	values := make([]records.Values, len(in.places))
	for j, place := range in.places {
		if place < 0 {
			values[j] = records.Values{Whole: make([]int64, rows)}
			continue
		}
		if values[j], err = in.columns[place].read(rows); err != nil {
			return nil, err
		}
	}
	in.rows -= int64(rows)
	return records.FromColumns(in.schema, values...)
}

func (in *input) close() {
	for _, c := range in.columns {
		c.close()
	}
}

// find returns the flat column with a name, which no other column may have.
func find(f *pq.File, c records.Column) (*column, error) {
	fields := f.Root().Columns()
	named := func(field *pq.Column) bool { return field.Name() == c.Name() }
	if at := slices.IndexFunc(fields, named); at >= 0 {
		field := fields[at]
		if slices.ContainsFunc(fields[at+1:], named) {
			return nil, malformed(fmt.Sprintf("two columns are named %q", c.Name()))
		}
		if !field.Leaf() || field.Repeated() {
			return nil, malformed(fmt.Sprintf("column %q is nested", c.Name()))
		}
		convert, err := converter(field, c)
		if err != nil {
			return nil, err
		}
		return &column{name: c.Name(), leaf: field.Index(), convert: convert, form: convert.form(c),
			width: field.Type().Length(), optional: field.Optional()}, nil
	}
	var names []string
	for _, field := range fields {
		names = append(names, fmt.Sprintf("%q", field.Name()))
	}
	return nil, malformed(fmt.Sprintf("no column is named %q; there are %s", c.Name(),
		strings.Join(names, ", ")))
}

// malformed returns a [records.ErrFormat].
func malformed(what string) error { return fmt.Errorf("%w: parquet: %s", records.ErrFormat, what) }

// rescue turns a panic of parquet-go about a damaged file into an error. It omits the text of the
// panic, which may contain data from the file.
func rescue(err *error) {
	if recover() != nil {
		*err = malformed("the file is damaged")
	}
}

// damaged returns the error for a page that parquet-go cannot read. It omits the text of
// parquet-go's error, which may contain data from the file.
func damaged(name string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed(fmt.Sprintf("column %q ends too early", name))
	}
	return malformed(fmt.Sprintf("column %q is damaged", name))
}
