package accountant

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestSampledSumWithLittleNoise: with very little noise the loss of the opposite pair exceeds the
// range of floating point, and the price is still large enough.
func TestSampledSumWithLittleNoise(t *testing.T) {
	for _, sigma := range []float64{1e-6, 1e-3, 0.01, 0.02, 0.03, 0.04, 0.06} {
		for _, q := range []float64{1e-9, 1e-4, 0.3, 0.999, 1 - 1e-11} {
			sum := must[Bound](t)(Epsilon(SampledSum{q, sigma}, 1e-12, ReplaceOne))
			one := must[Bound](t)(Epsilon(SampledSum{q, sigma}, 1e-12, AddOrRemoveOne))
			if sum.Upper < one.Lower*(1-1e-9) || sum.Upper < 0.4/(sigma*sigma)*0.6 {
				t.Errorf("q=%g σ=%g: replacing costs %v, removing %v", q, sigma, sum, one)
			}
			if d := must[Bound](t)(Delta(SampledSum{q, sigma}, 1, ReplaceOne)); d.Upper < q*0.999 {
				t.Errorf("q=%g σ=%g: δ(1) = %v", q, sigma, d)
			}
		}
	}
}

// TestPoissonSelectionOfFewRuns compares prices with quadrature. The number of Gaussian runs is
// Poisson with mean μ and may be zero. The density of the largest score is μ·φ(x)·e^{−μ(1−Φ(x))}.
func TestPoissonSelectionOfFewRuns(t *testing.T) {
	for _, mean := range []float64{1e-4, 0.01, 0.1, 1, 5} {
		e := RepeatAndSelect{Event: Gaussian{1}, Mean: mean, Poisson: true}
		density := func(x float64) float64 {
			return mean * math.Exp(-x*x/2-mean*math.Erfc(x/math.Sqrt2)/2) / math.Sqrt(2*math.Pi)
		}
		for _, order := range []float64{1.5, 2, 8} {
			moment, delta := math.Exp(-mean), 0.0
			for x := -9.0; x < 9+order; x += 1e-3 {
				p, q := density(x-1), density(x)
				moment += 1e-3 * p * math.Pow(p/q, order-1)
				delta += 1e-3 * max(0, p-q)
			}
			truth := math.Log(moment) / (order - 1)
			if v := must[float64](t)(RDP(e, order, AddOrRemoveOne)); v < truth*(1-1e-6) {
				t.Errorf("mean %g: the divergence of order %g is %g, the bound only %g", mean, order, truth, v)
			}
			if b := must[Bound](t)(Epsilon(e, delta/3, AddOrRemoveOne)); b.Upper <= 0 && delta/3 > MinDelta {
				t.Errorf("mean %g: δ(0) = %g, but ε = 0 is published at a third of this δ", mean, delta)
			}
		}
	}
}

// TestLossesThatHardlyVary: prices are right even if losses hardly vary and so give no scale for
// the grid.
func TestLossesThatHardlyVary(t *testing.T) {
	for _, eps := range []float64{0, 1e-300, 1e-20, 1e-13, 1e-9} {
		e := Repeated{Approximate{eps, 1e-6}, 9}
		if b := must[Bound](t)(Epsilon(e, 1e-5, AddOrRemoveOne)); b.Upper > 1e-5 {
			t.Errorf("ε=%g: %v", eps, b)
		}
		if d := must[Bound](t)(Delta(e, 0, AddOrRemoveOne)); !(d.Upper >= 8.99e-6 && d.Upper < 9.1e-6) {
			t.Errorf("ε=%g: δ(0) = %v", eps, d)
		}
	}
}

// TestGaussianOfSmallAndHugeEffect compares prices with values from 50-digit arithmetic. For small
// effects δ is a difference of nearly equal numbers.
func TestGaussianOfSmallAndHugeEffect(t *testing.T) {
	for _, x := range []struct{ sigma, delta, want float64 }{
		{1e6, 1e-12, 4.4248927590894822538e-6}, {1e8, 1e-12, 3.3630153302891917229e-8},
		{1e10, 1e-12, 1.9383563073269673744e-10}, {1e11, 1e-12, 9.0234634751249408248e-12},
		{3e11, 1e-12, 7.2171165897453015502e-13}, {0.001, 1e-5, 504263.89292065408002},
		{2, 0.1, 0.28649610175682590251}, {1000, 1e-12, 0.0056995464684262820959},
		{1, 1e-12, 7.2384944201788583599}, {0.05, 0.5, 199.00082757178817968},
	} {
		b := must[Bound](t)(Epsilon(Gaussian{x.sigma}, x.delta, AddOrRemoveOne))
		if !(b.Lower <= x.want && x.want <= b.Upper) || b.Upper > x.want*1.01 {
			t.Errorf("σ=%g δ=%g: got %v, want a narrow bracket of %g", x.sigma, x.delta, b, x.want)
		}
	}
	if b := must[Bound](t)(Epsilon(Gaussian{1e-160}, 1e-5, AddOrRemoveOne)); !math.IsInf(b.Upper, 1) {
		t.Errorf("σ=1e-160: got %v, want an infinite ε", b)
	}
}

// TestTruncatedPoissonAgainstBruteForce compares the published δ with exact curves. All other
// records are at −1. A Poisson sample of n records is cut to a batch of at most c.most records.
func TestTruncatedPoissonAgainstBruteForce(t *testing.T) {
	const sd = 1.3
	for _, c := range []struct {
		n, most int
		q       float64
	}{{4, 1, 0.5}, {5, 2, 0.7}, {9, 3, 0.3}, {12, 11, 0.9}, {3, 3, 0.4}} {
		density := map[string][]float64{} // of the records −1, 0, 1 and NaN, which is an absent record
		for _, me := range []float64{-1, 0, 1, math.NaN()} {
			for x := -14.0; x < 14; x += 0.005 {
				density[fmt.Sprint(me)] = append(density[fmt.Sprint(me)],
					truncatedDensity(c.n, c.most, c.q, me, sd, x))
			}
		}
		curve := func(me, you, eps float64) float64 {
			sum, q := 0.0, density[fmt.Sprint(you)]
			for i, p := range density[fmt.Sprint(me)] {
				sum += 0.005 * max(0, p-math.Exp(eps)*q[i])
			}
			return sum
		}
		e := TruncatedPoisson{c.q, c.n, c.most, sd}
		for _, eps := range []float64{0, 0.3, 1, 2.5} {
			for _, x := range []struct {
				me, you float64
				r       Relation
			}{{1, math.NaN(), AddOrRemoveOne}, {math.NaN(), 1, AddOrRemoveOne}, {1, -1, ReplaceOne},
				{-1, 1, ReplaceOne}, {1, 0, ReplaceOne}} {
				truth := curve(x.me, x.you, eps)
				if b := must[Bound](t)(Delta(e, eps, x.r)); b.Upper < truth*(1-1e-6)-1e-9 {
					t.Errorf("%+v ε=%g %v→%v: δ is %g, published %g", c, eps, x.me, x.you, truth, b.Upper)
				}
			}
		}
	}
}

// TestTruncatedPoissonFromBelow: the lower end is that of data whose other records are zero,
// computed here from the probability that the record is in the batch.
func TestTruncatedPoissonFromBelow(t *testing.T) {
	for _, c := range []struct {
		n, most int
		q       float64
	}{{4, 1, 0.5}, {5, 2, 0.7}, {9, 3, 0.3}, {12, 11, 0.9}, {100, 12, 0.1}} {
		in := 0.0
		for k := range c.n {
			in += c.q * binomialTerm(k, c.n-1, c.q) * min(1, float64(c.most)/float64(k+1))
		}
		for r, e := range map[Relation]Event{AddOrRemoveOne: PoissonSampled{in, Gaussian{1.3}},
			ReplaceOne: SampledSum{in, 1.3}} {
			for _, eps := range []float64{0, 0.3, 1} {
				truth := must[Bound](t)(Delta(e, eps, r))
				got := must[Bound](t)(Delta(TruncatedPoisson{c.q, c.n, c.most, 1.3}, eps, r))
				if got.Lower > truth.Upper || got.Lower < 0.98*truth.Lower {
					t.Errorf("%+v, %v, ε = %v: δ is at least %v, want %v", c, r, eps, got.Lower, truth)
				}
			}
		}
	}
}

func truncatedDensity(n, most int, q, me, sd, x float64) float64 {
	phi := func(m float64) float64 {
		return math.Exp(-(x-m)*(x-m)/(2*sd*sd)) / (sd * math.Sqrt(2*math.Pi))
	}
	sum := 0.0
	for k := 0; k < n; k++ {
		p := binomialTerm(k, n-1, q)
		without := phi(-float64(min(k, most)))
		with := without
		switch {
		case math.IsNaN(me):
		case k < most:
			with = phi(me - float64(k))
		default:
			in := float64(most) / float64(k+1)
			with = in*phi(me-float64(most-1)) + (1-in)*without
		}
		sum += p * ((1-q)*without + q*with)
	}
	return sum
}

func TestBinomialTermsOfManyTrials(t *testing.T) {
	for _, c := range []struct {
		n int
		q float64
	}{{many, 1e-6}, {many >> 7, 0.3}, {1000003, 0.01}, {50, 0.5}} {
		m := int(float64(c.n) * c.q)
		sd := math.Sqrt(float64(c.n) * c.q * (1 - c.q))
		sum := 0.0
		step := max(1, int(sd/50))
		for j := max(0, m-int(12*sd)); j <= min(c.n, m+int(12*sd)); j += step {
			sum += float64(step) * binomialTerm(j, c.n, c.q)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%+v: probabilities sum to 1%+.1e", c, sum-1)
		}
	}
}

// TestRareSampleOfLaplace: the event is a rare sample of a release with a large loss. δ of five
// uses is at least δ of one use, and divergences agree with quadrature.
func TestRareSampleOfLaplace(t *testing.T) {
	for _, c := range []struct{ q, scale, eps float64 }{{1.3e-7, 0.028, 5.5}, {1e-9, 0.1, 3},
		{1e-5, 0.05, 9}, {1e-3, 1, 1e-4}} {
		e := PoissonSampled{c.q, Laplace{c.scale}}
		one := must[Bound](t)(Delta(e, c.eps, AddOrRemoveOne)).Lower
		both := must[Bound](t)(Delta(Repeated{e, 5}, c.eps, AddOrRemoveOne))
		if least := one * (1 - 1e-9); both.Upper < least {
			t.Errorf("%+v: δ of five uses is %v, want at least %g of one use", c, both, least)
		}
		for _, order := range []float64{1.05, 1.5, 2, 3, 9} {
			v := must[float64](t)(RDP(e, order, AddOrRemoveOne))
			if truth := rdpSampledLaplace(c.q, c.scale, order); v < truth*(1-1e-6) {
				t.Errorf("%+v: the divergence of order %g is %g, the bound only %g", c, order, truth, v)
			}
		}
	}
}

// rdpSampledLaplace returns the larger divergence of the two directions. It computes the moment
// minus one, by quadrature between 0 and 1 and in closed form outside.
func rdpSampledLaplace(q, b, order float64) float64 {
	gap := func(r float64) float64 {
		u := r - 1
		if math.Abs(u)*order < 1e-4 {
			return order * (order - 1) / 2 * u * u * (1 + (order-2)/3*u)
		}
		return math.Pow(r, order) - 1 - order*u
	}
	part := func(l float64) (remove, add float64) { // per mass of Q, at base loss l
		u := q * math.Expm1(l)
		r := 1 + u
		return gap(r), r * gap(1/r)
	}
	low, lowAdd := part(-1 / b)
	high, highAdd := part(1 / b)
	x, y := low/2+high*math.Exp(-1/b)/2, lowAdd/2+highAdd*math.Exp(-1/b)/2
	const n = 40000
	for i := range n {
		at := (float64(i) + 0.5) / n
		r, a := part((2*at - 1) / b)
		w := math.Exp(-at/b) / (2 * b) / n
		x, y = x+r*w, y+a*w
	}
	return math.Log1p(max(x, y)) / (order - 1)
}

// TestACurveIsNeeded: Tabulate returns an error for a missing curve.
func TestACurveIsNeeded(t *testing.T) {
	var wrong *param.Error
	if _, err := Tabulate("none", []float64{0, 1}, nil, nil); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a *param.Error", err)
	}
}

func TestReadersWantEveryField(t *testing.T) {
	for _, bad := range []string{
		`{"kind":"poisson_sampled","event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"poisson_sampled","probability":null,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"sampled_sum","noise_multiplier":1}`, `{"kind":"approximate","epsilon":1}`,
		`{"kind":"composed"}`,
		`{"kind":"truncated_poisson","population":9,"max_batch":3,"noise_multiplier":1}`,
		`{"kind":"composed","events":[{"kind":"sampled_sum","noise_multiplier":1}]}`,
		`{"kind":"gaussian","noise_multiplier":1}{"kind":"gaussian"}`,
	} {
		if e, err := UnmarshalEvent([]byte(bad)); err == nil {
			t.Errorf("%s reads as %s", bad, Describe(e))
		}
	}
}
