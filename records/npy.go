package records

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/internal/npy"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Names of the arrays inside an .npz file, the preferred ones first. WriteNPZ writes the first.
var (
	npzRecords = []string{"x", "X", "images", "data", "x_train", "arr_0"}
	npzLabels  = []string{"y", "labels", "label", "y_train", "arr_1"}
)

// ReadNPY reads unlabelled records from NumPy's .npy format: an array in C order. The first axis
// counts records, and the product of the other axes is the schema's dimension. The elements are
// floats, integers or booleans of either byte order. If the schema is of grey or colour images,
// unsigned bytes are read as 256 levels. All other numbers are read unchanged.
//
// Errors: [ErrFormat] for a file that is malformed, truncated or has another shape; *[LimitError];
// *[param.Error] for a schema that does not fit.
func ReadNPY(r io.Reader, s Schema, limits ...Limits) (*Table, error) {
	plain := lastOf(limits)
	plain.Plain = true
	in, err := openInput(r, plain)
	if err != nil {
		return nil, err
	}
	return readNPY(in, s)
}

func readNPY(in *input, s Schema) (*Table, error) {
	if _, err := newTable(s.WithoutLabels(), 0, nil); err != nil {
		return nil, err
	}
	if s.Classes() > 0 {
		return nil, param.New("records.Schema.Classes", s.Classes(),
			"none: an .npy file has no labels; ReadNPZ reads both")
	}
	values, levels, err := readArray(in, s, s.dim, "the array")
	if err != nil {
		return nil, err
	}
	if levels != nil {
		return FromBytes(s, levels)
	}
	return FromFlat(s, values)
}

// ReadNPZ reads records from a NumPy .npz file: the array x as [ReadNPY] reads it and, if the
// schema has classes, the array y with one label for each record. If there is no x, it is the first
// of the arrays X, images, data, x_train and arr_0, and if there is no y, the first of labels,
// label, y_train and arr_1. Both count together towards the limits.
//
// Errors: see [ReadNPY].
func ReadNPZ(r io.ReaderAt, size int64, s Schema, limits ...Limits) (*Table, error) {
	in := &input{limits: lastOf(limits), read: size}
	if err := in.limits.Validate(); err != nil {
		return nil, err
	}
	zr, err := zip.NewReader(r, size)
	if err != nil {
		return nil, malformed("not an npz file")
	}
	t, err := readMember(zr, npzRecords, in, func() (*Table, error) {
		return readNPY(in, s.WithoutLabels())
	})
	if err != nil || s.Classes() == 0 {
		return t, err
	}
	labels, err := readMember(zr, npzLabels, in, func() ([]int32, error) { return readLabelArray(in) })
	if err != nil {
		return nil, err
	}
	if len(labels) != t.n {
		return nil, malformed("arrays x and y differ in length")
	}
	t.schema = s
	t.labels, err = newColumn(s, t.n, labels)
	return t, err
}

// readMember reads the first array of an archive that has one of the names through in.
func readMember[T any](zr *zip.Reader, names []string, in *input, read func() (T, error)) (out T,
	err error) {
	for _, name := range names {
		for _, f := range zr.File {
			if f.Name != name+".npy" {
				continue
			}
			m, err := f.Open()
			if err != nil {
				return out, malformed("%s cannot be decompressed", name)
			}
			defer m.Close()
			in.Reader = bufio.NewReaderSize(unpacking{m, in}, inputBuffer)
			return read()
		}
	}
	return out, malformed("none of the arrays %q", names)
}

// readLabelArray reads labels. A number that cannot be a class becomes -1, an unknown label.
func readLabelArray(in *input) ([]int32, error) {
	values, _, err := readArray(in, Interval(1, 0, 1), 1, "the label array")
	if err != nil {
		return nil, err
	}
	labels := make([]int32, len(values))
	for i, v := range values {
		labels[i] = -1
		if v >= 0 && v < maxClasses && v == float32(int32(v)) {
			labels[i] = int32(v)
		}
	}
	return labels, nil
}

func readArray(in *input, s Schema, dim int, what string) (values []float32, levels []uint8,
	err error) {
	h, err := readNPYHeader(in, what)
	if err != nil {
		return nil, nil, err
	}
	n, err := h.rows(dim, what)
	if err != nil {
		return nil, nil, err
	}
	if h.Kind == 'u' && h.Size == 1 && (s.kind == GreyImage || s.kind == ColourImage) {
		levels, err = readBytes(in, n*dim, what)
	} else {
		values, err = h.read(in, n*dim, what)
	}
	if err != nil {
		return nil, nil, err
	}
	return values, levels, atEnd(in, what)
}

func readNPYHeader(r io.Reader, what string) (npyHeader, error) {
	h, err := npy.ReadHeader(r)
	if errors.Is(err, npy.ErrHeader) {
		return npyHeader{}, malformed("%s is %v", what, err)
	}
	if err != nil {
		return npyHeader{}, truncated(what, err)
	}
	return npyHeader{h}, nil
}

// npyHeader is the header of an array of records.
type npyHeader struct{ npy.Header }

// rows returns the number of records of dim elements.
func (h npyHeader) rows(dim int, what string) (int, error) {
	product := 1
	for _, size := range h.Shape[1:] {
		if size == 0 || size > maxDim/product {
			return 0, malformed("%s does not have records of %d numbers, the schema's dimension", what, dim)
		}
		product *= size
	}
	if product != dim {
		return 0, malformed("%s does not have records of %d numbers, the schema's dimension", what, dim)
	}
	if h.Shape[0] > min(maxRows, math.MaxInt/8/dim) {
		return 0, malformed("%s announces more records than a table holds", what)
	}
	return h.Shape[0], nil
}

// read decodes n elements. Its storage grows as they arrive.
func (h npyHeader) read(in *input, n int, what string) ([]float32, error) {
	const piece = 1 << 16
	decode := h.Element()
	buf := make([]byte, min(n, piece)*h.Size)
	var out []float32
	for len(out) < n {
		part := buf[:min(n-len(out), piece)*h.Size]
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, truncated(what, err)
		}
		if err := in.spend(len(part) / h.Size); err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[h.Size:] {
			out = push(out, decode(part))
		}
	}
	return out, nil
}

// WriteNPY writes the encoded records as a float32 array with two axes; images have three axes, and
// images in colour four.
//
// Errors: the writer's.
func WriteNPY(w io.Writer, t *Table) error {
	shape := fmt.Sprintf("(%d, %d)", t.n, t.schema.dim)
	if t.schema.IsImage() {
		shape = fmt.Sprintf("(%d, %d, %d)", t.n, t.schema.height, t.schema.width)
	}
	if t.schema.kind == ColourImage {
		shape = fmt.Sprintf("(%d, %d, %d, %d)", t.n, t.schema.height, t.schema.width, colours)
	}
	var row []float32
	return writeArray(w, "<f4", shape, t.n, func(dst []byte, i int) []byte {
		row = t.Row(row, i)
		for _, v := range row {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
		return dst
	})
}

// WriteNPZ writes the encoded records as array x and, if the schema has classes, the labels as
// array y.
//
// Errors: the writer's.
func WriteNPZ(w io.Writer, t *Table) error {
	zw := zip.NewWriter(w)
	m, err := zw.Create(npzRecords[0] + ".npy")
	if err == nil {
		err = WriteNPY(m, t)
	}
	if err == nil && t.schema.Classes() > 0 {
		if m, err = zw.Create(npzLabels[0] + ".npy"); err == nil {
			err = writeArray(m, "<i4", fmt.Sprintf("(%d,)", t.n), t.n, func(dst []byte, i int) []byte {
				return binary.LittleEndian.AppendUint32(dst, uint32(t.Label(i)))
			})
		}
	}
	if err == nil {
		err = zw.Close()
	}
	if err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}

func writeArray(w io.Writer, descr, shape string, n int, row func(dst []byte, i int) []byte) error {
	return writeRows(w, npy.Preamble(descr, shape), n, row)
}
