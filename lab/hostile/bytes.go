package main

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"strings"
	"sync"
)

// pick returns a random element of a list.
func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// numbers are texts of numbers at the limits of types, of floating point and of sizes.
var numbers = []string{"0", "-0", "1", "-1", "2", "3", "7", "63", "64", "65", "127", "128", "255",
	"256", "1000", "4095", "4096", "65535", "65536", "1000000", "16777216", "16777217", "100000000",
	"1000000000", "2147483647", "2147483648", "4294967295", "4294967296", "1000000000000",
	"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"18446744073709551615", "1e18", "1e30", "1e308", "-1e308", "1e309", "1e-308", "5e-324", "1e-12",
	"0.5", "0.999999999999", "1.0000000001", "0.1", "1e-5", "3.5"}

// pieces are bytes with a meaning in some format.
var pieces = []string{"\n", "\r\n", "\r", ",", ";", "\t", " ", "\"", "\"\"", "\x00", "\xff",
	"\xef\xbb\xbf",
	"\x1f\x8b\x08\x00", "PK\x03\x04", "NaN", "inf", "-inf", "null", "true", "[", "]", "{", "}", "[[[[",
	"\u2028", "\xc3\x28", "\\u0000", "1e999", "0x1p-1074"}

// anyBytes returns a copy of a valid input with a few changed bytes.
func anyBytes(rng *rand.Rand, sound [][]byte) []byte {
	out := bytes.Clone(pick(rng, sound))
	for range 1 + rng.IntN(6) {
		out = changeBytes(rng, out, sound)
	}
	return out
}

// changeBytes makes one change.
func changeBytes(rng *rand.Rand, b []byte, sound [][]byte) []byte {
	if len(b) == 0 {
		return append(b, pick(rng, pieces)...)
	}
	lo := rng.IntN(len(b))
	hi := min(len(b), lo+1+rng.IntN(1<<rng.IntN(8)))
	switch rng.IntN(11) {
	case 0:
		b[lo] ^= 1 << rng.IntN(8)
	case 1:
		b[lo] = pick(rng, []byte{0, 1, 0x7f, 0x80, 0xff, '0', '9', '-', '.'})
	case 2:
		return append(b[:lo], b[hi:]...)
	case 3: // repeat a piece
		return splice(b, lo, lo, bytes.Repeat(b[lo:hi], 1+rng.IntN(1<<rng.IntN(8))))
	case 4:
		return splice(b, lo, hi, []byte(pick(rng, numbers)))
	case 5:
		return splice(b, lo, lo, []byte(pick(rng, pieces)))
	case 6:
		return b[:lo]
	case 7: // insert a piece of another input
		other := pick(rng, sound)
		if len(other) == 0 {
			return b
		}
		from := rng.IntN(len(other))
		return splice(b, lo, hi, other[from:min(len(other), from+1+rng.IntN(64))])
	case 8: // fill a field of up to eight bytes
		for j := lo; j < min(lo+pick(rng, []int{1, 2, 4, 8}), len(b)); j++ {
			b[j] = pick(rng, []byte{0, 0xff, 0x7f, 0x80, 1})
		}
	case 9:
		return changeNumber(rng, b)
	case 10:
		if rng.IntN(20) == 0 {
			piece := pick(rng, pieces)
			return splice(b, lo, lo, []byte(strings.Repeat(piece, 1+rng.IntN(200_000)/len(piece))))
		}
		b[lo] = byte(rng.IntN(256))
	}
	return b
}

// splice returns a copy of b in which a piece replaces b[lo:hi].
func splice(b []byte, lo, hi int, piece []byte) []byte {
	out := make([]byte, 0, len(b)+len(piece))
	out = append(out, b[:lo]...)
	out = append(out, piece...)
	return append(out, b[hi:]...)
}

// changeNumber replaces a number written in digits by another one.
func changeNumber(rng *rand.Rand, b []byte) []byte {
	digit := func(c byte) bool { return c >= '0' && c <= '9' || c == '.' || c == '-' }
	for lo := rng.IntN(len(b)); lo < len(b); lo++ {
		if !digit(b[lo]) {
			continue
		}
		hi := lo
		for hi < len(b) && digit(b[hi]) {
			hi++
		}
		return splice(b, lo, hi, []byte(pick(rng, numbers)))
	}
	return b
}

// packers are reused, since creating one costs more than packing an input.
var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

// packed returns a gzip file of a changed input.
func packed(rng *rand.Rand, sound [][]byte) []byte {
	var out bytes.Buffer
	packer := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	packer.Reset(&out)
	_, _ = packer.Write(anyBytes(rng, sound))
	_ = packer.Close()
	if rng.IntN(4) == 0 {
		return changeBytes(rng, out.Bytes(), sound)
	}
	return out.Bytes()
}
