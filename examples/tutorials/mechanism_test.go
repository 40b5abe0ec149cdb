package tutorials_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// sumOfAges releases the sum of ages, each clipped to [0, 100], at ε = 1.
func sumOfAges(ctx context.Context, ledger *ledger.Ledger, ages []float64) (float64, error) {
	const multiplier = 4.0
	run := mechanism.Begin(ctx, ledger)
	std := multiplier * mechanism.SumSensitivity(run.Relation(), 100)
	sum := mechanism.NewFixedSum(1, mechanism.GridFor(std))
	for _, age := range ages {
		sum.AddRow64([]float64{min(max(age, 0), 100)}, 1)
	}
	grant, err := run.Spend("sum of ages", accountant.Gaussian{NoiseMultiplier: multiplier})
	if err != nil {
		return 0, err
	}
	out := make([]float64, 1)
	err = grant.Release(1/multiplier, mechanism.Part{Sum: sum, Std: std, Out: out})
	return out[0], err
}

// TestSumOfAgesIsPrivate replays the mechanism on neighbouring data sets.
func TestSumOfAgesIsPrivate(t *testing.T) {
	for _, outlier := range []float64{0, 100, 1e9, -1e9} {
		privacytest.Replay[[]float64]{
			Run: func(ctx context.Context, l *ledger.Ledger, ages []float64) (any, error) {
				return sumOfAges(ctx, l, ages)
			},
			Budget:    accountant.Budget{Epsilon: 2, Delta: 1e-5},
			Data:      []float64{31, 58, 44},
			Neighbour: []float64{31, 58, 44, outlier},
		}.Check(t)
	}
}

// TestSumOfAgesStands draws from the mechanism and tries to refute its claim.
func TestSumOfAgesStands(t *testing.T) {
	privacytest.Claim[[]float64]{
		Run: func(ages []float64) []float64 {
			l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
			sum, err := sumOfAges(context.Background(), l, ages)
			if err != nil {
				t.Error(err)
			}
			return []float64{sum}
		},
		D0: []float64{31, 58, 44, 100}, D1: []float64{31, 58, 44},
		Epsilon: 1, Delta: 1e-5, Samples: 2000, FalseAlarm: 1e-9,
	}.Check(t)
}

// respond releases one bit: the true bit with probability keep, otherwise the other bit.
func respond(ctx context.Context, ledger *ledger.Ledger, bit int, keep float64) (int, error) {
	event := accountant.RandomizedResponse{Noise: 2 * (1 - keep), Categories: 2}
	grant, err := mechanism.Begin(ctx, ledger).Spend("answer", event)
	if err != nil {
		return 0, err
	}
	return grant.RandomizedResponse(bit)
}

// claimOne claims that respond with the given keep is 1-differentially private.
func claimOne(t *testing.T, keep float64, samples int) privacytest.Claim[int] {
	budget := accountant.Budget{Epsilon: 3, Relation: accountant.ReplaceOne}
	return privacytest.Claim[int]{
		Run: func(bit int) []float64 {
			told, err := respond(context.Background(), ledger.New(budget), bit, keep)
			if err != nil {
				t.Error(err)
			}
			return []float64{float64(told)}
		},
		D0: 0, D1: 1,
		Epsilon: 1, Samples: samples, FalseAlarm: 1e-6,
	}
}

// TestRespond checks the claim for the right probability, and that a wrong one is refuted.
func TestRespond(t *testing.T) {
	claimOne(t, math.E/(1+math.E), 2000).Check(t)
	if !claimOne(t, 0.9, 2000).Refuted(t) {
		t.Error("a bit kept with probability .9 is not refuted, want ε = 1 refuted")
	}
	if claimOne(t, 0.9, 10).Refuted(t) { // happens with probability below 1e-4
		t.Error("10 samples refute the claim, want too few samples to refute it")
	}
}
