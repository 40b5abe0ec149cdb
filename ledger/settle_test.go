package ledger

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestCalibratedEventsFit: a calibrated event meets the target at every later pricing, by Epsilon
// and by a ledger.
func TestCalibratedEventsFit(t *testing.T) {
	relations := []accountant.Relation{accountant.ReplaceOne, accountant.AddOrRemoveOne}
	if testing.Short() {
		relations = relations[:1]
	}
	for _, relation := range relations {
		for _, epsilon := range []float64{0.3, 4} {
			for _, q := range []float64{2e-4, 0.01} {
				for _, first := range []float64{3} {
					target := accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: relation}
					event := func(z float64) accountant.Event {
						return accountant.Composed{
							Events: []accountant.Event{accountant.Gaussian{NoiseMultiplier: first * 3 / epsilon},
								accountant.Repeated{
									Event: accountant.PoissonSampled{
										Probability: q,
										Event:       accountant.Gaussian{NoiseMultiplier: z},
									},
									Count: 300,
								}},
						}
					}
					z, achieved, err := accountant.CalibrateNoise(target, event)
					if err != nil {
						t.Fatal(err)
					}
					again, err := accountant.Epsilon(event(z), target.Delta, relation)
					if err != nil || again.Upper > epsilon || achieved.Upper > epsilon {
						t.Errorf("%v, ε %v, q %v: calibrated to %v, priced at %v (%v)", relation, epsilon, q,
							achieved.Upper, again.Upper, err)
					}
					l := New(target)
					if err := l.Spend("all", event(z)); err != nil {
						t.Errorf("%v, ε %v, q %v: %v", relation, epsilon, q, err)
					}
				}
			}
		}
	}
}
