package records

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A file of sets is, in little-endian numbers:
//
//	head    magic, universe and largest size (16 + 8 + 8 bytes)
//	blocks  2^shift rows each: offsets of 32 bits, one more than rows; items of 16 or 32 bits
//	starts  start of each block and end of the last block, 64 bits each
//	foot    number of rows, position of starts, unit, magic (3·8 + 16 bytes)
//
// Shift and the width of an item follow from the schema. Values that are known only at the end are
// written at the end, so a writer needs memory for one block and the starts only.
const (
	mappedMagic = "privgen sets 1\r\n"
	headBytes   = 32
	footBytes   = 40
	offsetBytes = 4
	startBytes  = 8
)

func (s Schema) itemBytes() int {
	if s.narrow() {
		return 2
	}
	return 4
}

// setWriter writes sets into a file that [OpenSets] can open. It keeps one block of sets and 8
// bytes for each block written.
type setWriter struct {
	to      *bufio.Writer
	encoder setEncoder
	blocks  blockWriter
	starts  []uint64
	at      uint64
	rows    int
	parts   int // calls of append
	unit    string
	bytes   []byte
	err     error
}

// Codes of the unit in the foot. The code of [UnitRecord] is 0.
const (
	unitOfUsers = 1
	unitOfParts = 2 // for parts and for all other units
)

func newSetWriter(w io.Writer, s Schema) (*setWriter, error) {
	if err := unlabelledSets(s); err != nil {
		return nil, err
	}
	out := &setWriter{to: bufio.NewWriterSize(w, 1<<16), encoder: setEncoder{schema: s},
		blocks: newBlockWriter(s)}
	head := append([]byte(mappedMagic), make([]byte, headBytes-len(mappedMagic))...)
	binary.LittleEndian.PutUint64(head[16:], uint64(s.dim))
	binary.LittleEndian.PutUint64(head[24:], uint64(s.maxItems))
	out.write(head)
	return out, out.failure()
}

func (w *setWriter) add(items []uint32) error {
	if w.rows == maxRows {
		return param.New("records.WriteSets", "one row more", "at most 2³¹-1")
	}
	if w.blocks.add(w.encoder.encode(w.rows, items)) {
		w.flushBlock()
	}
	w.rows++
	return w.failure()
}

// append appends records. If the file holds no other records, its unit is the unit of these
// records. Otherwise the unit of rows of users becomes [UnitPart].
func (w *setWriter) append(d Data) error {
	const path = "records.WriteSets"
	if err := given(path, d); err != nil {
		return err
	}
	if err := RefusePersons(path, d.Schema()); err != nil {
		return err
	}
	if s := w.encoder.schema; !d.Schema().Equal(s) {
		return param.New(path, d.Schema().String(), s.String())
	}
	if unit := UnitOf(d); w.parts == 0 {
		w.unit = unit
	} else if unit != UnitRecord || w.unit != UnitRecord {
		w.unit = UnitPart
	}
	w.parts++
	return EachSet(d, func(_ int, items []uint32) error { return w.add(items) })
}

// close writes the list of blocks and the foot. It does not close the underlying writer.
func (w *setWriter) close() error {
	w.flushBlock()
	w.starts = append(w.starts, w.at)
	startsAt := w.at
	var number [startBytes]byte
	for _, s := range w.starts {
		binary.LittleEndian.PutUint64(number[:], s)
		w.write(number[:])
	}
	foot := make([]byte, footBytes)
	binary.LittleEndian.PutUint64(foot, uint64(w.rows))
	binary.LittleEndian.PutUint64(foot[8:], startsAt)
	switch w.unit {
	case "", UnitRecord:
	case UnitUser:
		foot[16] = unitOfUsers
	default:
		foot[16] = unitOfParts
	}
	copy(foot[24:], mappedMagic)
	w.write(foot)
	if w.err == nil {
		w.err = w.to.Flush()
	}
	return w.failure()
}

// flushBlock writes the open block.
func (w *setWriter) flushBlock() {
	b := &w.blocks.open
	if b.rows() == 0 {
		return
	}
	w.starts = append(w.starts, w.at)
	p := w.bytes[:0]
	for _, o := range b.offsets {
		p = binary.LittleEndian.AppendUint32(p, o)
	}
	for _, item := range b.narrow {
		p = binary.LittleEndian.AppendUint16(p, item)
	}
	for _, item := range b.wide {
		p = binary.LittleEndian.AppendUint32(p, item)
	}
	w.bytes = p
	w.write(p)
	w.blocks.empty()
}

func (w *setWriter) write(p []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(p)
	}
	w.at += uint64(len(p))
}

func (w *setWriter) failure() error {
	if w.err != nil {
		return fmt.Errorf("records: writing: %w", w.err)
	}
	return nil
}

// WriteSets writes sets as a file that [OpenSets] can open.
//
// Errors: *[param.Error] for data that are not sets without classes; the writer's, wrapped.
func WriteSets(to io.Writer, d Data) error {
	if err := given("records.WriteSets", d); err != nil {
		return err
	}
	return WriteSetStream(to, d.Schema(), func(yield func(Data, error) bool) { yield(d, nil) })
}

// WriteSetStream is [WriteSets] for records that come in parts and may together be larger than
// memory; see [Parts]. It keeps one block of sets and 8 bytes for each block written. If several
// parts hold rows of users, a user may be in more than one of them, so the unit of the file is
// [UnitPart].
//
// Errors: see [WriteSets]; *[param.Error] for a part of another schema; the first error of the
// stream.
func WriteSetStream(to io.Writer, s Schema, parts iter.Seq2[Data, error]) error {
	w, err := newSetWriter(to, s)
	if err != nil {
		return err
	}
	for part, err := range parts {
		if err == nil {
			err = w.append(part)
		}
		if err != nil {
			return err
		}
	}
	return w.close()
}

// mappedHead is the content of head and foot.
type mappedHead struct {
	schema   Schema
	rows     int
	startsAt uint64
	unit     string
}

func readMappedHead(r io.ReaderAt, size int64) (mappedHead, error) {
	var h mappedHead
	if size < headBytes+footBytes {
		return h, malformed("%d bytes are too few for a file of sets: want at least %d", size,
			headBytes+footBytes)
	}
	var head [headBytes]byte
	var foot [footBytes]byte
	if err := readAt(r, head[:], 0); err != nil {
		return h, err
	}
	if err := readAt(r, foot[:], size-footBytes); err != nil {
		return h, err
	}
	if !bytes.HasPrefix(head[:], []byte(mappedMagic)) ||
		!bytes.HasSuffix(foot[:], []byte(mappedMagic)) {
		return h, malformed("not a file of sets, or a file that its writer did not close")
	}
	universe, most := binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[24:])
	rows := binary.LittleEndian.Uint64(foot[:])
	if universe > maxDim || most > maxDim || rows > maxRows {
		return h, malformed("the numbers in the head or the foot are out of range")
	}
	h = mappedHead{Sets(int(universe), int(most)), int(rows), binary.LittleEndian.Uint64(foot[8:]),
		UnitRecord}
	switch foot[16] {
	case 0:
	case unitOfUsers:
		h.unit = UnitUser
	default:
		h.unit = UnitPart
	}
	if err := h.schema.Validate(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return h, nil
}

// readStarts reads the list of blocks, after it has checked its length against the file's size.
func (h mappedHead) readStarts(r io.ReaderAt, size int64) ([]uint64, error) {
	shift := h.schema.blockShift()
	blocks := (h.rows + 1<<shift - 1) >> shift
	end := uint64(size) - footBytes
	if h.startsAt < headBytes || h.startsAt > end || (end-h.startsAt) != startBytes*uint64(blocks+1) {
		return nil, malformed("the list of blocks does not fit the number of rows")
	}
	raw := make([]byte, end-h.startsAt)
	if err := readAt(r, raw, int64(h.startsAt)); err != nil {
		return nil, err
	}
	starts := make([]uint64, blocks+1)
	for i := range starts {
		starts[i] = binary.LittleEndian.Uint64(raw[startBytes*i:])
		if starts[i] < headBytes || starts[i] > h.startsAt {
			return nil, malformed("block %d lies outside the file", i)
		}
	}
	return starts, nil
}

func readAt(r io.ReaderAt, p []byte, at int64) error {
	if n, err := r.ReadAt(p, at); n < len(p) {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return truncated("a file of sets", err)
	}
	return nil
}
