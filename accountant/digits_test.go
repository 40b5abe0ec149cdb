package accountant_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

func ExampleFormatUpper() {
	const epsilon, budget = 0.98761, 1.0
	fmt.Printf("ε ≤ %s; to the nearest digit it would be %.4g\n",
		accountant.FormatUpper(epsilon, 4), epsilon)
	fmt.Printf("left: at least %s\n", accountant.FormatLower(budget-epsilon, 2))
	// Output:
	// ε ≤ 0.9877; to the nearest digit it would be 0.9876
	// left: at least 0.012
}

// TestPrintedBounds checks for values of every size that what is written, read back, is on the
// stated side of the value and less than one unit of the last printed digit away from it.
func TestPrintedBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []float64{0, math.Copysign(0, -1), 1e-5, 0.1, 0.3, 1, 9.9996, 9.99951, 99.99501, 0.99996,
		1.00004, 100.0004, 1e22, 5e-324, 1.5e-323, 0x1p-1022, 0x1.fffffffffffffp-1023, 1e-310,
		math.MaxFloat64, 1.1e308, 1.75e308}
	for range 600 {
		values = append(values, math.Exp(3*rng.NormFloat64()), math.Float64frombits(rng.Uint64()),
			math.Float64frombits(rng.Uint64()>>12>>rng.IntN(50)), // subnormal
			math.Nextafter(math.Pow10(rng.IntN(40)-20), float64(2*rng.IntN(2))*100))
	}
	for _, x := range values {
		if x != x || math.IsInf(x, 0) {
			continue
		}
		digits := 1 + rng.IntN(17)
		up, down := accountant.FormatUpper(x, digits), accountant.FormatLower(x, digits)
		for _, v := range []float64{x, -x} {
			up, down := up, down
			if math.Signbit(v) != math.Signbit(x) {
				up, down = accountant.FormatUpper(v, digits), accountant.FormatLower(v, digits)
			}
			checkPrinted(t, v, digits, up, 1)
			checkPrinted(t, v, digits, down, -1)
		}
	}
}

// checkPrinted checks a text that must not be below v (side 1) or not above v (side -1).
func checkPrinted(t *testing.T, v float64, digits int, text string, side float64) {
	t.Helper()
	got, err := strconv.ParseFloat(text, 64)
	if got == math.Inf(int(side)) && math.Abs(v) > math.MaxFloat64*(1-math.Pow10(1-digits)) ||
		got == math.Inf(int(side)) && digits == 1 && math.Abs(v) >= 1e308 {
		return
	}
	if err != nil || side*got < side*v {
		t.Fatalf("%v with %d digits is %s: on the wrong side", v, digits, text)
	}
	mantissa, power, _ := strings.Cut(strings.TrimLeft(text, "-+"), "e")
	significant := strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0")
	if len(significant) > digits && !strings.HasSuffix(significant, "0") {
		t.Fatalf("%v with %d digits is %s: too many digits", v, digits, text)
	}
	// The unit of the last of the digits, written or a zero that is left out.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(got), 'e', -1, 64), "e")
	if power != "" {
		exponent = power
	}
	e, _ := strconv.Atoi(exponent)
	shown, unit := exactly(t, text), exactly(t, "1e"+strconv.Itoa(e-digits+1))
	apart := new(big.Float).SetPrec(200).Sub(shown, new(big.Float).SetFloat64(v))
	if apart.Abs(apart).Cmp(unit) >= 0 {
		t.Fatalf("%v with %d digits is %s: one unit or more away", v, digits, text)
	}
}

func exactly(t *testing.T, text string) *big.Float {
	t.Helper()
	v, _, err := big.ParseFloat(text, 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPrintedBoundsByHand(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x        float64
		digits   int
		up, down string
	}{
		{1e-5, 3, "1e-05", "1e-05"}, {1.0049e-5, 3, "1.01e-05", "1e-05"}, {0, 3, "0", "0"},
		{9.999, 3, "10", "9.99"}, {0.99996, 4, "1", "0.9999"}, {1.00004, 4, "1.001", "1"},
		{0.0999999, 3, "0.1", "0.0999"}, {2, 0, "2", "2"}, {-1.23, 2, "-1.2", "-1.3"},
		{999999, 4, "1e+06", "9.999e+05"}, {inf, 4, "+Inf", "+Inf"}, {-inf, 4, "-Inf", "-Inf"},
		{math.NaN(), 4, "NaN", "NaN"}, {-math.NaN(), 4, "NaN", "NaN"}, {0.1, 17, "0.10000000000000001",
			"0.10000000000000001"}, {0.1, 99, "0.10000000000000001", "0.10000000000000001"},
		{math.MaxFloat64, 4, "+Inf", "1.797e+308"}, {1.1e308, 1, "+Inf", "1e+308"},
		{5e-324, 1, "5e-324", "5e-324"}, {5e-324, 6, "4.94066e-324", "4.94066e-324"},
	} {
		up, down := accountant.FormatUpper(c.x, c.digits), accountant.FormatLower(c.x, c.digits)
		if up != c.up || down != c.down {
			t.Errorf("%v with %d digits is %s and %s, want %s and %s", c.x, c.digits, up, down, c.up,
				c.down)
		}
	}
}
