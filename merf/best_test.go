package merf_test

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/rff"
)

// TestTrainBest checks that TrainBest returns the generator with the longest training, which is
// nearest to the release. The comparison must cost no privacy.
func TestTrainBest(t *testing.T) {
	data := drawTable(t, 2000, 2)
	c := small(data.Schema(), accountant.AddOrRemoveOne, rff.RBF{Dim: 200, Bandwidth: 1})
	ledger := accountant.NewLedger(c.Budget)
	e, err := mustPlan(t, c).Embed(privacytest.Seeded(t, context.Background(), 1), ledger, data)
	if err != nil {
		t.Fatal(err)
	}
	before := ledger.Epsilon()
	of := func(steps int) merf.GeneratorConfig {
		return merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{20}, BatchNorm: true},
			Latent: 4, Steps: steps, Batch: 120, LR: 0.01, Seed: 1}
	}
	best, distances, err := merf.TrainBest(t.Context(), e,
		[]merf.GeneratorConfig{of(1), of(200), of(5)})
	if err != nil {
		t.Fatal(err)
	}
	if !(distances[1] < 0.5*distances[0] && distances[1] < 0.5*distances[2]) {
		t.Errorf("distances %v, want the second below half of the others", distances)
	}
	if !reflect.DeepEqual(best.Guarantee(), e.Guarantee()) || ledger.Epsilon() != before {
		t.Error("choosing by released values changed the guarantee or the ledger")
	}
	again, err := merf.Distance(t.Context(), e, best, 2000)
	if err != nil || math.Abs(again-distances[1]) > 1e-12 {
		t.Errorf("the best generator has distance %g (error %v), want the second of %v", again, err,
			distances)
	}
	if _, _, err := merf.TrainBest(t.Context(), e, nil); err == nil {
		t.Error("TrainBest accepts an empty list, want an error")
	}
	if _, err := merf.Distance(t.Context(), e, best, 0); err == nil {
		t.Error("Distance accepts 0 records, want an error")
	}
}
