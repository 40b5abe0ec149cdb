package records

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// idxBytes is the type code of unsigned bytes in an idx header.
const idxBytes = 0x08

// ReadIDX reads records in the idx format of MNIST, plain or gzip-compressed: images of one byte
// per pixel and, if the schema has classes, labels of one byte. 0 is the schema's lower bound and
// 255 its upper bound; a binary schema reads 128 and above as 1. labels must be nil if and only if
// the schema has no classes.
//
// Errors: [ErrFormat] for files that are truncated or too long, or whose element type or number of
// coordinates is not the schema's; *[LimitError]; *[param.Error] for a schema that does not fit.
func ReadIDX(images, labels io.Reader, s Schema, limits ...Limits) (*Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if (labels != nil) != (s.Classes() > 0) {
		return nil, param.New("records.ReadIDX labels", labels != nil,
			"a reader if the schema has classes, otherwise nil")
	}
	pixels, err := readIDX(images, s, lastOf(limits), 4, "the image file")
	if err != nil {
		return nil, err
	}
	if labels == nil {
		return FromBytes(s, pixels)
	}
	classes, err := readIDX(labels, Interval(1, 0, 1), lastOf(limits), 1, "the label file")
	if err != nil {
		return nil, err
	}
	if len(classes) != len(pixels)/s.dim {
		return nil, malformed("the image file and the label file differ in length")
	}
	wide := make([]int32, len(classes))
	for i, c := range classes {
		wide[i] = int32(c)
	}
	return FromBytes(s, pixels, wide...)
}

// OpenIDX is [ReadIDX] on files. labels is "" if the schema has no classes.
//
// Errors: see [ReadIDX]; also errors of the file system.
func OpenIDX(images, labels string, s Schema, limits ...Limits) (*Table, error) {
	return withFile(images, func(pixels io.Reader) (*Table, error) {
		if labels == "" {
			return ReadIDX(pixels, nil, s, limits...)
		}
		return withFile(labels, func(classes io.Reader) (*Table, error) {
			return ReadIDX(pixels, classes, s, limits...)
		})
	})
}

// readIDX reads one idx file of records of s.Dim() bytes each; together bytes count as one value of
// the limits.
func readIDX(r io.Reader, s Schema, limits Limits, together int, what string) ([]uint8, error) {
	in, err := openInput(r, limits)
	if err != nil {
		return nil, err
	}
	n, err := readIDXHeader(in, s, what)
	if err != nil {
		return nil, err
	}
	data, err := readBytes(in, n*s.dim, what)
	if err != nil {
		return nil, err
	}
	if err := atEnd(in, what); err != nil {
		return nil, err
	}
	return data, in.spend((len(data) + together - 1) / together)
}

// readIDXHeader returns the number of records.
func readIDXHeader(r io.Reader, s Schema, what string) (int, error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return 0, truncated(what, err)
	}
	if magic[0] != 0 || magic[1] != 0 || magic[2] != idxBytes || magic[3] == 0 {
		return 0, malformed("%s is not an idx file of bytes", what)
	}
	sizes := make([]uint32, magic[3])
	if err := binary.Read(r, binary.BigEndian, sizes); err != nil {
		return 0, truncated(what, err)
	}
	if !s.hasShape(sizes[1:]) {
		return 0, malformed("%s does not hold %v", what, s.WithoutLabels())
	}
	if int64(sizes[0]) > min(maxRows, math.MaxInt/int64(s.dim)) {
		return 0, malformed("%s announces more records than a table holds", what)
	}
	return int(sizes[0]), nil
}

// hasShape reports whether the axes of one record agree with the schema. An image may also be
// written as one row of pixels.
func (s Schema) hasShape(axes []uint32) bool {
	if s.Channels() == 1 && len(axes) == 2 {
		return int64(axes[0]) == int64(s.height) && int64(axes[1]) == int64(s.width)
	}
	product := uint64(1)
	for _, size := range axes {
		if product *= uint64(size); product > maxDim {
			return false
		}
	}
	return product == uint64(s.dim)
}

// WriteIDX writes the encoded records as an idx file of bytes. The schema's lower bound becomes 0,
// its upper bound becomes 255, and other values become the nearest of the 256 levels. If labels is
// not nil, the labels are written to it.
//
// Errors: errors of the writers; *[param.Error] if labels are requested that the table lacks or a
// byte cannot hold.
func WriteIDX(images, labels io.Writer, t *Table) error {
	if labels != nil && (t.schema.Classes() == 0 || t.schema.Classes() > 256) {
		return param.New("records.WriteIDX classes", t.schema.Classes(),
			"1 to 256, to write labels of one byte")
	}
	sizes := []uint32{uint32(t.n), uint32(t.schema.dim)}
	if t.schema.IsImage() {
		sizes = []uint32{uint32(t.n), uint32(t.schema.height), uint32(t.schema.width)}
	}
	if t.schema.kind == ColourImage {
		sizes = append(sizes, colours)
	}
	var scratch []float32
	pixels := func(dst []uint8, i int) []uint8 {
		scratch = t.Row(scratch, i)
		return t.schema.appendLevels(dst, scratch)
	}
	if err := writeIDX(images, sizes, pixels); err != nil {
		return err
	}
	if labels == nil {
		return nil
	}
	return writeIDX(labels, []uint32{uint32(t.n)}, func(dst []uint8, i int) []uint8 {
		return append(dst, uint8(t.Label(i)))
	})
}

// writeIDX writes a header, and then the bytes that row appends for every record.
func writeIDX(w io.Writer, sizes []uint32, row func(dst []byte, i int) []byte) error {
	head := []byte{0, 0, idxBytes, byte(len(sizes))}
	for _, size := range sizes {
		head = binary.BigEndian.AppendUint32(head, size)
	}
	return writeRows(w, head, int(sizes[0]), row)
}

// appendLevels appends encoded values as bytes.
func (s Schema) appendLevels(dst []uint8, row []float32) []uint8 {
	for _, v := range row {
		x := (float64(v) - s.lo) / (s.hi - s.lo) * 255
		dst = append(dst, uint8(math.Round(min(max(x, 0), 255))))
	}
	return dst
}
