package accountant

import (
	"math"
	"testing"
)

// TestUsesOfSamplesCostAtMostTheirSum: n uses at nδ cost at most n times one use at δ, also where
// the curve of one use is flat far out, and where nearly all losses of one use are far below 0.
func TestUsesOfSamplesCostAtMostTheirSum(t *testing.T) {
	for _, e := range []Event{
		PoissonSampled{0.01, OneOf{[]Event{Approximate{1, 1e-6}, Gaussian{1}}}},
		PoissonSampled{0.5, SparseHistogram{20, 60, 1}}, PoissonSampled{0.1, SparseHistogram{20, 60, 3}},
		PoissonSampled{0.3, DiscreteGaussian{1, 20}}, PoissonSampled{0.3, DiscreteGaussian{1, 9}},
		OneOf{[]Event{TruncatedPoisson{0.01, 1000, 20, 1}, DiscreteLaplace{0.1131, 1}}},
		OneOf{[]Event{TruncatedPoisson{0.01, 119, 2, 0.9}, DiscreteLaplace{0.1131, 1}}},
		PoissonSampled{0.9994, DiscreteGaussian{12.4, 2}}, PoissonSampled{0.02, Pure{0.3247}},
	} {
		for _, n := range []int{2, 5} {
			for _, eps := range []float64{0.1, 1, 20} {
				one := must[Bound](t)(Delta(e, eps, AddOrRemoveOne)).Upper
				all := must[Bound](t)(Delta(Repeated{e, n}, float64(n)*eps, AddOrRemoveOne)).Upper
				if all > float64(n)*one*(1+1e-3) {
					t.Errorf("%d uses of %s: δ(%g) is %g, want at most %d times %g", n, Describe(e),
						float64(n)*eps, all, n, one)
				}
			}
			for _, delta := range []float64{1e-2, 1e-3, 1e-5} {
				one := upper(t, e, delta/float64(n), AddOrRemoveOne)
				all := upper(t, Repeated{e, n}, delta, AddOrRemoveOne)
				if all > float64(n)*one*(1+1e-4)+1e-9 {
					t.Errorf("%d uses of %s cost %g, want at most %d times %g", n, Describe(e), all, n, one)
				}
			}
		}
	}
}

// TestFarTailsHaveNoLowerEnd: what a pair leaves out of its tails is a bound, so no lower end rests
// on it: the true δ of these events is below 1e-300.
func TestFarTailsHaveNoLowerEnd(t *testing.T) {
	for _, e := range []Event{PoissonSampled{0.3, DiscreteGaussian{3, 1}},
		PoissonSampled{0.5, RandomAllocation{Steps: 10, NoiseMultiplier: 1}}} {
		for _, n := range []int{1, 2} {
			b := must[Bound](t)(Delta(Repeated{e, n}, 500, AddOrRemoveOne))
			if b.Lower > 1e-300 || math.IsNaN(b.Upper) || b.Upper > 1e-30 {
				t.Errorf("%d uses of %s: δ(500) is in %+v, want less", n, Describe(e), b)
			}
		}
	}
}
