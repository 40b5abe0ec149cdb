package parquet

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Decimals are whole numbers times a power of ten. This package writes them as INT64. It also reads
// INT32 and bytes in two's complement, most significant byte first, as other programs write them.

// maxScale is the largest number of decimal places, and maxDecimal the largest number of bytes,
// which hold 38 digits.
const (
	maxScale   = 76
	maxDecimal = 16
)

// readableDecimal reports whether decimals of a type can be read.
func readableDecimal(t pq.Type, l *format.DecimalType) bool {
	return l.Scale >= -maxScale && l.Scale <= maxScale &&
		(t.Kind() != pq.FixedLenByteArray || t.Length() >= 1 && t.Length() <= maxDecimal)
}

// byteDecimals reads decimals that are stored as bytes. A decimal of no bytes, or of more than
// maxDecimal, is a missing value.
func byteDecimals(scale int) convert {
	unit := math.Pow10(scale)
	text := func(dst []byte, v pq.Value) []byte { return appendByteDecimal(dst, v.ByteArray(), scale) }
	out := convert{text: text, number: func(v pq.Value) float64 {
		if x, ok := wholeOf(v.ByteArray()); ok && -1<<53 < x && x < 1<<53 && scale >= 0 && scale <= 22 {
			return float64(x) / unit
		}
		var room [96]byte
		x, err := strconv.ParseFloat(string(text(room[:0], v)), 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}}
	if scale == 0 {
		out.whole = func(v pq.Value) int64 {
			x, ok := wholeOf(v.ByteArray())
			if b := v.ByteArray(); !ok && len(b) > 0 { // package records clamps it
				if x = math.MaxInt64; b[0] >= 0x80 {
					x = math.MinInt64
				}
			}
			return x
		}
	}
	return out
}

// wholeOf returns the number that the bytes represent; ok is false if it needs more than 64 bits.
func wholeOf(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > maxDecimal {
		return 0, false
	}
	v = int64(int8(b[0]))
	for _, x := range b[1:] {
		if v != v<<8>>8 {
			return 0, false
		}
		v = v<<8 | int64(x)
	}
	return v, true
}

// appendByteDecimal appends the decimal that the bytes represent.
func appendByteDecimal(dst, b []byte, scale int) []byte {
	if v, ok := wholeOf(b); ok && scale >= 0 {
		return appendDecimal(dst, v, scale)
	}
	if len(b) == 0 || len(b) > maxDecimal {
		return dst
	}
	x := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if x.Sign() < 0 {
		dst = append(dst, '-')
	}
	return appendDigits(dst, x.Abs(x).String(), scale)
}

// appendDecimal appends the decimal v·10^−scale without trailing zeros.
func appendDecimal(dst []byte, v int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	u := uint64(v)
	if v < 0 {
		dst, u = append(dst, '-'), -u
	}
	return appendDigits(dst, strconv.FormatUint(u, 10), scale)
}

// appendDigits appends digits with a decimal point before the last scale of them.
func appendDigits(dst []byte, digits string, scale int) []byte {
	if scale <= 0 {
		return append(append(dst, digits...), slices.Repeat([]byte{'0'}, -scale)...)
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if fraction := strings.TrimRight(digits[len(digits)-scale:], "0"); fraction != "" {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}
