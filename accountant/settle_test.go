package accountant

import "testing"

// TestCalibratedEventsFit: what calibration finds is within the target for everybody who prices it
// afterwards, on the grid that the full bracket chooses and in a ledger.
func TestCalibratedEventsFit(t *testing.T) {
	relations := []Relation{ReplaceOne, AddOrRemoveOne}
	if testing.Short() {
		relations = relations[:1]
	}
	for _, relation := range relations {
		for _, epsilon := range []float64{0.3, 4} {
			for _, q := range []float64{2e-4, 0.01} {
				for _, first := range []float64{3} {
					target := Budget{Epsilon: epsilon, Delta: 1e-5, Relation: relation}
					event := func(z float64) Event {
						return Composed{Events: []Event{Gaussian{NoiseMultiplier: first * 3 / epsilon},
							Repeated{Event: PoissonSampled{Probability: q, Event: Gaussian{NoiseMultiplier: z}},
								Count: 300}}}
					}
					z, achieved, err := CalibrateNoise(target, event)
					if err != nil {
						t.Fatal(err)
					}
					again, err := Epsilon(event(z), target.Delta, relation)
					if err != nil || again.Upper > epsilon || achieved.Upper > epsilon {
						t.Errorf("%v, ε %v, q %v: calibrated to %v, priced at %v (%v)", relation, epsilon, q,
							achieved.Upper, again.Upper, err)
					}
					l := NewLedger(target)
					if err := l.Spend("all", event(z)); err != nil {
						t.Errorf("%v, ε %v, q %v: %v", relation, epsilon, q, err)
					}
				}
			}
		}
	}
}
