package accountant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestSumsAreRoundedUp compares sums, multiples and inverses with exact arithmetic: a result is not
// below the exact number, and the float64 before it is.
func TestSumsAreRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }
	check := func(what string, got float64, want *big.Float, a, b float64) {
		t.Helper()
		if math.IsInf(got, 1) {
			if want.Cmp(exact(math.MaxFloat64)) <= 0 {
				t.Errorf("%s of %v and %v is infinite", what, a, b)
			}
			return
		}
		if exact(got).Cmp(want) < 0 || got > 0 && exact(math.Nextafter(got, 0)).Cmp(want) >= 0 {
			t.Errorf("%s of %v and %v is %v, want the least float64 not below %v", what, a, b, got, want)
		}
	}
	number := func() float64 {
		x := math.Ldexp(rng.Float64(), rng.IntN(60)-30)
		switch rng.IntN(8) {
		case 0:
			return math.Ldexp(x, -1060)
		case 1:
			return float64(rng.IntN(100)) / 4
		case 2:
			return math.Ldexp(x, 990)
		}
		return x
	}
	for range 200000 {
		a, b, n := number(), number(), rng.IntN(1<<(1+rng.IntN(min(53, strconv.IntSize-2))))
		check("the sum", addUp(a, b), new(big.Float).SetPrec(4000).Add(exact(a), exact(b)), a, b)
		check("the multiple", timesUp(n, a),
			new(big.Float).SetPrec(4000).Mul(exact(float64(n)), exact(a)), float64(n), a)
		if a >= 0x1p-1000 && a <= 0x1p1000 {
			got := inverseUp(a)
			this := new(big.Float).SetPrec(4000).Mul(exact(got), exact(a))
			previous := new(big.Float).SetPrec(4000).Mul(exact(math.Nextafter(got, 0)), exact(a))
			if this.Cmp(exact(1)) < 0 || previous.Cmp(exact(1)) >= 0 {
				t.Errorf("the inverse of %v is %v, want the least float64 not below it", a, got)
			}
		}
	}
	if x := inverseUp(0x1p1010); !(x > 0x1p-1010) {
		t.Errorf("the inverse of 2^1010 is %v, want more than 2^-1010", x)
	}
}

// TestPureEpsilonsAreRoundedUp compares the ε of a single use at δ = 0 with exact arithmetic: it is
// not below the largest loss.
func TestPureEpsilonsAreRoundedUp(t *testing.T) {
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	times := func(x, y float64) *big.Float {
		return new(big.Float).SetPrec(400).Mul(exact(x), exact(y))
	}
	epsilon := func(e Event) float64 {
		b, err := Epsilon(e, 0, AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		return b.Upper
	}
	for n := 1.0; n < 200; n++ {
		if eps := epsilon(Laplace{Scale: n}); times(eps, n).Cmp(exact(1)) < 0 {
			t.Errorf("a Laplace release of scale %v has ε = %v, below 1/%v", n, eps, n)
		}
		e := DiscreteLaplace{A: 1 / n, Sensitivity: 7}
		if eps := epsilon(e); exact(eps).Cmp(times(e.A, 7)) < 0 {
			t.Errorf("%+v has ε = %v, below the largest loss", e, eps)
		}
	}
}
