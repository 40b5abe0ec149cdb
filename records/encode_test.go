package records

import (
	"math"
	"testing"
)

// TestOneValueIsARowOfOne: encoding one value and encoding a row of one value agree for every kind
// of number.
func TestOneValueIsARowOfOne(t *testing.T) {
	for _, e := range []encoder{newEncoder(Binary(1)), newEncoder(Interval(1, -1, 1)),
		newEncoder(Interval(1, 0, 3))} {
		for bits := uint64(0); bits < 1<<32; bits += 40503 {
			v := math.Float32frombits(uint32(bits))
			var row [1]float32
			e.row(row[:], []float32{v})
			if one := e.value(v); math.Float32bits(one) != math.Float32bits(row[0]) {
				t.Fatalf("%v is %v alone and %v in a row", v, one, row[0])
			}
		}
	}
}
