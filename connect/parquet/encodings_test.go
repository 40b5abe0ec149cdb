package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

var everyCodec = map[format.CompressionCodec]compress.Codec{
	format.Uncompressed: &pq.Uncompressed, format.Snappy: &snappy.Codec{},
	format.Gzip: &gzip.Codec{Level: 1}, format.Brotli: &brotli.Codec{Quality: 1},
	format.Zstd: &zstd.Codec{}}

// TestEveryEncodingComesBack reads columns of every type in every encoding, with and without
// missing values, in both versions of pages and with every compression, as other programs write
// them.
func TestEveryEncodingComesBack(t *testing.T) {
	const n = 1500
	columns := []struct {
		node      pq.Node
		encodings []encoding.Encoding
		to        func(name string) records.Column
		value     func(i int) (pq.Value, any)
	}{
		{pq.Leaf(pq.BooleanType), []encoding.Encoding{&pq.Plain, &pq.RLE},
			func(name string) records.Column { return records.Flag(name, "n", "y") },
			func(i int) (pq.Value, any) {
				return pq.BooleanValue(i%3 > 0), []string{"n", "y"}[min(i%3,
					1)]
			}},
		{pq.Leaf(pq.Int32Type), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary,
			&pq.DeltaBinaryPacked},
			func(name string) records.Column { return records.Integer(name, -1e6, 1e6) },
			func(i int) (pq.Value, any) { return pq.Int32Value(int32(500 - 7*i)), 500 - 7*i }},
		{pq.Leaf(pq.Int64Type), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary,
			&pq.DeltaBinaryPacked},
			func(name string) records.Column { return records.Numeric(name, -1e9, 1e9) },
			func(i int) (pq.Value, any) { return pq.Int64Value(int64(i * i)), float64(i * i) }},
		{pq.Leaf(pq.FloatType), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.ByteStreamSplit},
			func(name string) records.Column { return records.Numeric(name, -1e9, 1e9) },
			func(i int) (pq.Value, any) { return pq.FloatValue(float32(i) / 4), float64(i) / 4 }},
		{pq.Leaf(pq.FloatType), []encoding.Encoding{&pq.Plain},
			func(name string) records.Column { return records.Categorical(name, "0.1", "2", "-7.25") },
			func(i int) (pq.Value, any) {
				return pq.FloatValue([]float32{0.1, 2, -7.25}[i%3]), []string{"0.1", "2", "-7.25"}[i%3]
			}},
		{pq.Leaf(pq.DoubleType), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.ByteStreamSplit},
			func(name string) records.Column { return records.Numeric(name, -1e9, 1e9) },
			func(i int) (pq.Value, any) { return pq.DoubleValue(float64(i) / 3), float64(i) / 3 }},
		{pq.Uint(32), []encoding.Encoding{&pq.Plain},
			func(name string) records.Column { return records.Categorical(name, "4294967295", "1") },
			func(i int) (pq.Value, any) {
				return pq.Int32Value(int32(2*(i%2) - 1)), []string{"4294967295", "1"}[i%2]
			}},
		{pq.Decimal(2, 9, pq.Int32Type), []encoding.Encoding{&pq.Plain},
			func(name string) records.Column { return records.Categorical(name, "0.05", "-1.5", "3") },
			func(i int) (pq.Value, any) {
				return pq.Int32Value([]int32{5, -150, 300}[i%3]), []string{"0.05", "-1.5", "3"}[i%3]
			}},
		{pq.String(), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.DeltaLengthByteArray,
			&pq.DeltaByteArray},
			func(name string) records.Column {
				return records.Categorical(name, "a", "abc", "b",
					"abcdefg")
			},
			func(i int) (pq.Value, any) {
				text := []string{"a", "abc", "b", "abcdefg"}[i*i%7%4]
				return pq.ByteArrayValue([]byte(text)), text
			}},
		{pq.Leaf(pq.FixedLenByteArrayType(3)), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary,
			&pq.DeltaByteArray},
			func(name string) records.Column { return records.Categorical(name, "abc", "abd") },
			func(i int) (pq.Value, any) {
				text := []string{"abc", "abd"}[i%2]
				return pq.FixedLenByteArrayValue([]byte(text)), text
			}},
	}
	root := pq.Group{}
	var schema []records.Column
	var values []func(i int) (pq.Value, any)
	for i, c := range columns {
		for j, enc := range c.encodings {
			for _, missing := range []bool{false, true} {
				node, value := pq.Encoded(c.node, enc), c.value
				name := fmt.Sprintf("c%02d %d %t", i, j, missing)
				to := c.to(name)
				if missing {
					node, to = pq.Optional(node), to.WithMissing()
					value = func(i int) (pq.Value, any) {
						if i%5 == 0 || i > 900 && i < 1300 {
							return pq.NullValue(), nil
						}
						return c.value(i)
					}
				}
				root[name], schema, values = node, append(schema, to), append(values, value)
			}
		}
	}
	s := must(records.NewSchema(schema...))(t)
	rows, want := make([]pq.Row, n), make([][]any, n)
	for i := range n {
		for j, value := range values {
			v, cell := value(i)
			level := 0
			if schema[j].HasMissing() && !v.IsNull() {
				level = 1
			}
			rows[i], want[i] = append(rows[i], v.Level(0, level, j)), append(want[i], cell)
		}
	}
	cells := cellsOf(must(records.FromValues(s, want...))(t))
	for number, codec := range everyCodec {
		for version := 1; version <= 2; version++ {
			for _, page := range []int{600, 1 << 20} {
				var file bytes.Buffer
				w := pq.NewGenericWriter[any](&file, pq.NewSchema("rows", root), pq.Compression(codec),
					pq.DataPageVersion(version), pq.PageBufferSize(page))
				must(w.WriteRows(rows[:1000]))(t)
				if err := w.Flush(); err != nil { // of the first row group
					t.Fatal(err)
				}
				must(w.WriteRows(rows[1000:]))(t)
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%v, version %d, pages of %d bytes", number, version, page)
				f, err := read(file.Bytes(), s)
				if err != nil {
					t.Errorf("%s: %v", what, err)
				} else if got := cellsOf(f); got != cells {
					t.Errorf("%s: the cells differ:\n%.1000s\nwant\n%.1000s", what, got, cells)
				}
			}
		}
	}
}

// TestExactLimits reads a file of two row groups within limits that it just meets, and by no door
// with smaller ones.
func TestExactLimits(t *testing.T) {
	var data bytes.Buffer
	w := pq.NewGenericWriter[any](&data, pq.NewSchema("rows", pq.Group{"a": pq.Leaf(pq.Int64Type),
		"b": pq.Optional(pq.String())}))
	for n := range 5000 {
		must(w.WriteRows([]pq.Row{{pq.Int64Value(int64(n*n)).Level(0, 0, 0),
			pq.ByteArrayValue([]byte{'x'}).Level(0, 1, 1)}}))(t)
		if n == 3000 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := data.Bytes()
	s := must(records.NewSchema(records.Integer("a", 0, 1e9), records.Categorical("b", "x",
		"y").WithMissing()))(t)
	f := must(pq.OpenFile(bytes.NewReader(file), int64(len(file))))(t)
	unpacked, rows, largest := int64(0), int64(0), int64(0)
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			unpacked += c.MetaData.TotalUncompressedSize
		}
		rows, largest = rows+g.NumRows, max(largest, g.NumRows)
	}
	columns := int64(len(s.Columns()))
	frame := func(l records.Limits) error { _, err := read(file, s, l); return err }
	groups := func(l records.Limits) error {
		for _, err := range parquet.Groups(bytes.NewReader(file), int64(len(file)), s, 2, l) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	stream := func(l records.Limits) error {
		for _, err := range parquet.Stream(bytes.NewReader(file), int64(len(file)), s, 700, l) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		door  string
		read  func(l records.Limits) error
		limit string
		most  int64
	}{{"frame", frame, "UnpackedBytes", unpacked}, {"groups", groups, "UnpackedBytes", unpacked},
		{"stream", stream, "UnpackedBytes", unpacked}, {"frame", frame, "Values", rows * columns},
		{"groups", groups, "Values", largest * columns}} {
		at := func(most int64) error {
			if c.limit == "Values" {
				return c.read(records.Limits{Values: most, UnpackedBytes: 1 << 30})
			}
			return c.read(records.Limits{UnpackedBytes: most, Values: 1 << 30})
		}
		if err := at(c.most); err != nil {
			t.Errorf("%s of %d, as in the file, for %s: %v", c.limit, c.most, c.door, err)
		}
		over := new(records.LimitError)
		if err := at(c.most - 1); !errors.As(err, &over) || over.Limit != c.limit {
			t.Errorf("%s below %d for %s: %v", c.limit, c.most, c.door, err)
		}
	}
}

// TestPagesStateTheirSizes reads a page that states just what it holds, in every compression, and
// refuses one that states a byte or a value less or more.
func TestPagesStateTheirSizes(t *testing.T) {
	text := []byte{1, 0, 0, 0, 'a'}
	s := must(records.NewSchema(records.Categorical("c", "a", "b")))(t)
	for number, codec := range everyCodec {
		body := levels(3, bytes.Repeat(text, 3)...)
		packed := body
		if number != format.Uncompressed {
			packed = must(codec.Encode(nil, body))(t)
		}
		file := func(size, values, room int) []byte {
			p := dataPage(int32(values), int32(size), format.Plain, packed)
			return crafted(t, format.ByteArray, number, int64(2*values), func(m *format.FileMetaData) {
				m.RowGroups[0].Columns[0].MetaData.TotalUncompressedSize = int64(room)
			}, p, p)
		}
		n := len(body)
		if f, err := read(file(n, 3, 2*n), s); err != nil || f.Len() != 6 {
			t.Errorf("%v: a sound page: %v", number, err)
		}
		for what, bad := range map[string][]byte{"a smaller size": file(n-1, 3, 2*n),
			"fewer values": file(n, 2, 2*n), "more values": file(n, 4, 2*n),
			"less room than pages": file(n, 3, 2*n-1), "a negative size": file(-1, 3, 2*n)} {
			if number == format.Uncompressed && what == "a smaller size" {
				continue // nothing is unpacked
			}
			if _, err := read(bad, s); !errors.Is(err, records.ErrFormat) {
				t.Errorf("%v: a page of %s: %v", number, what, err)
			}
		}
	}
}

// TestFootersOfNothing: a file without room for a footer, of another format, or whose footer is
// longer than itself is refused, and one that fails while it is read returns that error.
func TestFootersOfNothing(t *testing.T) {
	s := people(t)
	whole := written(t, drawn(t, s, 3))
	n := len(whole)
	long := binary.LittleEndian.AppendUint32(bytes.Clone(whole[:n-8]), uint32(n-7))
	for what, data := range map[string][]byte{"nothing": nil, "too short": whole[n-15:],
		"another format": append(bytes.Clone(whole[:n-4]), "PAR2"...),
		"a long footer":  append(long, "PAR1"...),
		"the most":       append(append(bytes.Clone(whole[:n-8]), 255, 255, 255, 255), "PAR1"...)} {
		if _, err := read(data, s); !errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	reads := 0
	for at := int64(0); ; at++ {
		r := &failingReader{bytes.NewReader(whole), at}
		_, err := parquet.ReadFrame(r, int64(n), s)
		if r.left >= 0 {
			break
		}
		if reads++; err == nil {
			t.Errorf("read %d fails, and the file is read", at)
		}
	}
	if reads < 5 {
		t.Errorf("the file is read in %d pieces", reads)
	}
}

// failingReader fails once.
type failingReader struct {
	*bytes.Reader
	left int64
}

func (r *failingReader) ReadAt(b []byte, at int64) (int, error) {
	if r.left--; r.left == -1 {
		return 0, errors.New("the disk fails")
	}
	return r.Reader.ReadAt(b, at)
}

// TestUnsignedAndLargeNumbers reads whole numbers at the ends of 64 bits.
func TestUnsignedAndLargeNumbers(t *testing.T) {
	root := pq.Group{"a": pq.Uint(64), "b": pq.Uint(64), "c": pq.Decimal(0, 18, pq.Int64Type)}
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, pq.NewSchema("rows", root))
	var rows []pq.Row
	for _, v := range []int64{-1, math.MinInt64, math.MaxInt64, 0} {
		rows = append(rows, pq.Row{pq.Int64Value(v).Level(0, 0, 0), pq.Int64Value(v).Level(0, 0, 1),
			pq.Int64Value(v).Level(0, 0, 2)})
	}
	must(w.WriteRows(rows))(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := must(records.NewSchema(records.Integer("a", 0, 1<<61),
		records.Categorical("b", "18446744073709551615", "9223372036854775808", "9223372036854775807",
			"0"), records.Integer("c", -1<<61, 1<<61)))(t)
	const want = `{"a":2305843009213693952,"b":"18446744073709551615","c":-1}
{"a":2305843009213693952,"b":"9223372036854775808","c":-2305843009213693952}
{"a":2305843009213693952,"b":"9223372036854775807","c":2305843009213693952}
{"a":0,"b":"0","c":0}
`
	if got := cellsOf(must(read(file.Bytes(), s))(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBombsOfEncodings: pages that are small by their encoding, and hold gigabytes, are refused
// without them: a run of bools, and texts that repeat a long one.
func TestBombsOfEncodings(t *testing.T) {
	run := append(binary.AppendUvarint(nil, 1<<32), 1) // 2³¹ times true
	bools := append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	page := dataPage(1, int32(len(bools)), format.RLE, levels(1, bools...))
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, pq.NewSchema("rows", pq.Group{"c": pq.Encoded(pq.String(),
		&pq.DeltaByteArray)}), pq.PageBufferSize(1<<30))
	long := bytes.Repeat([]byte("a"), 5_000) // no longer than statistics in the header of a page
	for range 6_000 {                        // 30 MB
		must(w.WriteRows([]pq.Row{{pq.ByteArrayValue(long).Level(0, 0, 0)}}))(t)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	flag := must(records.NewSchema(records.Flag("c", "n", "y")))(t)
	text := must(records.NewSchema(records.Categorical("c", "a", "b")))(t)
	for what, c := range map[string]struct {
		file   []byte
		schema records.Schema
	}{"bools": {crafted(t, format.Boolean, format.Uncompressed, 1, nil, page), flag},
		"prefixes": {file.Bytes(), text}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(c.file, c.schema)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.Is(err, records.ErrFormat) ||
			took > 16 {
			t.Errorf("%s: %d bytes take %d MB: %v", what, len(c.file), took, err)
		}
	}
}

// TestWritersThatFail lets a writer fail after every few bytes, with rows of two row groups: each
// failure is an error.
func TestWritersThatFail(t *testing.T) {
	s := must(records.NewSchema(records.Flag("a", "n", "y"), records.Integer("b", 0, 1<<40)))(t)
	whole := make([]int64, 1<<17+5)
	for i := range whole {
		whole[i] = int64(i) * 7919 % (1 << 30)
	}
	f := must(records.FromColumns(s, records.Values{Codes: make([]int32, len(whole)),
		Dictionary: []string{"y"}}, records.Values{Whole: whole}))(t)
	size := len(written(t, f))
	for room := 0; room < size; room += 1 + size/4 {
		err := parquet.WriteFrames(&limited{room}, s, parts(f, f.Slice(0, 3)))
		if !errors.Is(err, errRoom) {
			t.Errorf("room for %d of %d bytes: %v", room, size, err)
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
