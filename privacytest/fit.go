package privacytest

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// GoodnessOfFit tests that draws follow a distribution, by the largest distance between the
// empirical and the stated distribution function.
//
// A correct sampler fails with probability at most FalseAlarm, for any distribution,
// continuous or not (Dvoretzky, Kiefer and Wolfowitz 1956 with the constant of Massart
// 1990).
type GoodnessOfFit struct {
	Draw       func() float64
	CDF        func(x float64) float64 // P(X ≤ x)
	FalseAlarm float64
	Samples    int // 100000 if zero
}

// Check fails the test if the draws contradict the distribution.
func (g GoodnessOfFit) Check(tb testing.TB) {
	tb.Helper()
	if d, limit := g.distance(tb); !(d <= limit) { // NaN too
		tb.Errorf("the distance of the draws' distribution function from the stated one is %.4g; a "+
			"distance above %.4g has probability %g",
			d, limit, g.FalseAlarm)
	}
}

// Rejected reports whether the draws contradict the distribution. Use it to prove that a test has
// power: it must reject a distribution of, say, 0.7 or 1.3 times the scale.
func (g GoodnessOfFit) Rejected(tb testing.TB) bool {
	tb.Helper()
	d, limit := g.distance(tb)
	return !(d <= limit)
}

func (g GoodnessOfFit) distance(tb testing.TB) (d, limit float64) {
	tb.Helper()
	if g.Draw == nil || g.CDF == nil || !(g.FalseAlarm > 0 && g.FalseAlarm < 1) {
		tb.Fatalf("privacytest.GoodnessOfFit: Draw and CDF must be set and FalseAlarm in (0, 1); it "+
			"is %v",
			g.FalseAlarm)
	}
	n := cmp.Or(g.Samples, 100000)
	x := make([]float64, n)
	for i := range x {
		x[i] = g.Draw()
	}
	slices.Sort(x)
	for i := 0; i < n; {
		to := i + 1
		for to < n && x[to] == x[i] {
			to++
		}
		d = max(d, math.Abs(g.CDF(x[i])-float64(to)/float64(n)))
		d = max(d, math.Abs(g.CDF(math.Nextafter(x[i], math.Inf(-1)))-float64(i)/float64(n)))
		i = to
	}
	return d, math.Sqrt(math.Log(2/g.FalseAlarm) / (2 * float64(n)))
}

// NormalCDF returns the distribution function of N(0, std²).
func NormalCDF(std float64) func(float64) float64 {
	return func(x float64) float64 { return math.Erfc(-x/(std*math.Sqrt2)) / 2 }
}
