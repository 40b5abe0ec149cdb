package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestProductsRoundTowardZero: a row never adds more than the exact product, even if the product
// is slightly below a grid point.
func TestProductsRoundTowardZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	near := 0
	for range 20000 {
		scale := rng.Float64()
		whole := float64(1 + rng.Int64N(1<<40))
		v := whole / scale
		exact := new(big.Rat).Mul(new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(scale))
		if exact.Cmp(new(big.Rat).SetFloat64(whole)) >= 0 {
			v = math.Nextafter(v, 0)
			exact.Mul(new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(scale))
		}
		if v*scale == whole {
			near++
		}
		s := NewFixedSum(1, 1)
		s.AddRow64([]float64{v}, scale)
		if got := s.sum[0]; new(big.Rat).SetInt64(got).Cmp(exact) > 0 {
			t.Fatalf("%v × %v adds %d, more than %v", v, scale, got, exact.FloatString(6))
		}
	}
	if near < 1000 {
		t.Errorf("only %d products round to the grid point above, want at least 1000", near)
	}
}
