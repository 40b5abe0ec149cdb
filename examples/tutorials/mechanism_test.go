package tutorials_test

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// sumOfAges releases the sum of ages, each clipped to [0, 100], at ε = 1.
func sumOfAges(ctx context.Context, ledger *accountant.Ledger, ages []float64) (float64, error) {
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
			Run: func(ctx context.Context, l *accountant.Ledger, ages []float64) (any, error) {
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
			ledger := accountant.NewLedger(accountant.Budget{Epsilon: 2, Delta: 1e-5})
			sum, err := sumOfAges(context.Background(), ledger, ages)
			if err != nil {
				t.Error(err)
			}
			return []float64{sum}
		},
		D0: []float64{31, 58, 44, 100}, D1: []float64{31, 58, 44},
		Epsilon: 1, Delta: 1e-5, Samples: 2000, FalseAlarm: 1e-9,
	}.Check(t)
}
