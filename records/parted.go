package records

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/npy"
	"github.com/seed7ba64551/privgen/internal/param"
)

// A TablePart is one part of a [PartedTable]: consecutive rows of equal width in an io.ReaderAt,
// such as a file, a mapped file or an object in a store.
type TablePart struct {
	values rowArray
	labels rowArray // without rows if there are no labels
	schema Schema
}

// rowArray is an array of rows in a file.
type rowArray struct {
	r      io.ReaderAt
	at     int64 // where the first row begins
	rows   int
	width  int                  // numbers of a row
	size   int                  // bytes of a number
	decode func([]byte) float32 // nil for bytes
	plain  bool                 // numbers are little-endian float32
	level  *[256]float32        // for bytes that stand for levels
}

// NPYPart returns the part in an array in NumPy's format. Its records are the records that
// [ReadNPY] would read. If labels is not nil, it holds an array of their labels. Only headers are
// read.
//
// Errors: [ErrFormat] for a file that is malformed, has another shape, or is shorter or longer than
// its header says; *[param.Error] for a schema that is not of vectors or images, for classes
// without labels, and for labels without classes.
func NPYPart(s Schema, r io.ReaderAt, size int64, labels io.ReaderAt,
	labelSize int64) (p TablePart, err error) {
	if err := partSchema(s, labels != nil); err != nil {
		return p, err
	}
	p.schema = s
	if p.values, err = npyExtent(r, size, s.dim, "the array"); err != nil {
		return p, err
	}
	if p.values.decode == nil && s.kind == GreyImage {
		p.values.level = levelsOf(s)
	}
	if labels != nil {
		p.labels, err = npyExtent(labels, labelSize, 1, "the label array")
	}
	return p, p.fits(err)
}

// partSchema returns an error for a schema that parts cannot hold.
func partSchema(s Schema, labelled bool) error {
	if _, err := newTable(s.WithoutLabels(), 0, nil); err != nil {
		return err
	}
	if labelled != (s.Classes() > 0) {
		return param.New("records.Schema.Classes", s.Classes(),
			"classes if and only if there are labels")
	}
	return nil
}

func (p *TablePart) fits(err error) error {
	if err == nil && p.labels.r != nil && p.labels.rows != p.values.rows {
		return malformed("records and labels differ in number")
	}
	return err
}

func npyExtent(r io.ReaderAt, size int64, width int, what string) (e rowArray, err error) {
	head := io.NewSectionReader(r, 0, size)
	h, err := readNPYHeader(head, what)
	if err != nil {
		return e, err
	}
	n, err := h.rows(width, what)
	if err != nil {
		return e, err
	}
	at, err := head.Seek(0, io.SeekCurrent)
	if err != nil {
		return e, truncated(what, err)
	}
	e = rowArray{r: r, at: at, rows: n, width: width, size: h.Size, decode: decoder(h.Header),
		plain: h.Kind == 'f' && h.Size == 4 && h.Order == binary.ByteOrder(binary.LittleEndian)}
	return e, e.whole(size, what)
}

// decoder returns the function that decodes one number, nil for unsigned bytes.
func decoder(h npy.Header) func([]byte) float32 {
	if h.Kind == 'u' && h.Size == 1 {
		return nil
	}
	return h.Element()
}

// whole checks the size of the file against the size that its header declares.
func (e rowArray) whole(size int64, what string) error {
	if want := e.at + int64(e.rows)*int64(e.width)*int64(e.size); size != want {
		return malformed("%s is shorter or longer than its header declares", what)
	}
	return nil
}

// read decodes one row into dst, using raw as scratch, and reports whether the reader returned it.
func (e rowArray) read(dst []float32, row int, raw []byte) bool {
	raw = raw[:e.width*e.size]
	ok := false
	at := e.at + int64(row)*int64(len(raw))
	if n, _ := e.r.ReadAt(raw, at); n < len(raw) {
		return false
	}
	switch ok = true; {
	case e.level != nil:
		for j, v := range raw {
			dst[j] = e.level[v]
		}
	case e.plain:
		for j := range dst {
			dst[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
	case e.decode == nil:
		for j, v := range raw {
			dst[j] = float32(v)
		}
	default:
		for j := range dst {
			dst[j] = e.decode(raw[j*e.size : (j+1)*e.size])
		}
	}
	return ok
}

// PartedTable holds the rows of many parts, in the order of the parts. Rows are read from the parts
// when they are needed, so the cost of a batch depends on its rows, not on the size of the parts.
// Batches have exactly the same bits as batches of a [Table] of the same rows. A PartedTable is
// immutable, and safe for concurrent use if the parts' readers are.
//
// Whatever bytes a part holds, the records returned are in the schema. If a reader fails to read a
// row, by an error or a panic, the row is neutral: zeros clamped into the schema, and the first
// class; [Failed] reports it. Parts must not change while they are in use.
type PartedTable struct {
	private
	*partedRef
}

// partedRef hides its target from package fmt; see private.go.
type partedRef struct{ *partedRows }

type partedRows struct {
	schema Schema
	enc    encoder
	parts  []TablePart
	ends   []int // the end of each part, in rows from the start of the first part
	width  int   // bytes of a row of the widest part
	room   sync.Pool
	failed atomic.Bool

	readers int // the number of readers that read ahead
	ahead   readAhead
}

// NewPartedTable joins parts, in order.
//
// Errors: *[param.Error] for parts of another schema, or more rows together than 2^31-1.
func NewPartedTable(s Schema, parts ...TablePart) (*PartedTable, error) {
	if err := partSchema(s, s.Classes() > 0); err != nil {
		return nil, err
	}
	t := &partedRows{schema: s, enc: newEncoder(s), parts: append([]TablePart(nil), parts...),
		width: 8}
	n := 0
	for i, p := range parts {
		if p.values.r == nil || !p.schema.Equal(s) {
			return nil, param.New(fmt.Sprintf("records.NewPartedTable.parts[%d]", i),
				p.schema.String(), s.String())
		}
		if p.values.rows > maxRows-n {
			return nil, param.New("records.NewPartedTable.parts", "too many rows in all parts together",
				fmt.Sprintf("at most %d", maxRows))
		}
		n += p.values.rows
		t.ends = append(t.ends, n)
		t.width = max(t.width, p.values.width*p.values.size)
	}
	t.makeRoom()
	return &PartedTable{partedRef: &partedRef{t}}, nil
}

// makeRoom sets how the buffers of method each are allocated.
func (t *partedRows) makeRoom() {
	t.room.New = func() any {
		b := make([]byte, t.width)
		return &b
	}
}

// Schema returns the public description of the records.
func (t *PartedTable) Schema() Schema {
	if t == nil || t.partedRef == nil {
		return Schema{}
	}
	return t.schema
}

// Len returns the number of records; see [Data] for when it is private.
func (t *PartedTable) Len() int {
	if t == nil || t.partedRef == nil || len(t.ends) == 0 {
		return 0
	}
	return t.ends[len(t.ends)-1]
}

// Gather reads the given rows, clamped into the schema.
//
// Shapes: b.Dense is len(rows)×Dim.
func (t *PartedTable) Gather(rows []int32, b *device.Batch) {
	t.BeginGather(rows, b)
	t.GatherPart(rows, b, 0, len(rows))
}

// BeginGather does everything that Gather does except reading the rows. It waits for rows that
// ReadAhead is reading.
func (t *PartedTable) BeginGather(rows []int32, b *device.Batch) {
	t.begin(len(rows), b)
	indexRows(b, rows)
	if t.readers > 0 {
		t.await(rows)
	}
}

// begin prepares a batch of n rows.
func (t *partedRows) begin(n int, b *device.Batch) {
	denseBuffer(b, n, t.schema.dim)
	if b.Labels = b.Labels[:0]; t.schema.Classes() == 0 {
		b.Labels = nil
	} else {
		b.Labels = resize(b.Labels, n)
	}
}

// GatherPart reads the rows at positions lo … hi-1 of the list that BeginGather was given.
func (t *PartedTable) GatherPart(rows []int32, b *device.Batch, lo, hi int) {
	held := t.ahead.held.Load()
	t.each(hi-lo, func(raw []byte) {
		part := 0
		for k := lo; k < hi; k++ {
			if held.copied(b, k, rows[k], t.schema.dim) {
				continue
			}
			part = t.partOf(int(rows[k]), part)
			t.failed.CompareAndSwap(false, !t.readRow(b, k, int(rows[k]), part, raw))
		}
	})
}

// Range reads rows lo … hi-1, clamped into the schema.
//
// Shapes: b.Dense is (hi-lo)×Dim.
func (t *PartedTable) Range(lo, hi int, b *device.Batch) {
	t.begin(hi-lo, b)
	t.each(hi-lo, func(raw []byte) {
		part := 0
		for i := lo; i < hi; i++ {
			part = t.partOf(i, part)
			t.failed.CompareAndSwap(false, !t.readRow(b, i-lo, i, part, raw))
		}
	})
	indexRange(b, lo, hi)
}

// each calls read with a buffer that holds one row of any part.
func (t *partedRows) each(n int, read func(raw []byte)) {
	if n <= 0 {
		return
	}
	raw := t.room.Get().(*[]byte)
	defer t.room.Put(raw)
	read(*raw)
}

// partOf returns the part of a row. The rows of a sample ascend, so the part of the previous row is
// tried first. A row outside the table panics.
func (t *partedRows) partOf(row, before int) int {
	if n := t.ends[len(t.ends)-1]; row < 0 || row >= n {
		panic(fmt.Sprintf("records: row %d is not in the table", row))
	}
	if row < t.ends[before] && (before == 0 || row >= t.ends[before-1]) {
		return before
	}
	return sort.SearchInts(t.ends, row+1)
}

// readRow reads a row of a part into row k of a batch, and reports whether its reader returned it.
func (t *partedRows) readRow(b *device.Batch, k, row, part int, raw []byte) bool {
	p := &t.parts[part]
	if part > 0 {
		row -= t.ends[part-1]
	}
	dim := t.schema.dim
	dst := b.Dense.Data[k*dim : (k+1)*dim]
	label := [1]float32{}
	ok := guarded(func() bool {
		return p.values.read(dst, row, raw) && (p.labels.r == nil || p.labels.read(label[:], row, raw))
	})
	if !ok {
		clear(dst)
		label[0] = 0
	}
	if p.values.level == nil || !ok {
		t.enc.row(dst, dst)
	}
	if b.Labels != nil {
		b.Labels[k] = t.class(label[0])
	}
	return ok
}

// guarded returns the result of read, and false if it panics.
func guarded(read func() bool) (ok bool) {
	defer func() { _ = recover() }()
	return read()
}

// class returns a label clamped into the schema. A number that is not a class is an unknown label.
func (t *partedRows) class(v float32) int32 {
	if n := len(t.schema.classes); v >= 0 && v < float32(n) && v == float32(math.Trunc(float64(v))) {
		return int32(v)
	}
	return int32(t.schema.unknown)
}
