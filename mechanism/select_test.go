package mechanism_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// TestExponentialMechanismChooses by its law: each frequency lies within 6.2 deviations, which each
// fails by chance with probability 6e-10.
func TestExponentialMechanismChooses(t *testing.T) {
	const n, epsilon = 40000, 0.8
	utilities := []int64{3, -math.MaxInt64, 5, 4}
	event := accountant.ExponentialMechanism{Epsilon: epsilon}
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	allowance, err := mechanism.Begin(context.Background(), ledger).Reserve("choice", event, n)
	if err != nil {
		t.Fatal(err)
	}
	var counts [4]float64
	for range n {
		grant, err := allowance.Next()
		if err != nil {
			t.Fatal(err)
		}
		i, err := grant.Exponential(utilities)
		if err != nil {
			t.Fatal(err)
		}
		counts[i]++
	}
	deviation := func(scale float64) float64 {
		var p [4]float64
		total, worst := 0.0, 0.0
		for i, u := range utilities {
			p[i] = math.Exp(epsilon * scale * float64(u-5) / 2)
			total += p[i]
		}
		for i := range p {
			mean := n * p[i] / total
			worst = max(worst, math.Abs(counts[i]-mean)/math.Sqrt(mean*(1-p[i]/total)+1))
		}
		return worst
	}
	if d := deviation(1); d > 6.2 {
		t.Errorf("frequencies %v are %.1f deviations off", counts, d)
	}
	for _, wrong := range []float64{0.7, 1.3} {
		if d := deviation(wrong); d < 8 {
			t.Errorf("ε times %v would pass at %.1f deviations", wrong, d)
		}
	}
}

func TestExponentialMechanismRefuses(t *testing.T) {
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
	run := mechanism.Begin(context.Background(), ledger)
	gaussian, _ := run.Spend("other", accountant.Gaussian{NoiseMultiplier: 1})
	if _, err := gaussian.Exponential([]int64{1}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("under a Gaussian: %v", err)
	}
	grant, _ := run.Spend("choice", accountant.ExponentialMechanism{Epsilon: 1})
	if _, err := grant.Exponential(nil); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); err != nil {
		t.Error(err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("twice: %v", err)
	}
}
