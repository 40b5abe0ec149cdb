package privacytest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// tight lists mechanisms whose claims are exact in some event, on counts of 3 and 4. For them the
// rate of false alarms equals the stated rate.
var tight = []struct {
	name           string
	epsilon, delta float64
	run            func(n int) []float64
}{
	{"randomised response", 1, 0, func(n int) []float64 { return respond(n, 1/(1+math.E)) }},
	{"Laplace, at its tails", 0.5, 0, func(n int) []float64 {
		return one(float64(n) + gridLaplace(2))
	}},
	{"discrete Laplace", 0.5, 0, func(n int) []float64 {
		return one(float64(n) + discreteLaplace(0.5))
	}},
	{"the tight event of a Gaussian", 0.5, gaussianDelta(0.5, 2), func(n int) []float64 {
		return []float64{float64(number(float64(n)+2*rand.NormFloat64() >= 3.5+4*0.5))}
	}},
	{"randomised response that fails with probability δ", 1, 0.01, func(n int) []float64 {
		if rand.Float64() < 0.01 {
			return one(float64(10 + n))
		}
		return respond(n, 1/(1+math.E))
	}},
}

// discreteLaplace returns the difference of two geometric draws.
func discreteLaplace(epsilon float64) float64 {
	return math.Floor(rand.ExpFloat64()/epsilon) - math.Floor(rand.ExpFloat64()/epsilon)
}

// gaussianDelta returns δ(ε) of a Gaussian with sensitivity 1 (Balle and Wang 2018, Theorem 8). The
// event that attains it is a value of at least the midpoint plus σ²ε.
func gaussianDelta(epsilon, std float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return normal(0.5/std-epsilon*std) - math.Exp(epsilon)*normal(-0.5/std-epsilon*std)
}

// TestFalseAlarmRate: with the rate set to 1 %, tight mechanisms are refuted in 1 % of the runs,
// within three standard errors over 10,000 runs. With the right rate one audit of 75 fails. The
// short version has a limit that the right rate exceeds with probability 8e-10. A rate of 30 %
// stays within this limit with probability 1e-5.
func TestFalseAlarmRate(t *testing.T) {
	runs, below, above := 100, 0, 11
	if *audit {
		runs, below, above = 10000, 70, 130
	}
	for _, m := range tight {
		alarms := 0
		for range runs {
			claim := Claim[int]{Run: m.run, D0: 3, D1: 4, Epsilon: m.epsilon, Delta: m.delta,
				FalseAlarm: 0.01, Samples: 1500}
			alarms += number(claim.Refuted(t))
		}
		t.Logf("%d alarms in %d runs: %s", alarms, runs, m.name)
		if alarms < below || alarms > above {
			t.Errorf("%s: got %d alarms in %d runs, want about 1 %%", m.name, alarms, runs)
		}
	}
}

// TestFalseAlarmsOfCorrectTwins: the correct mechanisms of claims are refuted at most at the stated
// rate, and their lower bounds are wrong at most at this rate. Many of these mechanisms are more
// private than they claim. The limits are the same as in TestFalseAlarmRate.
func TestFalseAlarmsOfCorrectTwins(t *testing.T) {
	runs, above := 100, 11
	if *audit {
		runs, above = 10000, 130
	}
	alarms, wrong := 0, 0
	for i := range runs {
		c := claims[i%len(claims)]
		claim := Claim[int]{Run: c.right, D0: 3, D1: 4, Epsilon: c.epsilon, Delta: c.delta,
			FalseAlarm: 0.01, Samples: 1500}
		alarms += number(claim.Refuted(t))
		wrong += number(claim.LowerBound(t).Epsilon > c.epsilon)
	}
	t.Logf("%d alarms and %d wrong bounds in %d runs", alarms, wrong, runs)
	if alarms > above || wrong > above {
		t.Errorf("got %d alarms and %d wrong bounds in %d runs, want at most about 1 %% of each", alarms,
			wrong, runs)
	}
}

// TestPValueIsUniform: for a given number of events, the outcomes with a p-value of at most alpha
// have total probability alpha. The test computes these probabilities without random draws.
func TestPValueIsUniform(t *testing.T) {
	for _, epsilon := range []float64{0, 0.5, 3} {
		for _, n := range []int{1, 2, 7, 100, 3000} {
			for _, alpha := range []float64{0.3, 0.01, 1e-6} {
				odds := math.Exp(-epsilon / 2)
				p := 1 / (1 + math.Exp(-epsilon)/odds)
				size := 0.0
				for k := range n + 1 {
					s := tally{design: design{odds: odds}, happened: [2]int{k, n - k}}
					more, equal := s.pValue(epsilon, 0), s.pValue(epsilon, 1)
					atoms := binomialAtLeast(k, n, p) - binomialAtLeast(k+1, n, p)
					if equal > more {
						size += atoms * min(max((alpha-more)/(equal-more), 0), 1)
					}
				}
				if math.Abs(size/alpha-1) > 1e-6 {
					t.Errorf("ε = %v, %d events: got size %v, want %v", epsilon, n, size, alpha)
				}
			}
		}
	}
}

// TestLowerBoundInvertsTheTest: every ε below the bound is refuted, and an ε just above the bound
// is not, with and without phantoms.
func TestLowerBoundInvertsTheTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	coin := func(p float64) func() bool { return func() bool { return rng.Float64() < p } }
	for _, c := range []struct{ p0, p1, delta, alpha float64 }{
		{0.6, 0.1, 0, 0.01}, {0.6, 0.1, 0.05, 0.01}, {0.3, 0, 0.1, 1e-6},
		{0.1, 0.6, 0.01, 0.01}, {1, 0, 0, 1e-3}, {0, 0, 0.2, 0.1},
	} {
		s := design{trials: 1000, odds: 0.8, delta: c.delta}.run(rng, coin(c.p0), coin(c.p1))
		bound := s.lowerBound(c.alpha)
		for e := 0.0; e < bound-1e-9; e += 0.01 {
			if p := s.pValue(e, 1); p > c.alpha {
				t.Fatalf("%+v: the bound is %v, but ε = %v has the p-value %v", c, bound, e, p)
			}
		}
		if p := s.pValue(bound+1e-9, 1); p <= c.alpha {
			t.Errorf("%+v: got p-value %v just above the bound %v, want more than alpha", c, p, bound)
		}
	}
}

// TestEveryOutputIsTested: a claim is refuted by an output after many others, and by the sign of a
// zero.
func TestEveryOutputIsTested(t *testing.T) {
	for name, run := range map[string]func(n int) []float64{
		"the last of 200": func(n int) []float64 { return append(make([]float64, 199), float64(n)) },
		"a sign":          func(n int) []float64 { return one(math.Copysign(0, float64(n)-3.5)) },
	} {
		if !(Claim[int]{Run: run, D0: 3, D1: 4, Epsilon: 1, FalseAlarm: 1e-9, Samples: 500}).Refuted(t) {
			t.Errorf("%s: the claim is not refuted", name)
		}
	}
}
