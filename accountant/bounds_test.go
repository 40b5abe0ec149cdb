package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestProbabilitiesAreProbabilities: every probability of an event, and a rate of errors, is from 0
// to 1.
func TestProbabilitiesAreProbabilities(t *testing.T) {
	for p, good := range map[float64]bool{0: true, 0.5: true, 1: true, -1e-300: false, -0.1: false,
		math.Nextafter(1, 2): false, math.NaN(): false, math.Inf(1): false, math.Inf(-1): false} {
		for path, e := range map[string]Event{
			"accountant.PoissonSampled.Probability":   PoissonSampled{p, Gaussian{1}},
			"accountant.SampledSum.Probability":       SampledSum{p, 1},
			"accountant.TruncatedPoisson.Probability": TruncatedPoisson{p, 9, 9, 1},
		} {
			_, err := Epsilon(e, 1e-5, AddOrRemoveOne)
			refused(t, path, p, err, good)
		}
		_, err := Epsilon(GaussianMixture{1, []float64{1, 2}, []float64{1 - p, p}}, 1e-5, AddOrRemoveOne)
		if (err == nil) != good {
			t.Errorf("a mixture with the probability %v: %v", p, err)
		}
		_, err = TradeOff(Gaussian{1}, AddOrRemoveOne, 0.5, p)
		refused(t, "accountant.TradeOff.falsePositives", p, err, good)
	}
}

// refused checks whether an error is a refusal of a value at a path.
func refused(t *testing.T, path string, v float64, err error, good bool) {
	t.Helper()
	var p *param.Error
	if (err == nil) != good || err != nil && (!errors.As(err, &p) || p.Path != path) {
		t.Errorf("%s = %v: %v", path, v, err)
	}
}

// TestEstimatesLieBetween: for single releases and compositions, from ε = 0 to values whose δ is
// tiny, the estimate of δ is not outside its own bounds, and neither is that of ε.
func TestEstimatesLieBetween(t *testing.T) {
	for _, e := range []Event{Gaussian{1}, Gaussian{0.1}, Laplace{0.7}, DiscreteLaplace{1, 2},
		Approximate{1, 1e-3}, PoissonSampled{0.01, Gaussian{1}}, SampledSum{0.2, 2},
		GaussianMixture{1, []float64{1, 2}, []float64{0.5, 0.5}}, TruncatedPoisson{0.1, 90, 12, 1},
		Repeated{PoissonSampled{0.01, Gaussian{1}}, 20}, Composed{[]Event{Gaussian{2}, Laplace{2}}}} {
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			for _, epsilon := range []float64{0, 0.01, 0.5, 1, 3, 10, 100, 599, 601} {
				if b, err := Delta(e, epsilon, r); err != nil && !errors.Is(err, ErrUnsupported) ||
					err == nil && !(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper &&
						b.Upper <= 1) {
					t.Errorf("δ(%v) of %s is %+v: %v", epsilon, Describe(e), b, err)
				}
			}
			for _, delta := range []float64{1e-12, 1e-5, 0.1} {
				if b, err := Epsilon(e, delta, r); err != nil && !errors.Is(err, ErrUnsupported) ||
					err == nil && !(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
					t.Errorf("ε(%v) of %s is %+v: %v", delta, Describe(e), b, err)
				}
			}
		}
	}
}
