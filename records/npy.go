package records

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// Names of the arrays inside an .npz file, as machine learning data sets are
// commonly saved.
const (
	npzRecords = "x.npy"
	npzLabels  = "y.npy"
)

// ReadNPY reads unlabelled records from NumPy's .npy format: an array in C order
// whose first axis counts records and whose other axes multiply to the schema's
// dimension, of floats, integers or booleans of either byte order. Unsigned
// bytes under a schema of grey images are 256 levels; every other number is
// itself.
//
// Errors: [ErrFormat] for a file that is malformed, truncated or of another
// shape; *[LimitError]; *[param.Error] for a schema that does not fit.
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
			"none: one array carries no labels; ReadNPZ reads both")
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

// ReadNPZ reads records from a NumPy .npz file: the array x as [ReadNPY] reads
// it and, where the schema has classes, the array y of one label a record. Both count
// together towards the limits.
//
// Errors: those of [ReadNPY].
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

// readMember reads one file of an archive through in.
func readMember[T any](zr *zip.Reader, name string, in *input, read func() (T, error)) (out T,
	err error) {
	for _, f := range zr.File {
		if f.Name != name {
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
	return out, malformed("no array %s", strings.TrimSuffix(name, ".npy"))
}

// readLabelArray reads whole numbers; what is none of int32 becomes -1, which no
// schema knows.
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

// npyHeader is what the header of an .npy file says.
type npyHeader struct {
	order binary.ByteOrder
	kind  byte // f, i, u or b
	size  int  // bytes of one element
	shape []int
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
	if h.kind == 'u' && h.size == 1 && s.kind == GreyImage {
		levels, err = readBytes(in, n*dim, what)
	} else {
		values, err = h.read(in, n*dim, what)
	}
	if err != nil {
		return nil, nil, err
	}
	return values, levels, atEnd(in, what)
}

// maxNPYHeader is far above any honest header.
const maxNPYHeader = 1 << 16

func readNPYHeader(r io.Reader, what string) (npyHeader, error) {
	var fixed [8]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return npyHeader{}, truncated(what, err)
	}
	if string(fixed[:6]) != "\x93NUMPY" || fixed[6] < 1 || fixed[6] > 3 {
		return npyHeader{}, malformed("%s is not in npy format", what)
	}
	length, err := npyHeaderLength(r, fixed[6])
	if err != nil {
		return npyHeader{}, truncated(what, err)
	}
	if length > maxNPYHeader {
		return npyHeader{}, malformed("%s has an oversized header", what)
	}
	text, err := readBytes(r, int(length), what)
	if err != nil {
		return npyHeader{}, err
	}
	h, ok := parseNPYHeader(string(text))
	if !ok {
		return npyHeader{}, malformed("%s has a header that is not understood", what)
	}
	return h, nil
}

func npyHeaderLength(r io.Reader, version byte) (uint32, error) {
	if version == 1 {
		var short uint16
		err := binary.Read(r, binary.LittleEndian, &short)
		return uint32(short), err
	}
	var long uint32
	err := binary.Read(r, binary.LittleEndian, &long)
	return long, err
}

// parseNPYHeader reads the Python dictionary that the header is.
func parseNPYHeader(text string) (h npyHeader, ok bool) {
	find := func(pattern string) string {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	}
	descr := find(`'descr'\s*:\s*'([<>|=]?[fiub][1248])'`)
	if descr == "" || find(`'fortran_order'\s*:\s*(False)`) == "" {
		return h, false
	}
	h.order = binary.LittleEndian
	if descr[0] == '>' {
		h.order = binary.BigEndian
	}
	h.kind, h.size = descr[len(descr)-2], int(descr[len(descr)-1]-'0')
	for axis := range strings.SplitSeq(find(`'shape'\s*:\s*\(([0-9, ]*)\)`), ",") {
		axis = strings.TrimSpace(axis)
		if axis == "" {
			continue
		}
		size, err := strconv.Atoi(axis)
		if err != nil {
			return h, false
		}
		h.shape = append(h.shape, size)
	}
	return h, len(h.shape) > 0 && h.element() != nil
}

// rows is the number of records of dim elements.
func (h npyHeader) rows(dim int, what string) (int, error) {
	product := 1
	for _, size := range h.shape[1:] {
		if size == 0 || size > maxDim/product {
			return 0, malformed("%s does not have the schema's shape", what)
		}
		product *= size
	}
	if product != dim {
		return 0, malformed("%s does not have the schema's shape", what)
	}
	if h.shape[0] > min(maxRows, math.MaxInt/8/dim) {
		return 0, malformed("%s announces more records than a table holds", what)
	}
	return h.shape[0], nil
}

// element decodes one element, nil for a type that is not supported.
func (h npyHeader) element() func([]byte) float32 {
	switch fmt.Sprintf("%c%d", h.kind, h.size) {
	case "f4":
		return func(b []byte) float32 { return math.Float32frombits(h.order.Uint32(b)) }
	case "f8":
		return func(b []byte) float32 { return float32(math.Float64frombits(h.order.Uint64(b))) }
	case "u1", "b1":
		return func(b []byte) float32 { return float32(b[0]) }
	case "i1":
		return func(b []byte) float32 { return float32(int8(b[0])) }
	case "u2":
		return func(b []byte) float32 { return float32(h.order.Uint16(b)) }
	case "i2":
		return func(b []byte) float32 { return float32(int16(h.order.Uint16(b))) }
	case "u4":
		return func(b []byte) float32 { return float32(h.order.Uint32(b)) }
	case "i4":
		return func(b []byte) float32 { return float32(int32(h.order.Uint32(b))) }
	case "u8":
		return func(b []byte) float32 { return float32(h.order.Uint64(b)) }
	case "i8":
		return func(b []byte) float32 { return float32(int64(h.order.Uint64(b))) }
	}
	return nil
}

// read decodes n elements, growing as they arrive.
func (h npyHeader) read(in *input, n int, what string) ([]float32, error) {
	const piece = 1 << 16
	decode := h.element()
	buf := make([]byte, min(n, piece)*h.size)
	var out []float32
	for len(out) < n {
		part := buf[:min(n-len(out), piece)*h.size]
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, truncated(what, err)
		}
		if err := in.spend(len(part) / h.size); err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[h.size:] {
			out = push(out, decode(part))
		}
	}
	return out, nil
}

// WriteNPY writes the encoded records as a float32 array, images with three
// axes.
func WriteNPY(w io.Writer, t *Table) error {
	shape := fmt.Sprintf("(%d, %d)", t.n, t.schema.dim)
	if t.schema.IsImage() {
		shape = fmt.Sprintf("(%d, %d, %d)", t.n, t.schema.height, t.schema.width)
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

// WriteNPZ writes the encoded records as array x and, where the schema has
// classes, the labels as array y.
func WriteNPZ(w io.Writer, t *Table) error {
	zw := zip.NewWriter(w)
	m, err := zw.Create(npzRecords)
	if err == nil {
		err = WriteNPY(m, t)
	}
	if err == nil && t.schema.Classes() > 0 {
		if m, err = zw.Create(npzLabels); err == nil {
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
	bw := bufio.NewWriter(w)
	bw.Write(npyPreamble(descr, shape))
	var buf []byte
	for i := range n {
		buf = row(buf[:0], i)
		if _, err := bw.Write(buf); err != nil {
			return fmt.Errorf("records: writing: %w", err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}

// npyPreamble is everything before the elements, padded to a multiple of 64
// bytes as the format asks.
func npyPreamble(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	pad := (64 - (10+len(text)+1)%64) % 64
	text += strings.Repeat(" ", pad) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(out, text...)
}
