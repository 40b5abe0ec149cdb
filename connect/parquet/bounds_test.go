package parquet_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// crafted returns a file of one column "c" that has the given pages. edit, if not nil, changes its
// description.
func crafted(t *testing.T, kind format.Type, codec format.CompressionCodec, rows int64,
	edit func(*format.FileMetaData), pages ...page) []byte {
	t.Helper()
	out := []byte("PAR1")
	for _, p := range pages {
		p.header.CompressedPageSize = max(p.header.CompressedPageSize, int32(len(p.body)))
		out = append(out, must(thrift.Marshal(&thrift.CompactProtocol{}, p.header))(t)...)
		out = append(out, p.body...)
	}
	size := int64(len(out) - 4)
	column := format.ColumnMetaData{Type: kind, Codec: codec, PathInSchema: []string{"c"},
		Encoding: []format.Encoding{format.Plain}, NumValues: rows, DataPageOffset: 4,
		TotalCompressedSize: size, TotalUncompressedSize: 8 << 20}
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.Set(1)
	leaf := format.SchemaElement{Name: "c"}
	leaf.Type.Set(kind)
	leaf.RepetitionType.Set(format.Optional)
	leaf.TypeLength.Set(1 << 30)
	m := format.FileMetaData{Version: 1, Schema: []format.SchemaElement{root, leaf}, NumRows: rows,
		RowGroups: []format.RowGroup{{NumRows: rows, TotalByteSize: size,
			Columns: []format.ColumnChunk{{MetaData: column}}}}}
	if edit != nil {
		edit(&m)
	}
	footer := must(thrift.Marshal(&thrift.CompactProtocol{}, m))(t)
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

type page struct {
	header format.PageHeader
	body   []byte
}

// dataPage returns a page of n values. plain is the size that it states.
func dataPage(n, plain int32, enc format.Encoding, body []byte) page {
	p := page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: plain}, body}
	p.header.DataPageHeader.Set(format.DataPageHeader{NumValues: n, Encoding: enc,
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
	return p
}

// levels returns the levels of n values that are all there, before the values.
func levels(n uint64, values ...byte) []byte {
	run := append(binary.AppendUvarint(nil, n<<1), 1)
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...), values...)
}

// TestStatedSizesAreChecked checks that a small file whose lengths and counts state gigabytes is
// refused without them. parquet-go allocates what each of them states, or prints it.
func TestStatedSizesAreChecked(t *testing.T) {
	const most = math.MaxInt32
	zeros := make([]byte, 64<<20)
	packed := func(c compress.Codec) []byte { return must(c.Encode(nil, zeros))(t) }
	huge := binary.AppendUvarint(nil, most)
	head := append(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), huge...)
	text := []byte{1, 0, 0, 0, 'a'}
	long := page{header: dataPage(1, 9, format.Plain, nil).header, body: levels(1, text...)}
	long.header.CompressedPageSize = most
	dictionary := page{format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 5}, text}
	dictionary.header.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: most})
	second := dataPage(most, 9, format.Plain, nil)
	second.header.DataPageHeader.V.NumValues, second.header.Type = 0, format.DataPageV2
	second.header.DataPageHeaderV2.Set(format.DataPageHeaderV2{NumValues: most,
		DefinitionLevelsByteLength: 7})
	second.body = levels(most)[4:]
	one := func(kind format.Type, codec format.CompressionCodec, p ...page) []byte {
		return crafted(t, kind, codec, 1, nil, p...)
	}
	const plain, texts, numbers = format.Uncompressed, format.ByteArray, format.Int64
	data := func(enc format.Encoding, values ...byte) page {
		return dataPage(1, 9, enc, levels(1, values...))
	}
	bomb := func(c compress.Codec) page { return dataPage(1, 9, format.Plain, packed(c)) }
	deltas := append(head, 0)
	for name, f := range map[string][]byte{
		"length of a page": one(texts, plain, long),
		"run of levels":    one(numbers, plain, dataPage(1, 9, format.Plain, levels(most))),
		"count of levels": crafted(t, numbers, plain, most, nil,
			dataPage(most, 9, format.Plain, levels(most))),
		"page of version 2": one(numbers, plain, second),
		"run of indices": one(texts, plain,
			data(format.RLEDictionary, 1, 0xfe, 0xff, 0xff, 0xff, 0xf, 0)),
		"entries of dictionary": one(texts, plain, dictionary, long),
		"deltas":                one(numbers, plain, data(format.DeltaBinaryPacked, deltas...)),
		"lengths":               one(texts, plain, data(format.DeltaLengthByteArray, deltas...)),
		"prefixes":              one(texts, plain, data(format.DeltaByteArray, deltas...)),
		"width": one(format.FixedLenByteArray, plain,
			data(format.ByteStreamSplit, text...)),
		"too many texts": one(texts, plain, data(format.Plain, append(text, text...)...)),
		"gzip":           one(numbers, format.Gzip, bomb(&gzip.Codec{Level: 9})),
		"zstd":           one(numbers, format.Zstd, bomb(&zstd.Codec{})),
		"brotli":         one(numbers, format.Brotli, bomb(&brotli.Codec{Quality: 5})),
		"snappy": one(numbers, format.Snappy, dataPage(1, most, format.Plain,
			append(huge, packed(&snappy.Codec{})[5:1000]...))),
		"columns of groups": crafted(t, numbers, plain, 1, func(m *format.FileMetaData) {
			m.RowGroups[0].Columns = append(m.RowGroups[0].Columns,
				make([]format.ColumnChunk, 60_000)...)
		}),
		"rows of groups": crafted(t, numbers, plain, math.MaxInt64,
			func(m *format.FileMetaData) { m.RowGroups = append(m.RowGroups, m.RowGroups...) }),
		"statistics": one(numbers, plain, page{body: append([]byte{0x15, 0, 0x15, 18, 0x15, 18, 0x2c,
			0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18}, huge...)}),
	} {
		s := must(records.NewSchema(records.Categorical("c", "a", "b")))(t)
		for door, read := range map[string]func() error{
			"frame": func() error { _, err := read(f, s); return err },
			"stream": func() error {
				for _, err := range parquet.Stream(bytes.NewReader(f), int64(len(f)), s, 100) {
					return err
				}
				return nil
			},
			"groups": func() error {
				for _, err := range parquet.Groups(bytes.NewReader(f), int64(len(f)), s, 1) {
					return err
				}
				return nil
			},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			err := read()
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || mb > 32 {
				t.Errorf("%s, %s: %d bytes take %d MB and %v: %v", name, door, len(f), mb,
					time.Since(start), err)
			}
		}
	}
	whole := crafted(t, format.ByteArray, format.Uncompressed, 1, nil,
		dataPage(1, 20, format.Plain, levels(1, text...)))
	s := must(records.NewSchema(records.Categorical("c", "a", "b")))(t)
	if f, err := read(whole, s); err != nil || f.Len() != 1 {
		t.Errorf("a sound crafted file: %v", err)
	}
}
