package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draws returns random parameters from a fixed seed, because the tests are about arithmetic and not
// about randomness.
type draws struct{ *rand.Rand }

func newDraws(seed uint64) draws { return draws{rand.New(rand.NewPCG(seed, 0xacc))} }

// between returns a log-uniform number.
func (d draws) between(lo, hi float64) float64 { return lo * math.Exp(d.Float64()*math.Log(hi/lo)) }

func (d draws) steps() (q, sigma float64, steps int, delta float64) {
	return d.between(1e-4, 1), d.between(0.6, 50), int(d.between(1, 2e4)), d.between(1e-10, 1e-2)
}

func upper(t *testing.T, e Event, delta float64, r Relation) float64 {
	t.Helper()
	alts := must[[][]term](t)(reduce(e, r))
	p := must[Price](t)(priceAll(t.Context(), alts, delta, r, false))
	if math.IsNaN(p.Upper) || p.Upper < 0 {
		t.Fatalf("%v: ε = %v", Describe(e), p.Upper)
	}
	return p.Upper
}

// jitter is the relative difference that different grids may cause between two upper ends.
const jitter = 4e-3

func TestMonotone(t *testing.T) {
	d := newDraws(1)
	for range 40 {
		q, sigma, steps, delta := d.steps()
		base := upper(t, poissonSteps(q, sigma, steps), delta, AddOrRemoveOne)
		grow := 1 + d.Float64()
		for name, less := range map[string]float64{
			"σ": upper(t, poissonSteps(q, sigma*grow, steps), delta, AddOrRemoveOne),
			"q": upper(t, poissonSteps(q/grow, sigma, steps), delta, AddOrRemoveOne),
			"T": upper(t, poissonSteps(q, sigma, max(1, int(float64(steps)/grow))), delta, AddOrRemoveOne),
			"δ": upper(t, poissonSteps(q, sigma, steps), min(0.5, delta*grow), AddOrRemoveOne),
		} {
			if less > base*(1+jitter)+1e-12 {
				t.Errorf("q=%g σ=%g T=%d δ=%g: a smaller %s·%g raises ε from %g to %g", q, sigma, steps, delta,
					name, grow, base, less)
			}
		}
	}
}

func TestRDPProperties(t *testing.T) {
	d := newDraws(2)
	for range 1500 {
		q, sigma := d.between(1e-6, 1), d.between(0.4, 100)
		order := 1 + d.between(0.02, 60)
		e := PoissonSampled{q, Gaussian{sigma}}
		v := must[float64](t)(RDP(e, order, AddOrRemoveOne))
		w := must[float64](t)(RDP(e, order*1.2, AddOrRemoveOne))
		plain := must[float64](t)(RDP(Gaussian{sigma}, order, AddOrRemoveOne))
		if !(v <= w*(1+1e-9)) || !(v <= plain*(1+1e-9)) || !(v >= 0) {
			t.Fatalf("q=%g σ=%g α=%g: RDP is %g, at a larger order %g, without sampling %g", q, sigma,
				order, v, w, plain)
		}
	}
}

func TestFullSampleIsGaussianAndNoSampleIsFree(t *testing.T) {
	d := newDraws(3)
	for range 300 {
		_, sigma, steps, delta := d.steps()
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			full := upper(t, poissonSteps(1, sigma, steps), delta, r)
			plain := upper(t, Gaussian{sigma / math.Sqrt(float64(steps))}, delta, r)
			if math.Abs(full-plain) > 1e-9*plain {
				t.Errorf("σ=%g T=%d: q=1 costs %g, but %d Gaussians cost %g", sigma, steps, full, steps,
					plain)
			}
			if free := upper(t, poissonSteps(0, sigma, steps), delta, r); free != 0 {
				t.Errorf("q=0 costs %g", free)
			}
		}
	}
}

func TestCompositionIsOrderFreeAndCountsSplit(t *testing.T) {
	d := newDraws(6)
	for range 40 {
		q, sigma, steps, delta := d.steps()
		a, b := PoissonSampled{q, Gaussian{sigma}}, Gaussian{sigma * 20}
		k := 1 + d.IntN(steps)
		forms := []Event{
			Composed{[]Event{Repeated{a, steps + k}, Repeated{b, 3}}},
			Composed{[]Event{Repeated{b, 2}, Repeated{a, k}, b, Repeated{Repeated{a, 1}, steps}}},
			Repeated{Composed{[]Event{Composed{[]Event{Repeated{a, k}, Repeated{b, 3}}},
				Repeated{a, steps}}}, 1},
		}
		first := upper(t, forms[0], delta, AddOrRemoveOne)
		for _, f := range forms[1:] {
			if v := upper(t, f, delta, AddOrRemoveOne); math.Abs(v-first) > 1e-6*first {
				t.Errorf("%s costs %g, %s costs %g", Describe(forms[0]), first, Describe(f), v)
			}
		}
	}
}

func TestBracketsAndRDP(t *testing.T) {
	d := newDraws(7)
	for range 20 {
		q, sigma, steps, delta := d.steps()
		e := poissonSteps(q, sigma, steps)
		b := must[Bound](t)(Epsilon(e, delta, AddOrRemoveOne))
		if !(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
			t.Errorf("%+v", b)
		}
		if rdp := must[float64](t)(RDPEpsilonOf(e, delta, AddOrRemoveOne)); b.Upper >
			rdp*(1+1e-4)+1e-12 {
			t.Errorf("q=%g σ=%g T=%d δ=%g: PLD %g above RDP %g", q, sigma, steps, delta, b.Upper, rdp)
		}
		// The lower end of δ at the published ε is at most the given δ.
		if b.Upper == 0 {
			continue
		}
		if back := must[Bound](t)(Delta(e, b.Upper, AddOrRemoveOne)); back.Lower > delta*(1+1e-9) {
			t.Errorf("q=%g σ=%g T=%d: at δ=%g, δ of the published ε is at least %g", q, sigma, steps,
				delta, back.Lower)
		}
	}
}

func TestCalibrationNeverOvershoots(t *testing.T) {
	d := newDraws(8)
	for range 12 {
		target := Budget{d.between(0.05, 8), d.between(1e-9, 1e-4), Relation(d.IntN(2))}
		q, steps := d.between(1e-3, 0.2), int(d.between(10, 5000))
		sigma, b, err := CalibrateNoise(target, func(s float64) Event {
			return Repeated{SampledSum{q, s}, steps}
		})
		if err != nil {
			t.Fatal(target, q, steps, err)
		}
		if b.Upper > target.Epsilon ||
			upper(t, Repeated{SampledSum{q, sigma}, steps}, target.Delta, target.Relation) > target.Epsilon {
			t.Errorf("%v q=%g T=%d: σ=%g gives %+v", target, q, steps, sigma, b)
		}
		// Slightly less noise must not fit, because σ is the smallest value that fits.
		if v := upper(t, Repeated{SampledSum{q, sigma * 0.995}, steps}, target.Delta,
			target.Relation); v <= target.Epsilon {
			t.Errorf("%v q=%g T=%d: σ=%g is too large, 0.5%% less costs only ε = %g", target, q, steps,
				sigma, v)
		}
	}
}

func TestCalibrateOtherParameters(t *testing.T) {
	target := Budget{Epsilon: 1, Delta: 1e-5}
	n, b, err := CalibrateCount(target, 1_000_000, func(n int) Event {
		return poissonSteps(0.01, 1.5, n)
	})
	if err != nil || b.Upper > 1 || upper(t, poissonSteps(0.01, 1.5, n+20), 1e-5, AddOrRemoveOne) < 1 {
		t.Error("steps", n, b, err)
	}
	target.Relation = ReplaceOne
	m, b, err := CalibrateCount(target, 60000, func(m int) Event {
		return Repeated{SampledWithoutReplacement{60000, m, Gaussian{4}}, 10000}
	})
	if err != nil || b.Upper > 1 || m < 2 {
		t.Error("sample", m, b, err)
	}
	if _, _, err := CalibrateNoise(Budget{Epsilon: 1, Delta: 1e-5}, func(s float64) Event {
		return Composed{[]Event{Gaussian{1}, Gaussian{s}}}
	}); err != ErrBudgetExceeded {
		t.Error("a fixed part above the target:", err)
	}
	sigma, b, err := CalibrateShare(Budget{Epsilon: 2, Delta: 1e-5}, 0.2, func(s float64) Event {
		return Repeated{Gaussian{s}, 20}
	})
	all := must[Bound](t)(Epsilon(Repeated{Gaussian{sigma}, 20}, 1e-5, AddOrRemoveOne))
	if err != nil || b.Upper > 0.4 || b.Upper < 0.39 || b.Upper != all.Upper {
		t.Error("share", sigma, b, all, err)
	}
}

// TestWithoutReplacementAgainstBruteForce compares published δ with exact curves. It enumerates
// every subset of a small population of records in {−1, 0, 1}.
func TestWithoutReplacementAgainstBruteForce(t *testing.T) {
	const n, m, sd = 4, 2, 1.5
	e := SampledWithoutReplacement{n, m, Gaussian{sd / 2}} // replace-one sensitivity 2
	worst := 0.0
	for code := range 27 {
		others := []float64{float64(code%3 - 1), float64(code/3%3 - 1), float64(code/9%3 - 1)}
		for _, eps := range []float64{0, 0.1, 0.3, 0.7, 1.2, 2} {
			delta := bruteForceHockey(others, 1, -1, m, sd, eps)
			b := must[Bound](t)(Delta(e, eps, ReplaceOne))
			if delta > b.Upper+1e-7 {
				t.Errorf("others %v ε=%g: the true δ = %g is above the bound %g", others, eps, delta,
					b.Upper)
			}
			worst = max(worst, delta/b.Upper)
		}
	}
	if worst < 0.5 {
		t.Errorf("the true δ reaches only %g of the bound, want at least half", worst)
	}
}

func bruteForceHockey(others []float64, x, y float64, m int, sd, eps float64) float64 {
	sums := func(last float64) []float64 {
		all := append(append([]float64(nil), others...), last)
		var out []float64
		for mask := range 1 << len(all) {
			k, s := 0, 0.0
			for i, v := range all {
				if mask>>i&1 == 1 {
					k++
					s += v
				}
			}
			if k == m {
				out = append(out, s)
			}
		}
		return out
	}
	p, q := sums(x), sums(y)
	density := func(c []float64, z float64) float64 {
		s := 0.0
		for _, v := range c {
			s += math.Exp(-(z - v) * (z - v) / (2 * sd * sd))
		}
		return s / float64(len(c)) / sd / math.Sqrt(2*math.Pi)
	}
	sum, step := 0.0, 0.002 // the error is below 1e−7
	for z := -12.0; z < 12; z += step {
		sum += max(0, density(p, z)-math.Exp(eps)*density(q, z)) * step
	}
	return sum
}

// TestOppositePairIsWorst: in two dimensions, no pair of vectors in the unit ball has a larger δ
// than a pair of opposite unit vectors.
func TestOppositePairIsWorst(t *testing.T) {
	d := newDraws(9)
	const sd = 1.2
	for range 12 {
		q := d.between(0.05, 0.9)
		ru, rv, angle := d.Float64(), d.Float64(), d.Float64()*2*math.Pi
		u, v := [2]float64{ru, 0}, [2]float64{rv * math.Cos(angle), rv * math.Sin(angle)}
		for _, eps := range []float64{0.05, 0.3, 0.8} {
			b := must[Bound](t)(Delta(SampledSum{q, sd}, eps, ReplaceOne))
			if delta := planeHockey(q, u, v, sd, eps, 0.06); delta > b.Upper+2e-5 {
				t.Errorf("q=%g u=%v v=%v ε=%g: δ = %g is above the bound %g", q, u, v, eps, delta,
					b.Upper)
			}
		}
	}
	b := must[Bound](t)(Delta(SampledSum{0.3, sd}, 0.3, ReplaceOne))
	if delta := planeHockey(0.3, [2]float64{1, 0}, [2]float64{-1, 0}, sd, 0.3,
		0.01); math.Abs(delta-b.Upper) > 1e-6 {
		t.Errorf("opposite vectors have δ = %g, want the bound %g", delta, b.Upper)
	}
}

// planeHockey returns δ(ε) of the two mixtures, by quadrature with cells of size step. The error is
// about step²/200.
func planeHockey(q float64, u, v [2]float64, sd, eps, step float64) float64 {
	gauss := func(x, y float64, c [2]float64) float64 {
		return math.Exp(-((x-c[0])*(x-c[0])+(y-c[1])*(y-c[1]))/(2*sd*sd)) / (2 * math.Pi * sd * sd)
	}
	sum := 0.0
	for x := -8.0; x < 8; x += step {
		for y := -8.0; y < 8; y += step {
			base := (1 - q) * gauss(x, y, [2]float64{})
			sum += max(0, base+q*gauss(x, y, u)-math.Exp(eps)*(base+q*gauss(x, y, v)))
		}
	}
	return sum * step * step
}
