package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/records"
)

// parquet-go allocates what the counts and lengths of a file state, wherever they stand: in the
// footer, in the headers of pages, in compressed blocks, and in the runs and deltas of a page. This
// file reads all of them first, and compares them with the limits.

const (
	pageHeader  = 64 << 10 // the largest header of a page, with its statistics
	nestedDepth = 16       // of the structures of a footer and a header
	footerEntry = int64(2 * unsafe.Sizeof(format.ColumnChunk{}))
	slackValues = 1 << 10 // values that may pad the last run of a page
)

// bounds are the limits for the pages of one file.
type bounds struct {
	file     io.ReaderAt
	size     int64
	unpacked int64 // bytes
	values   int64
}

func boundsOf(r io.ReaderAt, size int64, l records.Limits) bounds {
	return bounds{file: r, size: size, unpacked: l.UnpackedFor(size), values: l.ValuesFor(size)}
}

// footer returns an error if the structures that the footer describes take more memory than the
// file may.
func (b bounds) footer(text []byte) error {
	s := skimmer{b: text}
	s.structure(0)
	if s.damaged {
		return malformed("the footer is damaged")
	}
	if s.entries > max(b.unpacked, b.size)*2/footerEntry {
		return &records.LimitError{Limit: "UnpackedBytes",
			What: "the footer describes more columns and row groups than the limit allows"}
	}
	return nil
}

// chunk returns an error if reading a column chunk takes more memory than the file may.
func (b bounds) chunk(name string, m *format.ColumnMetaData, width int, optional bool) error {
	start := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		start = m.DictionaryPageOffset
	}
	length := m.TotalCompressedSize
	if start < 0 || length < 0 || start > b.size || length > b.size-start {
		return damaged(name, io.EOF)
	}
	c := chunkBounds{bounds: b, meta: m, width: 8, optional: optional,
		room: m.TotalUncompressedSize, scratch: buffers.Get().(*scratch)}
	defer buffers.Put(c.scratch)
	if m.Type == format.FixedLenByteArray {
		c.width = int64(width)
	}
	c.in.Reset(io.NewSectionReader(b.file, start, length))
	for left := length; left > 0; {
		n, err := c.page(left)
		if err != nil {
			return damaged(name, err)
		}
		left -= n
	}
	return nil
}

// chunkBounds checks the pages of a column chunk.
type chunkBounds struct {
	bounds
	meta     *format.ColumnMetaData
	width    int64 // bytes of a value of fixed length
	optional bool
	room     int64 // bytes that further pages may unpack to
	shared   int64 // bytes that values repeat from the value before, so far
	*scratch
}

// scratch is memory that is used again: a file may have many small chunks and pages.
type scratch struct {
	in            *bufio.Reader
	packed, plain []byte
	gzip          gzip.Reader
	brotli        brotli.Reader
}

var buffers = sync.Pool{New: func() any {
	return &scratch{in: bufio.NewReaderSize(nil, pageHeader)}
}}

// unpackZstd never writes beyond the capacity of its destination.
var unpackZstd = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

// page checks the next page and returns its length, with its header.
func (c *chunkBounds) page(left int64) (int64, error) {
	head, err := c.in.Peek(int(min(left, pageHeader)))
	if err != nil {
		return 0, err
	}
	s := skimmer{b: head}
	s.structure(0)
	var h format.PageHeader
	if s.damaged || thrift.Unmarshal(&thrift.CompactProtocol{}, head[:s.at], &h) != nil {
		return 0, errPage
	}
	packed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	n := int64(s.at) + packed
	if packed < 0 || plain < 0 || n > left || plain > c.room {
		return 0, errPage
	}
	c.room -= plain
	if _, err := c.in.Discard(s.at); err != nil {
		return 0, err
	}
	c.packed = slices.Grow(c.packed[:0], int(packed))[:packed]
	if _, err := io.ReadFull(c.in, c.packed); err != nil {
		return 0, err
	}
	return n, c.content(&h)
}

// errPage says that a page states more than it holds, or more than the limits allow.
var errPage = fmt.Errorf("a page states more than it holds")

// content checks what the page's bytes unpack to.
func (c *chunkBounds) content(h *format.PageHeader) error {
	page, levels, missing := c.packed, []byte(nil), int64(0)
	var count int64
	var enc format.Encoding
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		plain, err := c.unpack(page, h.UncompressedPageSize)
		if d := h.DictionaryPageHeader.V; err == nil && (d.Encoding != format.Plain &&
			d.Encoding != plainDictionary || c.texts(plain, int64(d.NumValues)) != nil) {
			err = errPage
		}
		return err
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		var err error
		if page, err = c.unpack(page, h.UncompressedPageSize); err != nil {
			return err
		}
		d := h.DataPageHeader.V
		count, enc = int64(d.NumValues), d.Encoding
		if c.optional {
			if len(page) < 4 || int64(len(page)-4) < int64(binary.LittleEndian.Uint32(page)) {
				return io.ErrUnexpectedEOF
			}
			at := 4 + int(binary.LittleEndian.Uint32(page))
			levels, page = page[4:at], page[at:]
			if d.DefinitionLevelEncoding != format.RLE {
				return errPage
			}
		}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		d := h.DataPageHeaderV2.V
		count, enc, missing = int64(d.NumValues), d.Encoding, int64(d.NumNulls)
		lo, at := int64(d.RepetitionLevelsByteLength),
			int64(d.RepetitionLevelsByteLength)+int64(d.DefinitionLevelsByteLength)
		if lo < 0 || at < lo || at > int64(len(page)) {
			return io.ErrUnexpectedEOF
		}
		if c.optional {
			levels = page[lo:at]
		}
		page = page[at:]
		if !d.IsCompressed.Valid || d.IsCompressed.V {
			var err error
			if page, err = c.unpack(page, h.UncompressedPageSize); err != nil {
				return err
			}
		}
	default:
		return errPage
	}
	if count < 0 || count > c.values || missing < 0 || missing > count {
		return errPage
	}
	if len(levels) > 0 {
		total, present, ok := runs(levels, 1, count)
		if !ok || total > count+slackValues || h.Type == format.DataPageV2 && present != count-missing {
			return errPage
		}
		missing = count - present
	}
	return c.encoded(enc, page, count-missing)
}

// unpack decompresses a page of a stated size.
func (c *chunkBounds) unpack(packed []byte, size int32) ([]byte, error) {
	var in io.Reader
	switch c.meta.Codec {
	case format.Uncompressed:
		return packed, nil
	case format.Snappy:
		n, err := snappy.DecodedLen(packed)
		if err != nil || n > int(size) {
			return nil, errPage
		}
		c.plain = slices.Grow(c.plain[:0], n)
		return snappy.Decode(c.plain[:n], packed)
	case format.Zstd:
		d, err := unpackZstd()
		if err != nil {
			return nil, err
		}
		c.plain = slices.Grow(c.plain[:0], int(size))
		return d.DecodeAll(packed, c.plain[:0:size])
	case format.Gzip:
		if err := c.gzip.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		in = &c.gzip
	default:
		if err := c.brotli.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		in = &c.brotli
	}
	out := bytes.NewBuffer(c.plain[:0])
	n, err := io.Copy(out, io.LimitReader(in, int64(size)+1))
	if c.plain = out.Bytes(); err == nil && n > int64(size) {
		err = errPage
	}
	return c.plain, err
}

// encoded checks the values of a data page. values is how many it states, without missing ones.
func (c *chunkBounds) encoded(enc format.Encoding, page []byte, values int64) error {
	wide := values * c.width
	ok := wide >= 0 && wide <= max(8*c.values, c.unpacked)
	switch enc {
	case format.Plain:
		return c.texts(page, values)
	case plainDictionary, format.RLEDictionary:
		if len(page) > 0 {
			total, _, whole := runs(page[1:], int(page[0]), values)
			ok = whole && total <= values+slackValues
		}
	case format.RLE:
		if len(page) > 4 {
			total, _, whole := runs(page[4:], 1, values)
			ok = ok && whole && total <= values+slackValues
		}
	case format.DeltaBinaryPacked:
		ok = ok && deltas(page) <= values
	case format.DeltaLengthByteArray:
		ok = ok && deltas(page) == values
	case format.DeltaByteArray:
		if !ok || deltas(page) != values {
			return errPage
		}
		prefixes, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, page)
		for _, n := range prefixes {
			c.shared += int64(n)
			ok = ok && n >= 0 && c.shared <= c.unpacked
		}
		return errIf(err != nil || !ok)
	case format.ByteStreamSplit:
		ok = ok && c.meta.Type != format.ByteArray
	default:
		ok = false
	}
	return errIf(!ok)
}

func errIf(bad bool) error {
	if bad {
		return errPage
	}
	return nil
}

// texts checks that a page in plain encoding holds the stated number of values.
func (c *chunkBounds) texts(page []byte, values int64) error {
	if c.meta.Type != format.ByteArray {
		width := map[format.Type]int64{format.Int32: 4, format.Float: 4, format.Int64: 8,
			format.Double: 8, format.Int96: 12, format.FixedLenByteArray: c.width}[c.meta.Type]
		return errIf(values < 0 || width > 0 && values > int64(len(page))/width ||
			values > 8*int64(len(page)))
	}
	for ; len(page) >= 4; values-- {
		n := int64(binary.LittleEndian.Uint32(page))
		if n > int64(len(page)-4) {
			return io.ErrUnexpectedEOF
		}
		page = page[4+n:]
	}
	return errIf(values != 0 || len(page) > 0)
}

// runs returns how many values the runs of Parquet's RLE hybrid hold, and how many of the first
// limit values of one bit are 1. ok is false if a run is cut off.
//
// Source: Parquet's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
func runs(b []byte, width int, limit int64) (total, ones int64, ok bool) {
	bytes := (width + 7) / 8
	for len(b) > 0 && total <= limit+slackValues {
		head, n := binary.Uvarint(b)
		if n <= 0 || head>>1 > 1<<32 {
			return 0, 0, false
		}
		if b = b[n:]; head == 0 && len(b) == 0 {
			break // how parquet-go writes a page without values
		}
		count, size := int64(head>>1), int64(bytes)
		if head&1 != 0 {
			count, size = 8*count, count*int64(width)
		}
		if size > int64(len(b)) {
			return 0, 0, false
		}
		ones += onesOf(b[:size], head&1 != 0, min(count, max(limit-total, 0)))
		total += count
		b = b[size:]
	}
	return total, ones, true
}

// onesOf counts the ones among the first n values of a run of values of one bit.
func onesOf(b []byte, packed bool, n int64) (ones int64) {
	if !packed {
		if len(b) == 1 && b[0] == 1 {
			return n
		}
		return 0
	}
	for i := int64(0); i < n && i/8 < int64(len(b)); i += 8 {
		ones += int64(bits.OnesCount8(b[i/8] & byte(1<<min(n-i, 8)-1)))
	}
	return ones
}

// deltas returns the number of values that the head of a block of deltas states, or -1.
//
// Source: Parquet's Encodings.md, "Delta Encoding".
func deltas(b []byte) int64 {
	var head [3]uint64
	for i := range head {
		n := 0
		if head[i], n = binary.Uvarint(b); n <= 0 || head[i] > 1<<31 {
			return -1
		}
		b = b[n:]
	}
	return int64(head[2])
}

// A skimmer reads a structure in Thrift's compact protocol without storing it.
//
// Source: Thrift's thrift-compact-protocol.md.
type skimmer struct {
	b       []byte
	at      int
	entries int64 // structures within lists; other entries count for their size
	damaged bool
}

func (s *skimmer) byte() byte {
	if s.damaged = s.damaged || s.at >= len(s.b); s.damaged {
		return 0
	}
	s.at++
	return s.b[s.at-1]
}

func (s *skimmer) uvarint() uint64 {
	v, n := binary.Uvarint(s.b[min(s.at, len(s.b)):])
	if s.damaged = s.damaged || n <= 0; s.damaged {
		return 0
	}
	s.at += n
	return v
}

func (s *skimmer) skip(n uint64) {
	if s.damaged = s.damaged || n > uint64(len(s.b)-s.at); !s.damaged {
		s.at += int(n)
	}
}

func (s *skimmer) structure(depth int) {
	s.damaged = s.damaged || depth > nestedDepth
	for !s.damaged {
		head := s.byte()
		if head == 0 {
			return
		}
		if head>>4 == 0 {
			s.uvarint() // the field's number
		}
		if kind := head & 15; kind > 2 { // the kind of a bool is its value
			s.value(kind, depth)
		}
	}
}

// The kinds of the compact protocol, from a byte to a structure.
const (
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

func (s *skimmer) value(kind byte, depth int) {
	switch {
	case kind <= thriftByte:
		s.byte()
	case kind < thriftDouble:
		s.uvarint()
	case kind == thriftDouble:
		s.skip(8)
	case kind == thriftBinary:
		s.skip(s.uvarint())
	case kind == thriftList || kind == thriftSet:
		head := s.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = s.uvarint()
		}
		s.list(n, depth+1, head&15)
	case kind == thriftMap:
		if n := s.uvarint(); n > 0 {
			kinds := s.byte()
			s.list(n, depth+1, kinds>>4, kinds&15)
		}
	case kind == thriftStruct:
		s.structure(depth + 1)
	default:
		s.damaged = true
	}
}

// list skips n entries, each of which has values of the given kinds.
func (s *skimmer) list(n uint64, depth int, kinds ...byte) {
	s.damaged = s.damaged || depth > nestedDepth || n > uint64(len(s.b)-s.at) || kinds[0] == 0
	for i := uint64(0); i < n && !s.damaged; i++ {
		for _, k := range kinds {
			s.value(k, depth)
		}
		if kinds[0] == thriftStruct || i%32 == 0 {
			s.entries++
		}
	}
}

// plainDictionary is what older writers call the encoding of dictionaries.
const plainDictionary format.Encoding = 2
