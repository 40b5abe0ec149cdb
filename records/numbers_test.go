package records

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// FuzzNumbers: a decimal text is read as the number that strconv returns, at both widths. A text in
// hexadecimal, or with underscores, is not a number.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1", "-0.5e-7", "+inf", "-Infinity", "nan", "NaN", "0x1p-2",
		"0X_1FFFP-16", "1_000", ".5", "5.", "1e999", "-1e999", "0e999", "1e-999", "1e+5", "1e+", "1.2.3",
		"0a", "0.00000000000000000000000000000000000000000000001e99999999", "3.4028235e38", "3.4028236e38",
		"340282356779733661637539395458142568447.9", "340282356779733661637539395458142568448",
		"34028235677973366163753939545814256844.8e1", "0.340282356779733661637539395458142568448e39",
		"1.7976931348623157e308", "1.7976931348623159e308", "-000" + overflow64, overflow64 + ".0",
		overflow64[:308] + "1.99", "0." + overflow64 + "e309", overflow64 + "e-1", "." + overflow64,
		"i", "n", "+nan", "--1", "x", "", ".", "+", "e", "1e", "e1", "infinity", "infinityx", "1x", "0b1",
		"İnf", "\u00a01", "5e-324", "-2.4703282292062327e-324", "2.4703282292062328e-324", "1e-45",
		"7.0064923216240853546186479164495e-46", "7.0064923216240853546186479164496e-46", "-1e-46",
		"2.2250738585072011e-308", "2.2250738585072014e-308", "1.17549435e-38", "1.17549428e-38",
		"0.1000000000000000055511151231257827021181583404541015625", "9007199254740993.00000000000001",
		"4503599627370497.5000000000000000", "16777217.000000000000000000000000",
		"1234567890.12345678901"} {
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
	same := math.Float64bits(got) == math.Float64bits(want)
	if got != got && want != want { // float32 does not distinguish NaNs
		same = bits == 32 || isUnreadable(got) == isUnreadable(want)
	}
	if !same {
		t.Fatalf("%q is %v, want %v", text, got, want)
	}
}

// TestTextsThatAreNoNumbersCostNothing: a cell that cannot be read allocates no memory.
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

// TestNumbersNextToHalves: numbers half way between two floats, and numbers that differ from them
// in the last digit, are read as by strconv, at all magnitudes.
func TestNumbersNextToHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		v := math.Float64frombits(rng.Uint64() &^ (1 << 63))
		if rng.IntN(4) == 0 {
			v = math.Float64frombits(rng.Uint64() >> (12 + rng.IntN(52)))
		}
		if math.IsInf(v, 0) || v != v {
			continue
		}
		half := new(big.Float).SetPrec(2000).SetFloat64(v)
		half.Add(half, new(big.Float).SetFloat64(math.Nextafter(v, math.Inf(1))))
		text := half.Quo(half, big.NewFloat(2)).Text('e', 800)
		mantissa, exponent, _ := strings.Cut(text, "e")
		mantissa = strings.TrimRight(mantissa, "0")
		short := mantissa[:min(len(mantissa), 19+rng.IntN(9))]
		for _, m := range []string{mantissa, mantissa + "1", mantissa[:len(mantissa)-1] + "0", short} {
			same(t, m+"e"+exponent, 64, number64([]byte(m+"e"+exponent)))
		}
		small := float64(math.Float32frombits(rng.Uint32() >> (1 + rng.IntN(30))))
		if next := float64(math.Nextafter32(float32(small), float32(math.Inf(1)))); !(next < 1e38) {
			continue
		} else {
			text = strconv.FormatFloat((small+next)/2, 'e', 60, 64)
		}
		same(t, text, 32, float64(number32([]byte(text))))
		text = strings.Replace(text, "0e", "1e", 1)
		same(t, text, 32, float64(number32([]byte(text))))
	}
}

func BenchmarkNumbers(b *testing.B) {
	for _, text := range []string{"0.123456", "5e-324", "8.98846567431157953864652595394e307",
		"2.2250738585072011360574097967091319759348195463516456480234261097248222220210769455e-308"} {
		b.Run(text, func(b *testing.B) {
			for field := []byte(text); b.Loop(); {
				number64(field)
			}
		})
	}
}

func isUnreadable(v float64) bool { return math.Float64bits(v) == math.Float64bits(unreadable) }

// TestNumbersAreWrittenAsShortAsPossible compares appendNumber with strconv for random numbers of
// few and many digits, and for their neighbours.
func TestNumbersAreWrittenAsShortAsPossible(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	check := func(v float64) {
		t.Helper()
		format := byte('f')
		if a := math.Abs(v); a != 0 && (a < 1e-5 || a >= 1e16) {
			format = 'e'
		}
		want := strconv.FormatFloat(v, format, -1, 64)
		if got := string(appendNumber([]byte("x"), v)); got != "x"+want {
			t.Fatalf("%v is written as %q, want %q", v, got[1:], want)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1e-5, 9.9999999e-6, 1e15, 1e15 - 0.5, 1e16,
		1e17, 999999999999999, 9999999.99999999, 0.1 + 0.2, 5e-324, math.MaxFloat64, math.Inf(1),
		math.Inf(-1), math.NaN(), 0.00001001, 0.000001, 123456.7891} {
		check(v)
		check(-v)
	}
	for range 400_000 {
		v := float64(rng.Int64()>>rng.IntN(63)) / math.Pow10(rng.IntN(20))
		check(v)
		check(math.Nextafter(v, math.Inf(1-2*rng.IntN(2))))
		check(math.Float64frombits(rng.Uint64()))
		check(-math.Round(v*1e3) / 1e3)
	}
}
