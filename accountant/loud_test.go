package accountant

import (
	"math"
	"testing"
)

// TestLoudReleasesAgainstSimulation compares prices of releases with hardly any noise with the mean
// of (1 − e^{ε−L})₊ over simulated losses. A sound bracket fails with probability below 1e-8: the
// limits are six standard errors from the mean.
func TestLoudReleasesAgainstSimulation(t *testing.T) {
	d := newDraws(36)
	const runs = 20000
	ratio := func(q, x float64) float64 { // log(1−q+q·e^x)
		if x > 500 {
			return x + math.Log(q)
		}
		return math.Log1p(q * math.Expm1(x))
	}
	for _, c := range []struct {
		name  string
		e     Event
		r     Relation
		steps int
		loss  func() float64 // of one use under P
	}{
		{"sampled", PoissonSampled{0.05, Gaussian{0.05}}, AddOrRemoveOne, 40, func() float64 {
			x := d.NormFloat64()
			if d.Float64() < 0.05 {
				x += 20
			}
			return ratio(0.05, 20*x-200)
		}},
		{"opposite", SampledSum{0.05, 0.02}, ReplaceOne, 40, func() float64 {
			x := d.NormFloat64()
			if d.Float64() < 0.05 {
				x += 50
			}
			return ratio(0.05, 50*x-1250) - ratio(0.05, -50*x-1250)
		}},
		{"glued", PoissonSampled{0.05, Gaussian{0.02}}, ReplaceOne, 40, func() float64 {
			x := d.NormFloat64()
			if d.Float64() < 0.05 {
				x += 50
			}
			return ratio(0.05, 50*x-1250)
		}},
		{"allocated", RandomAllocation{5, 0.04, 0, false}, AddOrRemoveOne, 3, func() float64 {
			most := 25*(d.NormFloat64()+25) - 312.5 // all other terms of the mean are far smaller
			for range 4 {
				most = max(most, 25*d.NormFloat64()-312.5)
			}
			return most - math.Log(5)
		}},
	} {
		var losses []float64
		for range runs {
			sum := 0.0
			for range c.steps {
				sum += c.loss()
			}
			losses = append(losses, sum)
		}
		e := Repeated{c.e, c.steps}
		mean := must[Bound](t)(Epsilon(e, 0.02, c.r))
		for _, f := range []float64{0.5, 0.8, 0.95, 1} {
			eps, sum, square := f*mean.Upper, 0.0, 0.0
			for _, l := range losses {
				v := max(0, -math.Expm1(eps-l))
				sum, square = sum+v, square+v*v
			}
			m := sum / runs
			slack := 6*math.Sqrt((square/runs-m*m)/runs) + 1e-3
			b := must[Bound](t)(Delta(e, eps, c.r))
			if !(b.Upper >= m-slack && b.Lower <= m+slack) {
				t.Errorf("%s: δ(%g) is in %+v, simulated %g ± %g", c.name, eps, b, m, slack)
			}
			if most := m + slack; most < 1 {
				if b := must[Bound](t)(Epsilon(e, most, c.r)); b.Lower > eps {
					t.Errorf("%s: ε at δ = %g is in %+v, simulated at most %g", c.name, most, b, eps)
				}
			}
			if m > 2*slack {
				if b := must[Bound](t)(Epsilon(e, m-slack, c.r)); b.Upper < eps {
					t.Errorf("%s: ε at δ = %g is in %+v, simulated at least %g", c.name, m-slack, b, eps)
				}
			}
		}
		if b := must[Bound](t)(Epsilon(e, 1e-9, c.r)); !(b.Lower > 0 && b.Upper < 1.5*b.Lower) {
			t.Errorf("%s: ε is in %+v, want a bracket", c.name, b)
		}
	}
}

// TestLoudOppositeRowsOfLikelySamples: with probability q > 1/2 the loss of a step with the record
// exceeds that of a public sample by log(q/(1−q)). The event that the sum of n steps is above t is
// a lower end in closed form.
func TestLoudOppositeRowsOfLikelySamples(t *testing.T) {
	const q, mu = 0.9, 16.
	for n := 1; n <= 4; n++ {
		l, ok := loudOf([]term{{oppositeAtom{q, mu}, n}})
		if !ok {
			t.Fatal("opposite rows are not loud")
		}
		above := func(x, sign float64) (sum float64) { // of the sum of n steps
			for k := range n + 1 {
				far := (x - sign*mu*float64(k)) / math.Sqrt(float64(n))
				sum += binomialTerm(k, n, q) * math.Erfc(far/math.Sqrt2) / 2
			}
			return sum
		}
		all := float64(n) * (mu*mu/2 + math.Log(q/(1-q))) // the loss at the mean of all steps
		for d := -30.; d <= 30; d += 10 {
			x := float64(n)*mu + d/mu
			least := above(x, 1) - math.Exp(all+d+math.Log(above(x, -1)))
			if got := l.upper(all + d); got < least*(1-1e-9) {
				t.Errorf("%d steps, ε = %g: δ is at most %g, and %g by an event", n, all+d, got, least)
			}
		}
	}
}

// TestOppositeRowsOfLikelySamples: a price of sums of samples that nearly all records are in is at
// least that by the event that the sum of all steps is above t, with any amount of noise.
func TestOppositeRowsOfLikelySamples(t *testing.T) {
	for _, q := range []float64{0.9, 0.999} {
		for _, noise := range []float64{0.05, 0.1, 0.5, 2, 20} {
			const n = 3
			e, mu := Repeated{SampledSum{q, noise}, n}, 1/noise
			above := func(x, sign float64) (sum float64) { // of the sum of all steps
				for k := range n + 1 {
					far := (x - sign*mu*float64(k)) / math.Sqrt(n)
					sum += binomialTerm(k, n, q) * math.Erfc(far/math.Sqrt2) / 2
				}
				return sum
			}
			for _, x := range []float64{0, 1, 2} {
				p, o := above(n*mu+x, 1), above(n*mu+x, -1)
				if eps := math.Log(p/o) - 1; eps > 0 && eps < 1e6 { // δ(ε) ≥ P(A) − e^ε·Q(A)
					if b := must[Bound](t)(Epsilon(e, p-p/math.E, ReplaceOne)); b.Upper < eps*(1-1e-9) {
						t.Errorf("%s: %+v at δ = %g, and %g by an event", Describe(e), b, p-p/math.E, eps)
					}
				}
			}
		}
	}
}

// TestRoundedSamplesHaveNoWrongLowerEnd: rates and effects that are rounded up have no lower end
// above what a public sample costs, or than the rate allows.
func TestRoundedSamplesHaveNoWrongLowerEnd(t *testing.T) {
	for _, e := range []Event{PoissonSampled{1e-33, Gaussian{0.5}}, SampledSum{1e-33, 0.5},
		Repeated{PoissonSampled{1e-50, Gaussian{0.01}}, math.MaxInt32 / 4}, SampledSum{1e-300, 0.01}} {
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			if b := must[Bound](t)(Epsilon(e, 1e-30, r)); b.Lower > 0 {
				t.Errorf("%s under %v: %+v, although a record hardly ever takes part", Describe(e), r, b)
			}
		}
	}
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		public := must[Bound](t)(Epsilon(Gaussian{1e10 / 2}, 1e-12, r))
		for _, e := range []Event{PoissonSampled{0.5, Gaussian{1e10}}, SampledSum{0.5, 1e10}} {
			b := must[Bound](t)(Epsilon(e, 1e-12, r))
			if b.Lower > public.Upper {
				t.Errorf("%s under %v: %+v, with a public sample %+v", Describe(e), r, b, public)
			}
		}
	}
}

// TestLowerEndsOfRareEvents: lower ends from rare events are below ε by an integral.
func TestLowerEndsOfRareEvents(t *testing.T) {
	for _, c := range []struct {
		q, mu, eps float64
		n          int
	}{{0.01, 1.25, 2, 2}, {0.01, 1.25, 6, 2}, {0.2, 1, 3, 3}, {0.3, 2, 4, 2}, {0.05, 3, 8, 2}} {
		want := sampledIntegral(c.q, c.mu, c.n)(c.eps)
		l := loud{n: c.n, q: c.q, mu: c.mu, steps: 1}
		if got := l.lower(want * (1 + 1e-6)); got > c.eps || got < 0.3*c.eps {
			t.Errorf("%+v: ε is at least %g, and %g by an integral", c, got, c.eps)
		}
	}
}
