package records

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/exp/mmap"

	"github.com/seed7ba64551/privgen/device"
)

// MappedSets holds the sets of a file that [WriteSets] wrote. The file is mapped: the operating
// system loads the pages that are read and drops others, so the data may be larger than memory.
// MappedSets is immutable and safe for concurrent use until it is closed.
//
// Whatever bytes the file holds, the records returned are in the schema. Items outside the universe
// and repetitions are dropped, and the order is restored. A row longer than the schema's largest
// size is read up to that size. None of this is an error, since an error would depend on a record;
// [Check] is the strict test. If the reader fails to read a record, by an error or a panic, the
// record is the empty set, and [Failed] reports it.
//
// The file must not change while it is open: on most systems, truncating a mapped file ends the
// process that reads it.
type MappedSets struct {
	private
	*mappedRef
}

// mappedRef hides its target from package fmt; see private.go.
type mappedRef struct{ *mappedRows }

type mappedRows struct {
	schema Schema
	file   io.ReaderAt
	closer io.Closer
	unit   string
	n      int
	shift  uint
	starts []uint64 // the start of each block, and the end of the last block
	room   sync.Pool
	failed atomic.Bool // whether the reader has failed
}

// OpenSets maps a file of sets.
//
// Errors: [ErrFormat] for a file that [WriteSets] did not finish; errors of the file system.
func OpenSets(path string) (*MappedSets, error) {
	f, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	m, err := ReadSets(f, int64(f.Len()))
	if err != nil {
		return nil, closing(f, err)
	}
	m.closer = f
	return m, nil
}

func closing(c io.Closer, err error) error {
	if again := c.Close(); again != nil {
		return fmt.Errorf("%w; closing: %w", err, again)
	}
	return err
}

// ReadSets returns the sets in r, whose size is given in bytes. It reads the head, the foot, the
// list of blocks and the offsets of the rows in each block. It keeps only the list, 8 bytes for
// each block of up to 4,096 records.
//
// Errors: see [OpenSets].
func ReadSets(r io.ReaderAt, size int64) (*MappedSets, error) {
	h, err := readMappedHead(r, size)
	if err != nil {
		return nil, err
	}
	m := &MappedSets{mappedRef: &mappedRef{&mappedRows{schema: h.schema, file: r, n: h.rows,
		shift: h.schema.blockShift(), unit: h.unit}}}
	m.room.New = func() any { return new(mappedScratch) }
	if m.starts, err = h.readStarts(r, size); err != nil {
		return nil, err
	}
	return m, m.checkBlocks()
}

// checkBlocks checks that every block has room for the offsets of its rows. It also checks that the
// rows of a block together have no more items than the block holds. If rows could overlap, a small
// file could unpack to any size. The check concerns the structure of the file and is made once,
// before any record is returned.
func (m *MappedSets) checkBlocks() error {
	var raw []byte
	for b := range len(m.starts) - 1 {
		lo, hi := m.starts[b], m.starts[b+1]
		head := offsetBytes * uint64(m.blockRows(b)+1)
		if hi < lo || hi-lo < head {
			return malformed("block %d is too short for its rows", b)
		}
		raw = resize(raw, int(head))
		if err := readAt(m.file, raw, int64(lo)); err != nil {
			return err
		}
		items := (hi - lo - head) / uint64(m.schema.itemBytes())
		if m.claimed(raw, items) > items {
			return malformed("block %d has rows that overlap", b)
		}
	}
	return nil
}

// claimed returns the number of items that are read for all rows of a block. It takes the block's
// offsets and the number of items in the block.
func (m *MappedSets) claimed(offsets []byte, items uint64) uint64 {
	sum := uint64(0)
	for ; len(offsets) >= 2*offsetBytes; offsets = offsets[offsetBytes:] {
		sum += m.rowItems(offsets, items)
	}
	return sum
}

// rowItems returns the number of items that are read for the row between two offsets, 0 if the
// offsets are invalid.
func (m *MappedSets) rowItems(bounds []byte, items uint64) uint64 {
	lo, hi := rowBounds(bounds)
	if hi < lo || hi > items {
		return 0
	}
	return min(hi-lo, uint64(m.schema.maxItems))
}

func rowBounds(p []byte) (lo, hi uint64) {
	return uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[offsetBytes:]))
}

func (m *MappedSets) blockRows(b int) int { return min(m.n-b<<m.shift, 1<<m.shift) }

// Close ends the use of the file. No record may be read afterwards.
//
// Errors: the file system's.
func (m *MappedSets) Close() error {
	if m.closer == nil {
		return nil
	}
	return m.closer.Close()
}

// Schema returns the public description of the records.
func (m *MappedSets) Schema() Schema {
	if m == nil || m.mappedRef == nil {
		return Schema{}
	}
	return m.schema
}

// Len returns the number of records; see [Data] for when it is private.
func (m *MappedSets) Len() int {
	if m == nil || m.mappedRef == nil {
		return 0
	}
	return m.n
}

// Unit returns what one record is; see [UnitOf].
func (m *MappedSets) Unit() string { return m.unit }

// Gather reads the given rows.
//
// Shapes: b.Sparse has len(rows) rows over Dim items.
func (m *MappedSets) Gather(rows []int32, b *device.Batch) {
	s := m.room.Get().(*mappedScratch)
	defer m.room.Put(s)
	out := sparseBuffer(b, len(rows), m.schema.dim)
	for k, i := range rows {
		out.Items = m.append(out.Items, int(i), s)
		out.Offsets[k+1] = len(out.Items)
	}
	b.Labels = nil
	indexRows(b, rows)
}

// Range reads rows lo … hi-1.
//
// Shapes: b.Sparse has hi-lo rows over Dim items.
func (m *MappedSets) Range(lo, hi int, b *device.Batch) {
	s := m.room.Get().(*mappedScratch)
	defer m.room.Put(s)
	out := sparseBuffer(b, hi-lo, m.schema.dim)
	for i := lo; i < hi; i++ {
		out.Items = m.append(out.Items, i, s)
		out.Offsets[i-lo+1] = len(out.Items)
	}
	b.Labels = nil
	indexRange(b, lo, hi)
}

// mappedScratch is the scratch memory for reading one row.
type mappedScratch struct {
	bounds [2 * offsetBytes]byte
	bytes  []byte
}

// append appends one record, clamped into the schema, to dst.
func (m *MappedSets) append(dst []uint32, row int, s *mappedScratch) []uint32 {
	if row < 0 || row >= m.n {
		panic(fmt.Sprintf("records: row %d is not in the file", row))
	}
	raw := m.raw(row, s)
	width, dim := m.schema.itemBytes(), int64(m.schema.dim)
	from, sorted := len(dst), true
	for ; len(raw) >= width; raw = raw[width:] {
		item := readItem(raw, width)
		if int64(item) >= dim {
			continue
		}
		sorted = sorted && (len(dst) == from || dst[len(dst)-1] < item)
		dst = append(dst, item)
	}
	if sorted {
		return dst
	}
	slices.Sort(dst[from:])
	return dst[:from+len(slices.Compact(dst[from:]))]
}

// raw returns the bytes of one row's items. It returns none if the row's offsets are invalid or
// cannot be read.
func (m *MappedSets) raw(row int, s *mappedScratch) []byte {
	b, at := row>>m.shift, row&(1<<m.shift-1)
	start, end := m.starts[b], m.starts[b+1]
	if !m.fill(s.bounds[:], start+offsetBytes*uint64(at)) {
		return nil
	}
	lo, _ := rowBounds(s.bounds[:])
	width := uint64(m.schema.itemBytes())
	first := start + offsetBytes*uint64(m.blockRows(b)+1)
	n := m.rowItems(s.bounds[:], (end-first)/width)
	s.bytes = resize(s.bytes, int(n*width))
	if !m.fill(s.bytes, first+lo*width) {
		return nil
	}
	return s.bytes
}

// fill reads len(p) bytes inside the file and reports whether it read them all; see [Failed].
func (m *MappedSets) fill(p []byte, at uint64) bool {
	n := 0
	switch m.file.(type) {
	case *mmap.ReaderAt, *os.File, *bytes.Reader:
		n, _ = m.file.ReadAt(p, int64(at))
	default:
		n = m.fillGuarded(p, at)
	}
	if n != len(p) {
		m.failed.Store(true)
	}
	return n == len(p)
}

// fillGuarded reads from a user-defined reader. It returns 0 if the reader panics.
func (m *MappedSets) fillGuarded(p []byte, at uint64) (n int) {
	returns(func() { n, _ = m.file.ReadAt(p, int64(at)) })
	return n
}

// check reports rows that reading would change.
func (m *MappedSets) check() error {
	if m.Len() == 0 {
		return nil
	}
	var found defects
	s := new(mappedScratch)
	width := m.schema.itemBytes()
	for row := range m.n {
		raw := m.raw(row, s)
		for j := 0; len(raw) >= width; j++ {
			item := readItem(raw, width)
			if raw = raw[width:]; int64(item) >= int64(m.schema.dim) {
				found.add(row, j, "item outside the universe")
			} else if len(raw) >= width && readItem(raw, width) <= item {
				found.add(row, j+1, "items out of order")
			}
		}
	}
	return found.err()
}

func readItem(p []byte, width int) uint32 {
	if width == 2 {
		return uint32(binary.LittleEndian.Uint16(p))
	}
	return binary.LittleEndian.Uint32(p)
}
