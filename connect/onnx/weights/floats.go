package weights

import (
	"encoding/binary"
	"math"
)

// decoder returns the width of a type of number in bytes and the function that reads it, given the
// type's name in safetensors files. The width is 0 for a type that is not read.
func decoder(kind string) (width int, read func([]byte) float32) {
	le := binary.LittleEndian
	switch kind {
	case "F32":
		return 4, func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) }
	case "F64":
		return 8, func(b []byte) float32 { return float32(math.Float64frombits(le.Uint64(b))) }
	case "BF16":
		return 2, func(b []byte) float32 { return math.Float32frombits(uint32(le.Uint16(b)) << 16) }
	case "F16":
		return 2, func(b []byte) float32 { return half(le.Uint16(b)) }
	}
	return 0, nil
}

// half returns the value of a binary16 number of IEEE 754.
func half(bits uint16) float32 {
	sign, exponent, fraction := bits>>15, int(bits>>10&31), float64(bits&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		if v = math.Inf(1); fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if sign == 1 {
		v = -v
	}
	return float32(v)
}
