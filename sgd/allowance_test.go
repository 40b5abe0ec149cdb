package sgd_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestAllowancesOfTheirLedger checks that New refuses an allowance of another ledger. The event is
// the same under both relations, but the noise is not.
func TestAllowancesOfTheirLedger(t *testing.T) {
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3, NoiseMultiplier: 1,
		NominalBatch: 1, Optimizer: sgd.SGD(1)}
	l := func(r accountant.Relation) *ledger.Ledger {
		return ledger.New(accountant.Budget{Epsilon: 50, Delta: 1e-5, Relation: r})
	}
	own := l(accountant.ReplaceOne)
	a, err := mechanism.Begin(t.Context(), own).Reserve("steps", cfg.Event(own.Relation()), cfg.Steps)
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]*ledger.Ledger{
		"another relation":  l(accountant.AddOrRemoveOne),
		"the same relation": l(accountant.ReplaceOne),
	} {
		_, err := sgd.New(cfg, newCentre(3), other, sgd.WithAllowance(a))
		if got := paths(err); len(got) == 0 || got[0] != "sgd.WithAllowance" {
			t.Errorf("a ledger of %s: %v", name, err)
		}
	}
	if _, err := sgd.New(cfg, newCentre(3), own, sgd.WithAllowance(a)); err != nil {
		t.Errorf("its own ledger: %v", err)
	}
}
