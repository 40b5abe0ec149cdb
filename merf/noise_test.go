package merf

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestSpreadFillsTheEvent checks that the effect of the release is exactly 1/z for many bounds,
// numbers of classes, noise multipliers and shares.
func TestSpreadFillsTheEvent(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, ratio := range []float64{1, math.Sqrt2, 1.7, 2} {
			for _, classes := range []int{1, 2, 10} {
				for _, z := range []float64{0.01, 1, 3.7, 900} {
					for _, share := range []float64{1e-4, 0.02, 0.5, 0.9} {
						b := bounds{norm: 1.3, change: 1.3 * ratio, dim: 5000}
						n := spread(r, b, classes, z, share)
						if got := n.effect * z; got > 1+1e-12 || got < 1-1e-9 {
							t.Errorf("%v, Δ/B = %.2f, %d classes, z = %v, share %v: effect·z = %v, want 1", r, ratio,
								classes, z, share, got)
						}
						if released := n.count > 0; released != (classes > 1 || r == accountant.AddOrRemoveOne) {
							t.Errorf("%v, %d classes: the noise on counts is ±%v", r, classes, n.count)
						}
					}
				}
			}
		}
	}
}

// TestSumKernelBounds tests the bounds of features [φ(x); one-hot/√d] of c columns with d levels.
func TestSumKernelBounds(t *testing.T) {
	const c, d, z = 8, 101, 2.0
	b := bounds{norm: math.Sqrt(1 + c/float64(d)), change: math.Sqrt(4 + 2*c/float64(d)), dim: 1000}
	n := spread(accountant.ReplaceOne, b, 2, z, 0.02)
	square := func(x float64) float64 { return x * x }
	want := math.Sqrt(max((4+2*c/float64(d))/square(n.sum),
		(2+2*c/float64(d))/square(n.sum)+2/square(n.count)))
	if math.Abs(n.effect/want-1) > 1e-4 {
		t.Errorf("effect %v, want %v", n.effect, want)
	}
	if n.sum > 1.0001*z*b.change {
		t.Errorf("noise ±%v on sums, want ±%v: counts need no additional noise here", n.sum, z*b.change)
	}
}

// TestDefaultShareIsBest checks dimensions at which the share is above its minimum. No other share
// may give a smaller expected error of a mean.
func TestDefaultShareIsBest(t *testing.T) {
	risk := func(dim int, a float64) float64 { return float64(dim)/(1-a) + 1/a }
	for _, dim := range []int{1, 10, 9000} {
		best := risk(dim, defaultCountShare(dim))
		for a := 0.001; a < 1; a += 0.001 {
			if risk(dim, a) < best*(1-1e-12) {
				t.Fatalf("dim %d: share %v has a smaller error than %v", dim, a, defaultCountShare(dim))
			}
		}
	}
}

// TestRowsRoundedApart scales two rows by different factors and rounds them toward zero on a coarse
// grid. This can increase their distance beyond the features' bound, but must not increase it
// beyond the bound for which the noise is chosen.
func TestRowsRoundedApart(t *testing.T) {
	const dim, grid = 9, 1.0 / 16
	b := bounds{norm: 1, change: 0.5, dim: dim}
	rng, worst := rand.New(rand.NewPCG(1, 2)), 0.0
	for range 20_000 {
		x, y := make([]float64, dim), make([]float64, dim)
		size, apart := 0.0, 0.0
		for j := range x {
			x[j], y[j] = rng.NormFloat64(), rng.NormFloat64()
			size += x[j] * x[j]
			apart += y[j] * y[j]
		}
		moved := 0.0
		for j := range x { // y is x plus a vector of length change
			x[j] *= 0.5 / math.Sqrt(size)
			y[j] = x[j] + y[j]*b.change/math.Sqrt(apart)
			d := math.Trunc(x[j]/grid)*grid - math.Trunc(y[j]*(1-0x1p-19)/grid)*grid
			moved += d * d
		}
		worst = max(worst, math.Sqrt(moved))
	}
	if held := b.held(grid).change; worst > held || worst <= b.change {
		t.Errorf("rows at distance %v have distance %v after rounding; the bound is %v", b.change, worst,
			held)
	}
}

// TestRowsRoundedTogether checks the bound for two persons whose rows are rounded separately. Each
// row can add one grid step to the distance between the persons' means, so a bound for single rows
// is too small.
func TestRowsRoundedTogether(t *testing.T) {
	const dim, rows = 9, 16
	const grid = 1.0 / 64
	b := bounds{norm: 1, change: 0.05, dim: dim, rows: rows}
	moved := 0.0
	for range dim {
		// One person has one row of 15 steps, the other 16 rows of just below one step each.
		d := 15*grid - rows*math.Trunc((1-1e-9)*grid/grid)*grid
		moved += d * d
	}
	worst, single := math.Sqrt(moved), b
	single.rows = 1
	if held := b.held(grid).change; worst > held || worst <= single.held(grid).change {
		t.Errorf("the means have distance %v; the bound is %v, for single rows %v", worst, held,
			single.held(grid).change)
	}
}
