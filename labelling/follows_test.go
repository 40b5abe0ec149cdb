package labelling_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestLabellingFollowsNoSystem checks that a labelling is refused as the second system of a
// sequence, before anything is spent. It would ignore the records of the first system.
func TestLabellingFollowsNoSystem(t *testing.T) {
	of := planFor(t, &stub{schema: numbers}, numbers)
	then, err := labelling.Config{Budget: of.Budget(), Of: of, Nominal: 400,
		Features: rff.RBF{Dim: 20, Bandwidth: 0.5},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3, NoiseMultiplier: 5,
			Optimizer: sgd.Momentum(2, 0.9)}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 90, Delta: 1e-5}
	p, err := sequence.Config{Budget: b, Then: then, Records: 40,
		First: planFor(t, &stub{schema: numbers}, numbers)}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	ledger := accountant.NewLedger(b)
	_, err = p.FitOn(t.Context(), ledger, two(t, numbers, 400))
	if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "labelling.Plan" {
		t.Errorf("got error %v, want a *param.Error about labelling.Plan", err)
	}
	if spent := ledger.Epsilon().Upper; spent != 0 {
		t.Errorf("the refused run has spent ε = %v", spent)
	}
}
