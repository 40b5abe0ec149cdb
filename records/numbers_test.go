package records

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzNumbers: a text in decimal is the number that strconv makes of it, at both widths. A text in
// hexadecimal, or with underscores, is none.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1", "-0.5e-7", "+inf", "-Infinity", "nan", "NaN", "0x1p-2",
		"0X_1FFFP-16", "1_000", ".5", "5.", "1e999", "-1e999", "0e999", "1e-999", "1e+5", "1e+", "1.2.3",
		"0a", "0.00000000000000000000000000000000000000000000001e99999999", "3.4028235e38", "3.4028236e38",
		"340282356779733661637539395458142568447.9", "340282356779733661637539395458142568448",
		"34028235677973366163753939545814256844.8e1", "0.340282356779733661637539395458142568448e39",
		"1.7976931348623157e308", "1.7976931348623159e308", "-000" + overflow64, overflow64 + ".0",
		overflow64[:308] + "1.99", "0." + overflow64 + "e309", overflow64 + "e-1", "." + overflow64,
		"i", "n", "+nan", "--1", "x", "", ".", "+", "e", "1e", "e1", "infinity", "infinityx", "1x", "0b1",
		"İnf", "\u00a01"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		same(t, text, 64, number64([]byte(text)))
		same(t, text, 64, parseNumber(text))
		same(t, text, 32, float64(number32([]byte(text))))
	})
}

func same(t *testing.T, text string, bits int, got float64) {
	t.Helper()
	want, err := strconv.ParseFloat(text, bits)
	if err != nil && !math.IsInf(want, 0) || strings.ContainsAny(text, "_xX") {
		want = unreadable
	}
	if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
		t.Fatalf("%q is %v, not %v", text, got, want)
	}
}

// TestTextsThatAreNoNumbersCostNothing: a cell that cannot be read takes no memory of its own.
func TestTextsThatAreNoNumbersCostNothing(t *testing.T) {
	for _, text := range []string{"0a", "1e999", "-2e308", "4e38", "0x1p9", "1_0", "nan", "inf", "--1",
		"1e", "word", "0x", "+i", "infinite"} {
		field := []byte(text)
		if n := testing.AllocsPerRun(100, func() {
			number32(field)
			number64(field)
			parseNumber(text)
		}); n != 0 {
			t.Errorf("%q takes %v allocations", text, n)
		}
	}
}
