package records

import (
	"math"
	"testing"
	"time"
)

// TestLogarithmsHaveTheStatedUnit: a logarithmic number is encoded by log(1 + (v − lo)/u) with the
// unit u that LogUnit states, whose coordinate lies between 0 and 1 and is decoded to the number.
func TestLogarithmsHaveTheStatedUnit(t *testing.T) {
	const wide = 1 << 60 // float64 has every 256th whole number above it
	for _, c := range []struct {
		Column
		same bool // whether the bounds are the same float64
	}{{Duration("a", 0, 40*time.Second, time.Millisecond), false},
		{Duration("b", -time.Hour, time.Hour, time.Minute), false},
		{Duration("c", 70, time.Hour, time.Second), false},
		{Duration("d", time.Second, time.Hour, 10*time.Millisecond), false},
		{Duration("e", 1e18, 1e18+40, 1), true},
		{Integer("f", 0, 0).withWhole(wide, wide+40), true},
		{Integer("g", 0, 0).withWhole(3, wide), false}, {Integer("h", 0, 0).withWhole(0, wide), false},
		{Integer("i", 20, 5000), false}, {Numeric("j", 5e-324, 1), false},
		{Numeric("k", 5e-324, 1e-20), false}, {Numeric("l", 1e300, 1.1e300), false},
		{Numeric("m", 1, math.Nextafter(1, 2)), false}, {Numeric("n", .25, 9).WithStep(.25), false},
		{Numeric("o", -3, 1e300), false}} {
		c := struct {
			Column
			same bool
		}{c.Logarithmic(), c.same}
		s, err := NewSchema(c.Column, Flag("flag", "n", "y"))
		if err != nil {
			t.Fatal(err)
		}
		k, row := &s.table.cells[0], make([]float32, s.Dim())
		for i := range 41 {
			clear(row)
			var v, off float64
			if part := float64(i) / 40; k.tick != nil {
				at := int64(part * float64(k.tick.last))
				k.encodeTick(row, at)
				v, off = k.tick.float(at), math.Abs(float64(k.decodeTick(row)-at))/(float64(at)+k.log)
			} else {
				v = k.number(c.lo + (c.hi-c.lo)*part)
				k.encodeNumber(row, v)
				off = math.Abs(k.decodeNumber(row)-v) / (v - c.lo + k.log)
			}
			u := c.LogUnit()
			want := math.Log1p((v-c.lo)/u) / math.Log1p((c.hi-c.lo)/u)
			if x := float64(row[0]); !(x >= 0 && x <= 1) || !c.same && math.Abs(x-want) > 1e-6 ||
				!(off <= 1e-4) {
				t.Fatalf("%v: %v has coordinate %v, want %v, and is decoded with an error of %.2g", c.Column,
					v, x, want, off)
			}
		}
	}
}
