package sgd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestWeightsRoundDown: a weight is never above its factor. A subnormal weight that was rounded up
// could give its row a norm of 1.5 times the bound.
func TestWeightsRoundDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	up := 0
	for range 10000 {
		factor := math.Ldexp(0.5+rng.Float64()/2, -rng.IntN(160))
		if float64(float32(factor)) > factor {
			up++
		}
		if w := weight(factor); float64(w) > factor || w < 0 {
			t.Fatalf("factor %[2]v has weight %[1]v, want a weight from 0 to the factor", w, factor)
		}
	}
	if up < 1000 {
		t.Errorf("only %d factors would round up: the test has no power", up)
	}
}

// TestNormalizedFactors: a zero gradient has a finite factor. A gradient whose norm is not finite
// has the factor 0.
func TestNormalizedFactors(t *testing.T) {
	c := Normalize{}.start(accountant.AddOrRemoveOne, 1)
	if f := c.factor(0); !(f > 0 && f <= 1/0.01) {
		t.Errorf("a zero gradient has the factor %v", f)
	}
	for _, s := range []float64{math.NaN(), math.Inf(1), -1} {
		if f := c.factor(s); f != 0 {
			t.Errorf("a squared norm of %v has the factor %v", s, f)
		}
	}
}
