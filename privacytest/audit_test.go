package privacytest

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// steps is DP-SGD from the view of an observer: three steps on a data set of one canary or none.
// The output is the log likelihood ratio of "a canary" to "none", which is the most powerful
// statistic.
type steps struct {
	t         testing.TB
	allowance *mechanism.Allowance
	q, z      float64
	shrink    float64 // factor of the noise: 1, or less in the faulty version
}

const (
	stepsPerRun  = 3
	auditedAlarm = 1e-9 // probability that an audit of sound code fails
)

func (s *steps) run(canaries int) []float64 {
	total := 0.0
	for range stepsPerRun {
		g, err := s.allowance.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		index, _ := g.PoissonSample(canaries, nil, nil)
		sum := make([]float32, 1)
		for range index {
			sum[0] += float32(1 / s.shrink)
		}
		spec := mechanism.Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: s.z}
		err = g.ReleaseGradient(spec, func(_ int, noisy []float64) {
			y := noisy[0] * s.shrink
			v := s.z * s.shrink
			total += math.Log(1 - s.q + s.q*math.Exp((2*y-1)/(2*v*v)))
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return []float64{total}
}

// TestStepsAgainstTheAccountant tests sampler, noise and accountant against each other: the lower
// bound of ε from draws is below the accountant's ε, but at least 0.4 of it.
func TestStepsAgainstTheAccountant(t *testing.T) {
	const q, z, delta = 0.4, 0.8, 0.01
	n := 40000
	if *audit {
		n = 2000000
	}
	e := accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: z}}
	bound, err := accountant.Epsilon(accountant.Repeated{Event: e, Count: stepsPerRun}, delta,
		accountant.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	evidence := func(shrink float64) Evidence {
		l := ledger.New(accountant.Budget{Epsilon: 1e8, Delta: 1e-5})
		a, err := mechanism.Begin(context.Background(), l).Reserve("steps", e, 2*stepsPerRun*n)
		if err != nil {
			t.Fatal(err)
		}
		s := &steps{t: t, allowance: a, q: q, z: z, shrink: shrink}
		claim := Claim[int]{Run: s.run, D0: 1, D1: 0, Epsilon: bound.Upper, Delta: delta,
			FalseAlarm: auditedAlarm, Samples: n}
		return claim.LowerBound(t)
	}
	right := evidence(1)
	t.Logf("accountant: ε ≤ %.4g; draws: %v", bound.Upper, right)
	if right.Epsilon > bound.Upper {
		t.Errorf("claimed ε=%g, but %v", bound.Upper, right)
	}
	if right.Epsilon < 0.4*bound.Upper {
		t.Errorf("the audit shows only ε ≥ %v, want at least 0.4 of %v", right.Epsilon, bound.Upper)
	}
	wrong := evidence(0.5)
	t.Logf("half the noise: %v", wrong)
	if wrong.Epsilon <= bound.Upper {
		t.Errorf("half the noise is not detected: %v", wrong)
	}
}

// TestOneRunAuditOfTraining plants each canary in its own coordinate and trains once. The lower
// bound of ε from one run must not exceed the accountant's ε.
func TestOneRunAuditOfTraining(t *testing.T) {
	const q, z, rounds, delta = 0.2, 4.0, 10, 1e-12
	canaries := 2000
	if *audit {
		canaries = 20000
	}
	e := accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: z}}
	bound, err := accountant.Epsilon(accountant.Repeated{Event: e, Count: rounds}, delta,
		accountant.AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	train := func(clip float64) func(planted []bool) ([]float64, error) {
		return func(planted []bool) ([]float64, error) {
			l := ledger.New(accountant.Budget{Epsilon: 2 * bound.Upper, Delta: delta})
			a, err := mechanism.Begin(context.Background(), l).Reserve("training", e, rounds)
			if err != nil {
				return nil, err
			}
			scores := make([]float64, canaries)
			for a.Remaining() > 0 {
				g, err := a.Next()
				if err != nil {
					return nil, err
				}
				index, _ := g.PoissonSample(canaries, nil, nil)
				sum := make([]float32, canaries)
				for _, i := range index {
					if planted[i] {
						sum[i] = float32(clip)
					}
				}
				spec := mechanism.Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: z, Workers: 2}
				if err := g.ReleaseGradient(spec, func(lo int, noisy []float64) {
					for i, v := range noisy {
						scores[lo+i] += v
					}
				}); err != nil {
					return nil, err
				}
			}
			return scores, nil
		}
	}
	o := OneRun{Train: train(1), Canaries: canaries, Guesses: canaries / 5, Delta: delta,
		FalseAlarm: auditedAlarm}
	a := o.Audit(t)
	t.Logf("accountant: ε ≤ %.4g; %v", bound.Upper, a)
	if a.Epsilon > bound.Upper {
		t.Errorf("claimed ε=%g, but %v", bound.Upper, a)
	}
	o.Train = train(20) // no clipping
	if a := o.Audit(t); a.Epsilon <= bound.Upper {
		t.Errorf("training without clipping is not detected: %v, accountant %v", a, bound.Upper)
	}
}
