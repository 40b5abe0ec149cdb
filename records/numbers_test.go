package records

import (
	"math"
	"strconv"
	"testing"
)

// FuzzNumbers: what is ruled out before it is parsed is no number.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1", "-0.5e-7", "+inf", "-Infinity", "nan", "NaN", "0x1p-2",
		"0X_1FFFP-16", "1_000", ".5", "5.", "1e999",
		"i", "n", "+nan", "--1", "x", "", "1e", "e1", "infinity", "1x", "0b1", "İnf", "\u00a01"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(v, 0) {
			v = unreadable
		}
		if got := number64([]byte(text)); math.Float64bits(got) != math.Float64bits(v) &&
			!(got != got && v != v) {
			t.Fatalf("%q is %v, not %v", text, got, v)
		}
		if got := number32([]byte(text)); (got == got) != (v == v) {
			t.Fatalf("%q is %v, not %v", text, got, v)
		}
	})
}
