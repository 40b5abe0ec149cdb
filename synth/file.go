package synth

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Errors of reading files. Every failure is one of these errors or an error of the io.Reader.
var (
	ErrFormat    = errors.New("not a privgen file")
	ErrVersion   = errors.New("the file was written by an unknown version of privgen")
	ErrTruncated = errors.New("the file ends too early")
	ErrChecksum  = errors.New("the file is damaged: wrong checksum")
)

const (
	magic      = "privgen\x02"
	maxHeader  = 64 << 20
	maxSection = 1 << 40
)

// A File is the format of everything that is released: a self-describing JSON header, sections of
// numbers, and a checksum.
//
//	magic    8 bytes  "privgen" and the format's version
//	length   8 bytes  of the header, little endian
//	header            JSON: kind, header of that kind, names and lengths of the sections
//	sections          in the order of the header
//	checksum 32 bytes SHA-256 of everything before it
//
// A file is read in pieces that grow with the bytes received, so a short hostile file cannot cause
// large allocations. The header is parsed first, since it states the lengths of the sections. The
// sections are used only after the checksum has been verified, so damage to a section is reported
// as ErrChecksum.
type File struct {
	Kind     string          // which system wrote it
	Header   json.RawMessage // the system's own header
	Sections []Section
}

// A Section is a named sequence of bytes.
type Section struct {
	Name string
	Data []byte
}

// Section returns the named section's bytes. Errors: ErrFormat if it does not exist.
func (f *File) Section(name string) ([]byte, error) {
	for _, s := range f.Sections {
		if s.Name == name {
			return s.Data, nil
		}
	}
	return nil, fmt.Errorf("%w: section %.40q is missing", ErrFormat, name)
}

type fileHeader struct {
	Kind     string          `json:"kind"`
	Content  json.RawMessage `json:"content"`
	Sections []extent        `json:"sections"`
}

type extent struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Write writes the file.
//
// Errors: ErrFormat for a header that DecodeFile would refuse to read, before anything is written;
// all errors of the writer.
func (f *File) Write(w io.Writer) error {
	h := fileHeader{Kind: f.Kind, Content: f.Header}
	for _, s := range f.Sections {
		h.Sections = append(h.Sections, extent{s.Name, int64(len(s.Data))})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := checkHeader(head, records.Limits{}); err != nil {
		return err
	}
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	parts := [][]byte{[]byte(magic), binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head}
	for _, s := range f.Sections {
		parts = append(parts, s.Data)
	}
	for _, p := range parts {
		if _, err := both.Write(p); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// DecodeFile reads a whole file and verifies its checksum.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum; all errors of the reader.
func DecodeFile(r io.Reader) (*File, error) { return decodeFile(r, records.Limits{}) }

func decodeFile(r io.Reader, l records.Limits) (*File, error) {
	in := &reader{r: r, sum: sha256.New(), limits: l}
	h, err := in.header()
	if err != nil {
		return nil, err
	}
	f := &File{Kind: h.Kind, Header: h.Content}
	for _, e := range h.Sections {
		if e.Bytes < 0 || e.Bytes > maxSection {
			return nil, fmt.Errorf("%w: a section of %d bytes: must be 0 to %d", ErrFormat, e.Bytes,
				int64(maxSection))
		}
		data, err := in.take(e.Bytes)
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, Section{e.Name, data})
	}
	return f, in.verify()
}

// header reads the header of a file. The file's checksum is not verified yet.
func (in *reader) header() (h fileHeader, err error) {
	start, err := in.take(16)
	if err != nil {
		return h, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := checkMagic(start[:8]); err != nil {
		return h, err
	}
	length := binary.LittleEndian.Uint64(start[8:])
	if length > maxHeader {
		return h, fmt.Errorf("%w: a header of %d bytes: must be at most "+
			"%d", ErrFormat, length, maxHeader)
	}
	head, err := in.take(int64(length))
	if err != nil {
		return h, err
	}
	if err := checkHeader(head, in.limits); err != nil {
		return h, err
	}
	if err := param.Decode(head, &h); err != nil {
		return h, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	return h, nil
}

// checkHeader checks a header against the limits, both before it is parsed and before it is
// written. By default it may have as many values as a model and a guarantee together.
func checkHeader(head []byte, l records.Limits) error {
	if len(head) > maxHeader {
		return fmt.Errorf("%w: a header of %d bytes: must be at most "+
			"%d", ErrFormat, len(head), maxHeader)
	}
	l.Values = cmp.Or(l.Values, 400_000)
	if err := checkDocument(head, l); err != nil {
		return fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	return nil
}

// checkDocument applies the limits to a JSON document before it is parsed.
func checkDocument(text []byte, l records.Limits) error {
	values := int(min(l.Values, math.MaxInt32))
	return param.Limits{Depth: l.Depth, Values: values}.Check(text)
}

func checkMagic(got []byte) error {
	switch {
	case string(got) == magic:
		return nil
	case string(got[:7]) == magic[:7]:
		return fmt.Errorf("%w: format %d", ErrVersion, got[7])
	}
	return ErrFormat
}

type reader struct {
	r      io.Reader
	sum    hash.Hash
	limits records.Limits
}

// take reads exactly n bytes; memory grows with the bytes received, not with n.
func (in *reader) take(n int64) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.CopyN(io.MultiWriter(&b, in.sum), in.r, n)
	if got < n {
		if err == io.EOF {
			return nil, ErrTruncated
		}
		return nil, err
	}
	return b.Bytes(), nil
}

func (in *reader) verify() error {
	want := in.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(in.r, got); err != nil {
		return ErrTruncated
	}
	if !bytes.Equal(got, want) {
		return ErrChecksum
	}
	return nil
}

// Floats returns the numbers as little-endian bytes.
func Floats[T float32 | float64](v []T) []byte {
	b := make([]byte, binary.Size(v))
	_, _ = binary.Encode(b, binary.LittleEndian, v) // b has room
	return b
}

// ReadFloats returns the numbers that Floats wrote as b. Errors: ErrFormat if the number of values
// is not want, or if a value is not finite.
func ReadFloats[T float32 | float64](b []byte, want int) ([]T, error) {
	var one T
	if size := binary.Size(one); want < 0 || len(b)%size != 0 || len(b)/size != want {
		return nil, fmt.Errorf("%w: %d bytes do not hold exactly %d numbers", ErrFormat, len(b), want)
	}
	v := make([]T, want)
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		return nil, Malformed(err)
	}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%w: a value is not finite", ErrFormat)
		}
	}
	return v, nil
}
