package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// headed returns a file's first bytes: a header of a version, with a text.
func headed(version byte, text string) []byte {
	out := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(text)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	}
	return append(out, text...)
}

// TestHeaders: a header of each version is read up to its end, and nothing else is taken for one.
func TestHeaders(t *testing.T) {
	const good = "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3), }"
	long := good + strings.Repeat(" ", maxHeader-len(good))
	for what, c := range map[string]struct {
		file []byte
		want error
	}{
		"version 1":      {headed(1, good), nil},
		"version 2":      {headed(2, good), nil},
		"version 3":      {headed(3, good), nil},
		"version 0":      {headed(0, good), ErrHeader},
		"version 4":      {headed(4, good), ErrHeader},
		"another file":   {append([]byte("NUMPY\x93"), headed(1, good)[6:]...), ErrHeader},
		"the longest":    {headed(2, long), nil},
		"too long":       {headed(2, long+" "), ErrHeader},
		"without an end": {headed(2, good)[:30], io.ErrUnexpectedEOF},
		"without a text": {headed(1, good)[:10], io.EOF},
		"columns first":  {headed(1, strings.Replace(good, "False", "True", 1)), ErrHeader},
		"no shape":       {headed(1, strings.Replace(good, "(2, 3)", "()", 1)), ErrHeader},
		"another type":   {headed(1, strings.Replace(good, "i4", "f2", 1)), ErrHeader},
		"a large number": {headed(1, strings.Replace(good, "3", "99999999999999999999", 1)),
			ErrHeader},
		"numbers in a row": {headed(1, strings.Replace(good, "(2, 3)", "(2 3)", 1)), ErrHeader},
	} {
		r := bytes.NewReader(append(c.file, "rest"...))
		if c.want == io.ErrUnexpectedEOF || c.want == io.EOF {
			r = bytes.NewReader(c.file)
		}
		h, err := ReadHeader(r)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
		if err == nil && (h.Order != binary.BigEndian || h.Kind != 'i' || h.Size != 4 ||
			!slices.Equal(h.Shape, []int{2, 3}) || r.Len() != 4) {
			t.Errorf("%s: got %+v, and %d bytes are left", what, h, r.Len())
		}
	}
}

// TestElements decodes a number of every type in both orders of bytes.
func TestElements(t *testing.T) {
	for kind, want := range map[string]float32{"f4": -2.5, "f8": -2.5, "u1": 0xfe, "b1": 0xfe,
		"i1": -2, "u2": 0xfffe, "i2": -2, "u4": 0xfffffffe, "i4": -2, "u8": 0xfffffffffffffffe,
		"i8": -2} {
		for sign, order := range map[string]binary.AppendByteOrder{"<": binary.LittleEndian,
			">": binary.BigEndian} {
			var b []byte
			switch kind {
			case "f4":
				b = order.AppendUint32(nil, 0xc0200000)
			case "f8":
				b = order.AppendUint64(nil, 0xc004000000000000)
			default:
				b = order.AppendUint64(nil, 0xfffffffffffffffe)
				if n := int(kind[1] - '0'); sign == "<" {
					b = b[:n]
				} else {
					b = b[8-n:]
				}
			}
			h, ok := parse(fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (1,)}", sign,
				kind))
			if !ok || h.Element()(b) != want {
				t.Errorf("%s%s: %+v", sign, kind, h)
			}
		}
	}
}

// TestPreambles: elements begin at a multiple of 64 bytes, as early as they can, and the header
// comes back.
func TestPreambles(t *testing.T) {
	for n := range 200 {
		shape := "(" + strings.Repeat("1", 1+n%18) + ", " + strings.Repeat(" ", n) + "5)"
		b := Preamble("<f4", shape)
		h, err := ReadHeader(bytes.NewReader(b))
		if err != nil || len(h.Shape) != 2 || h.Kind != 'f' || h.Order != binary.LittleEndian {
			t.Fatalf("%s: %+v, %v", shape, h, err)
		}
		if text := len(strings.TrimRight(string(b), " \n")); len(b)%64 != 0 || len(b)-text > 64 ||
			b[len(b)-1] != '\n' {
			t.Errorf("%s: %d bytes after a text of %d", shape, len(b), text)
		}
	}
}
