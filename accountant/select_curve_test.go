package accountant

import (
	"math"
	"testing"
)

// slopeOf is f′(1−y), f being the generating function of the number of runs, or with a limit of one
// that is drawn again until it is no larger.
func slopeOf(e RepeatAndSelect, limit int) func(y float64) float64 {
	gamma := selectGamma(e.Shape, e.Mean)
	if limit == 0 {
		return func(y float64) float64 {
			return e.Mean * math.Pow(gamma/(gamma+(1-gamma)*y), 1+e.Shape)
		}
	}
	p, total := make([]float64, limit+1), 0.0
	for k, w := 1, 1.0; k <= limit; k++ {
		p[k] = w
		total += w
		w *= (float64(k) + e.Shape) / float64(k+1) * (1 - gamma)
	}
	return func(y float64) float64 {
		sum := 0.0
		for k := limit; k >= 1; k-- {
			sum = sum*(1-y) + float64(k)*p[k]/total
		}
		return sum
	}
}

// TestCurveOfASelection: scores are normal, one unit apart under neighbours, and the best of many
// is released. Its density is f′(Φ(x))·φ(x), so δ(ε) is an integral. The claim is never below it,
// in neither direction, limited number or not, and much nearer than that by Rényi divergences.
func TestCurveOfASelection(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	for _, e := range []RepeatAndSelect{{Mean: 20}, {Mean: 8, Shape: 1}, {Mean: 5, Shape: -0.5},
		{Mean: 400}, {Mean: 1}} {
		for _, sigma := range []float64{0.8, 2.5, 8} {
			e.Event = Gaussian{sigma}
			for _, limit := range []int{0, 12} {
				slope := slopeOf(e, limit)
				var p, q []float64 // of fine intervals of the best score
				const h = 1e-3
				for x := -10 * sigma; x < 10*sigma+1; x += h * sigma {
					p = append(p, h*density((x-1)/sigma)*slope(normal(-(x-1)/sigma)))
					q = append(q, h*density(x/sigma)*slope(normal(-x/sigma)))
				}
				best := 0.0
				for _, eps := range []float64{0.1, 0.3, 1, 2, 4} {
					up, down := 0.0, 0.0
					for i := range p {
						up += max(0, p[i]-math.Exp(eps)*q[i])
						down += max(0, q[i]-math.Exp(eps)*p[i])
					}
					truth := max(up, down)
					claim := must[Bound](t)(Delta(e, eps, AddOrRemoveOne)).Upper
					if truth > claim*(1+1e-5) {
						t.Errorf("%+v limit %d: δ(%g) = %g, claimed %g", e, limit, eps, truth, claim)
					}
					if truth > 1e-9 {
						b := must[Bound](t)(Epsilon(e, truth, AddOrRemoveOne)).Upper
						if b < eps*(1-1e-5) {
							t.Errorf("%+v limit %d: ε(%g) = %g, claimed %g", e, limit, truth, eps, b)
						}
						best = max(best, eps/b)
					}
				}
				if limit == 0 && e.Mean >= 5 && e.Mean <= 20 && best < 0.4 {
					t.Errorf("%+v: the claim is %g times the truth at least", e, 1/best)
				}
			}
		}
	}
	e := RepeatAndSelect{Event: Gaussian{2.57}, Mean: 20}
	curve := must[Bound](t)(Epsilon(e, 1e-5, AddOrRemoveOne)).Upper
	renyi := must[RDPReport](t)(RDPEpsilon(e, 1e-5, AddOrRemoveOne)).Epsilon
	if curve > 0.9*renyi {
		t.Errorf("ε = %g by the curve, %g by Rényi divergences", curve, renyi)
	}
	l := NewLedger(Budget{Epsilon: 10, Delta: 1e-5})
	if err := l.Spend("search", e); err != nil || l.Guarantee().Accountant != engineSelect {
		t.Error(l.Guarantee(), err)
	}
	t.Logf("ε = %g by the curve, %g by Rényi divergences", curve, renyi)
}
