package accountant

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestPrintedBoundsAreNotBelow checks that a printed bound is not below the bound, and at most one
// unit of its last digit above.
func TestPrintedBoundsAreNotBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		x, digits := math.Exp(40*rng.NormFloat64()), 1+rng.IntN(6)
		got, err := strconv.ParseFloat(roundUp(x, digits), 64)
		if err != nil || got < x || got > x*(1+1.01*math.Pow(10, float64(1-digits))) {
			t.Fatalf("%v with %d digits is %s", x, digits, roundUp(x, digits))
		}
	}
	for x, want := range map[float64]string{1e-5: "1e-05", 1.0049e-5: "1.01e-05", 0: "0",
		9.999: "10", 2: "2", math.Inf(1): "+Inf", 0.0999999: "0.1"} {
		if got := roundUp(x, 3); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}
