// Package npy reads and writes the headers of NumPy's .npy files.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Header describes the array of a file.
type Header struct {
	Order binary.ByteOrder
	Kind  byte // f, i, u or b
	Size  int  // bytes of one element
	Shape []int
}

// ErrHeader is returned for a malformed header, and for an array with an unsupported type or order.
var ErrHeader = errors.New("not understood")

// maxHeader is far above the length of any valid header.
const maxHeader = 1 << 16

// ReadHeader reads the header. The next byte of r is then the first byte of the elements.
//
// Errors: ErrHeader; the reader's errors; io.ErrUnexpectedEOF.
func ReadHeader(r io.Reader) (Header, error) {
	var fixed [8]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return Header{}, err
	}
	if string(fixed[:6]) != "\x93NUMPY" || fixed[6] < 1 || fixed[6] > 3 {
		return Header{}, fmt.Errorf("%w: it is not in npy format of version 1 to 3", ErrHeader)
	}
	length, err := headerLength(r, fixed[6])
	if err != nil {
		return Header{}, err
	}
	if length > maxHeader {
		return Header{}, fmt.Errorf("%w: its header has %d bytes; want at most %d", ErrHeader, length,
			maxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return Header{}, err
	}
	h, ok := parse(string(text))
	if !ok {
		return Header{}, fmt.Errorf("%w: its header names an unsupported type or order; want numbers "+
			"or booleans in C order", ErrHeader)
	}
	return h, nil
}

func headerLength(r io.Reader, version byte) (uint32, error) {
	if version == 1 {
		var short uint16
		err := binary.Read(r, binary.LittleEndian, &short)
		return uint32(short), err
	}
	var long uint32
	err := binary.Read(r, binary.LittleEndian, &long)
	return long, err
}

// parse parses the header, a Python dictionary.
func parse(text string) (h Header, ok bool) {
	descr := entry(text, "'descr'", typeText)
	if descr == "" || entry(text, "'fortran_order'", falseText) == "" {
		return h, false
	}
	h.Order = binary.LittleEndian
	if descr[0] == '>' {
		h.Order = binary.BigEndian
	}
	h.Kind, h.Size = descr[len(descr)-2], int(descr[len(descr)-1]-'0')
	for axis := range strings.SplitSeq(entry(text, "'shape'", shapeText), ",") {
		axis = strings.TrimSpace(axis)
		if axis == "" {
			continue
		}
		size, err := strconv.Atoi(axis)
		if err != nil {
			return h, false
		}
		h.Shape = append(h.Shape, size)
	}
	return h, len(h.Shape) > 0 && h.Element() != nil
}

// Element returns a function that decodes one element, or nil for an unsupported type.
func (h Header) Element() func([]byte) float32 {
	switch fmt.Sprintf("%c%d", h.Kind, h.Size) {
	case "f4":
		return func(b []byte) float32 { return math.Float32frombits(h.Order.Uint32(b)) }
	case "f8":
		return func(b []byte) float32 { return float32(math.Float64frombits(h.Order.Uint64(b))) }
	case "u1", "b1":
		return func(b []byte) float32 { return float32(b[0]) }
	case "i1":
		return func(b []byte) float32 { return float32(int8(b[0])) }
	case "u2":
		return func(b []byte) float32 { return float32(h.Order.Uint16(b)) }
	case "i2":
		return func(b []byte) float32 { return float32(int16(h.Order.Uint16(b))) }
	case "u4":
		return func(b []byte) float32 { return float32(h.Order.Uint32(b)) }
	case "i4":
		return func(b []byte) float32 { return float32(int32(h.Order.Uint32(b))) }
	case "u8":
		return func(b []byte) float32 { return float32(h.Order.Uint64(b)) }
	case "i8":
		return func(b []byte) float32 { return float32(int64(h.Order.Uint64(b))) }
	}
	return nil
}

// Preamble returns the bytes before the elements of an array. descr and shape are the type and the
// shape as Python writes them.
func Preamble(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	pad := (64 - (10+len(text)+1)%64) % 64
	text += strings.Repeat(" ", pad) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(out, text...)
}
