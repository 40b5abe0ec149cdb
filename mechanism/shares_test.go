package mechanism

import (
	"context"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestSharesAddUpExactly: fractions that are multiples of 2^-20 and add up to 1 count as 1, for any
// noise. AddShare panics on a grid that is too coarse.
func TestSharesAddUpExactly(t *testing.T) {
	b := accountant.Budget{Epsilon: 1e9, Delta: 1e-5}
	for _, std := range []float64{1e-3, 1, 1000, 1e6, 1e7} {
		sum := NewFixedSum(2, shareGrid(std))
		for range 3 {
			sum.AddShare(0, 349525*0x1p-20)
		}
		sum.AddShare(0, 0x1p-20)
		sum.AddInt(1, 1)
		one, whole := NewFixedSum(2, shareGrid(std)), make([]float64, 2)
		one.AddInt(0, 1)
		one.AddInt(1, 1)
		if !slices.Equal(sum.sum, one.sum) {
			t.Errorf("noise %v: the fractions do not add up to exactly 1", std)
		}
		g := must(Begin(context.Background(), ledger.New(b)).Spend("counts",
			accountant.Gaussian{NoiseMultiplier: 1}))(t)
		if err := g.Release(1, Part{Sum: sum, Std: std, Out: whole}); err != nil {
			t.Errorf("noise %v: %v", std, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("AddShare accepts a fraction on a coarse grid")
		}
	}()
	NewFixedSum(1, 0x1p-19).AddShare(0, 0.5)
}
