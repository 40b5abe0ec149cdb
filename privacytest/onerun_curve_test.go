package privacytest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed7ba64551/privgen/accountant"
)

func gaussianDown(mu float64) func(float64) float64 {
	return func(r float64) float64 {
		return distuv.UnitNormal.CDF(distuv.UnitNormal.Quantile(r) - mu)
	}
}

// TestPossibleTails: independent canaries under μ-Gaussian privacy have a binomial number of right
// guesses with probability Φ(μ/2). No tail of it is called impossible, for any number of guesses.
func TestPossibleTails(t *testing.T) {
	for _, m := range []int{1, 2, 3, 10, 100, 1000, 5000} {
		for _, mu := range []float64{0, 0.1, 0.5, 1, 2, 4} {
			for _, g := range []int{m, (m + 1) / 2} {
				p := distuv.UnitNormal.CDF(mu / 2)
				for c := 0; c <= g; c += 1 + g/50 {
					tail := binomialAtLeast(c, g, p)
					if tail > 1e-200 && !possible(m, g, c, tail*(1-1e-9), gaussianDown(mu)) {
						t.Errorf("m = %d, μ = %v: %d of %d right guesses have probability %v, called impossible",
							m, mu, c, g, tail)
					}
				}
			}
		}
	}
	// The most confident thousand guesses of an ideal audit of ε = 8.
	if mu := gaussianBound(20000, 1000, 996, 1e-3); !(mu > 1.05 && mu < 1.666) {
		t.Errorf("μ ≥ %v, want more than 1.05 and less than the true 1.666", mu)
	}
}

// TestOneGuessOfMany: one guess about m canaries is right with probability τ only if a set of
// outputs has probability τ/m with the canary, and (1−τ)/m without it: whether a guess is made
// about a canary must not depend much on the canary either.
func TestOneGuessOfMany(t *testing.T) {
	normal := distuv.UnitNormal
	for _, m := range []float64{1, 2, 30, 1000} {
		for _, tau := range []float64{0.51, 0.7, 0.9, 0.999} {
			want := normal.Quantile(tau/m) - normal.Quantile((1-tau)/m)
			if got := gaussianBound(int(m), 1, 1, tau); math.Abs(got-want) > 1e-6*want {
				t.Errorf("a guess of %v is right with probability %v: μ ≥ %v, want %v", m, tau, got, want)
			}
		}
	}
}

// TestPossibleOfPureMechanisms: under pure ε the bound is at least that of the binomial
// distribution, which is attained.
func TestPossibleOfPureMechanisms(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 3} {
		down, err := curve(accountant.Pure{Epsilon: eps}, accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []int{1, 7, 200} {
			p := 1 / (1 + math.Exp(-eps))
			for c := range m + 1 {
				if tail := binomialAtLeast(c, m, p); !possible(m, m, c, tail*(1-1e-9), down) {
					t.Errorf("ε = %v: %d of %d right guesses have probability %v, called impossible", eps, c, m,
						tail)
				}
			}
			if possible(m, m, m, min(1, 1.3*math.Pow(p, float64(m))), down) && m < 10 && eps < 3 {
				t.Errorf("ε = %v: %d of %d right guesses may have 1.3 times their probability", eps, m, m)
			}
		}
	}
}

// TestOneRunAuditOfCurves: an audit of Gaussian noise shows a quarter of its ε, and nine tenths of
// it if scores are known to be independent. It does not refute the event, and refutes noise that
// is a third of the claimed noise. Each of these fails with probability 1e-5 or less.
func TestOneRunAuditOfCurves(t *testing.T) {
	const m, delta = 20000, 1e-5
	rng := rand.New(rand.NewPCG(3, 3))
	audit := func(eps, factor float64, guesses int) Audit {
		sigma, _, err := accountant.CalibrateNoise(accountant.Budget{Epsilon: eps, Delta: delta},
			func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} })
		if err != nil {
			t.Fatal(err)
		}
		return OneRun{Canaries: m, Guesses: guesses, Delta: delta, FalseAlarm: 1e-6,
			Event: accountant.Gaussian{NoiseMultiplier: sigma},
			Train: func(planted []bool) ([]float64, error) {
				scores := make([]float64, m)
				for i := range scores {
					scores[i] = factor * sigma * rng.NormFloat64()
					if planted[i] {
						scores[i]++
					}
				}
				return scores, nil
			}}.Audit(t)
	}
	honest, wrong := audit(8, 1, m/20), audit(3, 1./3, m/3)
	t.Logf("%v; with a third of the noise for ε = 3: %v", honest, wrong)
	if honest.Refuted || honest.Gaussian > 8 || honest.Gaussian < 2 ||
		honest.Independent > 8 || honest.Independent < 7.2 {
		t.Errorf("ε = 8: %+v", honest)
	}
	if !wrong.Refuted || wrong.Gaussian < 3 || wrong.Independent < 6 {
		t.Errorf("a third of the noise is not refuted: %+v", wrong)
	}
}

// TestFalseAlarmsOfCurves: the curve of an event is refuted in at most the stated fraction of runs.
// Of 400 runs at 5 %, more than 44 are refuted with probability 1e-6.
func TestFalseAlarmsOfCurves(t *testing.T) {
	rng, refuted := rand.New(rand.NewPCG(4, 4)), 0
	for range 400 {
		a := OneRun{Canaries: 60, Delta: 1e-5, FalseAlarm: 0.05,
			Event: accountant.Gaussian{NoiseMultiplier: 1},
			Train: func(planted []bool) ([]float64, error) {
				scores := make([]float64, 60)
				for i := range scores {
					if scores[i] = rng.NormFloat64(); planted[i] {
						scores[i]++
					}
				}
				return scores, nil
			}}.Audit(t)
		if a.Refuted {
			refuted++
		}
	}
	if refuted > 44 {
		t.Errorf("%d of 400 runs are refuted, want about 20 or fewer", refuted)
	}
}

// TestFalseAlarmsOfOddNumbers: for three canaries, of which the least sure one is not guessed, the
// bound of independent scores is above the truth in at most the stated fraction of runs. If two
// guesses are counted it is so in 98.3 % of the runs, at a stated 97.5 %. By chance, more than
// 97.8 % of 100,000 runs have a bound above the truth with probability 1e-9.
func TestFalseAlarmsOfOddNumbers(t *testing.T) {
	const runs, mu, alarm = 100_000, 2, 0.975
	o := OneRun{Canaries: 3, Delta: 1e-5, FalseAlarm: alarm}
	truth, err := o.epsilon(mu)
	if err != nil {
		t.Fatal(err)
	}
	above := map[int]bool{}
	for c := range 3 {
		a := Audit{Guesses: 2, Correct: c}
		if err := o.testCurves(&a, a); err != nil {
			t.Fatal(err)
		}
		above[c] = a.Independent > truth
	}
	rng, wrong := rand.New(rand.NewPCG(8, 8)), 0
	scores, planted := make([]float64, 3), make([]bool, 3)
	for range runs {
		for i := range scores {
			if scores[i], planted[i] = rng.NormFloat64(), rng.IntN(2) == 1; planted[i] {
				scores[i] += mu
			}
		}
		if above[guess(scores, planted, 0).Correct] {
			wrong++
		}
	}
	if wrong > 0.978*runs {
		t.Errorf("%d of %d bounds are above the truth, want %v or fewer", wrong, runs, alarm*runs)
	}
}

// TestOneRunPOfDelta computes the bound of Steinke et al. by hand: ten right guesses of ten, of
// which at ε = 0 six or seven fewer are the most likely for their distance: 847 of 1,024 cases at
// six.
func TestOneRunPOfDelta(t *testing.T) {
	want := 1./1024 + 2*10*0.01*847/1024/6
	if got := oneRunP(10, 10, 10, 0, 0.01); math.Abs(got-want) > 1e-12 {
		t.Errorf("p = %v, want %v", got, want)
	}
}

// TestCurvesOfComplements: the curve of a pure mechanism bounds both a set and its complement.
func TestCurvesOfComplements(t *testing.T) {
	down, err := curve(accountant.Pure{Epsilon: 1}, accountant.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[float64]float64{0.3: 0.3 / math.E, 0.95: 1 - 0.05*math.E} {
		if got := down(r); math.Abs(got-want) > 1e-9 {
			t.Errorf("a set of probability %v has at least %v under the neighbour, want %v", r, got, want)
		}
	}
}
