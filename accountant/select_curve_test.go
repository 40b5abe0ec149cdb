package accountant

import (
	"math"
	"testing"
)

// slopeOf returns the function f′(1−y), where f is the generating function of the number of runs.
// If limit is positive, the number is drawn again until it is at most limit.
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

// TestCurveOfASelection compares the claimed δ with an integral. Scores are normal with means one
// unit apart under neighbours, and the best of many scores is released. Its density is
// f′(Φ(x))·φ(x). The claimed δ is never below the integral, in either direction, with and without a
// limit on the number of runs. It is much closer to the integral than the bound by Rényi
// divergences.
func TestCurveOfASelection(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	for _, e := range []RepeatAndSelect{{Mean: 20}, {Mean: 8, Shape: 1}, {Mean: 5, Shape: -0.5},
		{Mean: 400}, {Mean: 1}, {Mean: 8, Shape: -0.9375}} {
		for _, sigma := range []float64{0.8, 2.5, 8} {
			e.Event = Gaussian{sigma}
			for _, limit := range []int{0, 12} {
				slope := slopeOf(e, limit)
				var p, q []float64 // probabilities of small intervals of the best score
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
						t.Errorf("%+v limit %d: δ(%g) = %g is above the bound %g", e, limit, eps, truth, claim)
					}
					if truth > 1e-9 {
						b := must[Bound](t)(Epsilon(e, truth, AddOrRemoveOne)).Upper
						if b < eps*(1-1e-5) {
							t.Errorf("%+v limit %d: ε(%g) = %g is above the bound %g", e, limit, truth, eps, b)
						}
						best = max(best, eps/b)
					}
				}
				if limit == 0 && e.Mean >= 5 && e.Mean <= 20 && e.Shape > -0.9 && best < 0.4 {
					t.Errorf("%+v: the bound of ε is at least %g times ε, want at most 2.5 times", e, 1/best)
				}
			}
		}
	}
	e := RepeatAndSelect{Event: Gaussian{2.57}, Mean: 20}
	curve := must[Bound](t)(Epsilon(e, 1e-5, AddOrRemoveOne)).Upper
	renyi := must[float64](t)(RDPEpsilonOf(e, 1e-5, AddOrRemoveOne))
	if curve > 0.9*renyi {
		t.Errorf("ε = %g by the curve, want less than 0.9 of %g by Rényi divergences", curve, renyi)
	}
	b := Budget{Delta: 1e-5}
	p, err := must[Reduced](t)(Reduce(e, AddOrRemoveOne)).Price(t.Context(), b, 0, true)
	if err != nil || p.Engine != engineSelect {
		t.Error(p, err)
	}
	t.Logf("ε = %g by the curve, %g by Rényi divergences", curve, renyi)
}

// TestRareOutcomesComeMoreOften: a run has one of two outcomes, and the better outcome is rare.
// Among n runs the probability of the rare outcome is almost n times larger, and so is δ. The bound
// covers this.
func TestRareOutcomesComeMoreOften(t *testing.T) {
	for _, e := range []RepeatAndSelect{{Mean: 20}, {Mean: 8, Shape: 1}, {Mean: 6, Shape: -0.5}} {
		const rare, loss = 1e-4, 2.0
		p, q := [2]float64{1 - rare, rare}, [2]float64{1 - rare*math.Exp(-loss), rare * math.Exp(-loss)}
		curve := func(p, q [2]float64) func(float64) float64 {
			return func(eps float64) float64 {
				return max(0, p[0]-math.Exp(eps)*q[0]) + max(0, p[1]-math.Exp(eps)*q[1])
			}
		}
		var points []float64
		for eps := -3.0; eps <= 3; eps += 0.01 {
			points = append(points, eps)
		}
		e.Event = must[Curve](t)(Tabulate("rare", append(points, 3.01), curve(p, q), curve(q, p)))
		number, most := runs(e), 0.0
		best := func(p [2]float64) [2]float64 { return [2]float64{number(p[0]), 1 - number(p[0])} }
		for _, eps := range []float64{0.1, 0.5, 1, 1.5} {
			truth := max(curve(best(p), best(q))(eps), curve(best(q), best(p))(eps))
			claim := must[Bound](t)(Delta(e, eps, AddOrRemoveOne)).Upper
			b := must[Bound](t)(Epsilon(e, truth, AddOrRemoveOne)).Upper
			if truth > claim*(1+1e-9)+1e-12 || b < eps*(1-1e-6) {
				t.Errorf("mean %+v: δ(%g) = %g, the bounds are δ = %g and ε = %g", e.Mean, eps, truth, claim, b)
			}
			most = max(most, truth/claim)
		}
		if most < 0.5 {
			t.Errorf("%g runs: the bound of δ is at least %g times δ, want at most twice", e.Mean, 1/most)
		}
	}
}

// TestNestedSelectionsEnd checks that the time to price a selection among selections does not grow
// exponentially with the nesting: it would be days here.
func TestNestedSelectionsEnd(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		for _, inner := range []Event{Pure{0.001}, Gaussian{400}} {
			e := inner
			for range 16 {
				e = RepeatAndSelect{Event: OneOf{[]Event{e, inner}}, Mean: 1.1, Shape: 1}
			}
			b, err := Epsilon(e, 1e-5, r)
			if alone, _ := Epsilon(inner, 1e-5, r); err != nil || b.Upper < alone.Lower {
				t.Errorf("%v of %T: ε = %v, %v", r, inner, b.Upper, err)
			}
			if d, err := Delta(e, 1e9, r); err != nil || d.Upper > 1e-5 {
				t.Errorf("%v of %T: δ = %v, %v", r, inner, d.Upper, err)
			}
		}
	}
}
