package accountant

import (
	"math"
	"testing"
)

// TestCurvesOfNeighbouringPoints: points of a curve may be so close that they share one float64
// e^ε, or that a difference of two e^ε keeps few digits. The curve still passes through its points,
// and many uses cost no less than many uses of the mechanism.
func TestCurvesOfNeighbouringPoints(t *testing.T) {
	tenth, fifth := 0.1, 0.2
	sum := tenth + fifth // the float64 above 0.3
	response := func(e float64) float64 {
		return max(0, math.Exp(0.3)-math.Exp(e)) / (1 + math.Exp(0.3))
	}
	gaussian := func(e float64) float64 { // of effect 1
		return math.Erfc((e-0.5)/math.Sqrt2)/2 - math.Exp(e)*math.Erfc((e+0.5)/math.Sqrt2)/2
	}
	grids := [][]float64{{0.3, sum}, {0, 0.1, 0.2, 0.3, sum, 0.4, 1}, {0, 5e-324, 1e-323, 0.3}}
	for gap := 1e-15; gap < 1e-5; gap *= 10 {
		grids = append(grids, []float64{0, 0.3, 0.7, 0.7 + gap, 0.7 + 2*gap, 2, 4})
	}
	for _, grid := range grids {
		for _, c := range []struct {
			curve func(float64) float64
			truth Event
		}{{response, Pure{0.3}}, {gaussian, Gaussian{1}}} {
			e := must[Curve](t)(Tabulate("near", grid, c.curve, nil))
			for _, eps := range grid {
				b, err := Delta(e, eps, AddOrRemoveOne)
				if err != nil || b.Upper < c.curve(eps)*(1-1e-14) {
					t.Errorf("%T %v: δ(%v) is %+v, want at least %v (%v)", c.truth, grid, eps, b,
						c.curve(eps), err)
				}
			}
			truth := must[Bound](t)(Epsilon(Repeated{c.truth, 50}, 1e-6, AddOrRemoveOne))
			if got := upper(t, Repeated{e, 50}, 1e-6, AddOrRemoveOne); got < truth.Lower {
				t.Errorf("%T %v: 50 uses cost %v, want at least %v", c.truth, grid, got, truth.Lower)
			}
		}
	}
}

// TestDivergencesOfHugeOrders: divergences of any order end, grow with the order, and stay below
// the divergence without sampling.
func TestDivergencesOfHugeOrders(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		e := PoissonSampled{0.1, Gaussian{1}}
		last := must[float64](t)(RDP(e, 1<<20, r))
		for _, order := range []float64{1<<20 + 0.5, 2e6, 1e12, 1e300} {
			v := must[float64](t)(RDP(e, order, r))
			if plain := order / 2; v < last || v > plain*(1+1e-9) {
				t.Errorf("%v: the divergence of order %g is %g, want %g to %g", r, order, v, last, plain)
			}
			last = v
		}
	}
}

// TestSelectionOfTooSmallAGamma: a mean that needs a γ below the smallest float64 has no price.
func TestSelectionOfTooSmallAGamma(t *testing.T) {
	e := RepeatAndSelect{Event: Gaussian{10}, Mean: 1e4, Shape: -0.999}
	if b, err := Epsilon(e, 1e-5, AddOrRemoveOne); err == nil && !math.IsInf(b.Upper, 1) {
		t.Errorf("ε is in %+v, want no bound", b)
	}
}
