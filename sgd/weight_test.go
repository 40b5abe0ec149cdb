package sgd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A weight is never above its factor: a subnormal one that rounded up would lift its row above the
// bound by up to half of it.
func TestWeightsRoundDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	up := 0
	for range 10000 {
		factor := math.Ldexp(0.5+rng.Float64()/2, -rng.IntN(160))
		if float64(float32(factor)) > factor {
			up++
		}
		if w := weight(factor); float64(w) > factor || w < 0 {
			t.Fatalf("weight %v of a factor of %v", w, factor)
		}
	}
	if up < 1000 {
		t.Errorf("only %d factors would round up: the test has no power", up)
	}
}
