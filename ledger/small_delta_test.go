package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestSmallDeltasOfLedgers: a δ of 1e-30 is accepted by ledgers of few and of many different
// events, and their guarantees are read again. A smaller one is refused by both.
func TestSmallDeltasOfLedgers(t *testing.T) {
	for _, delta := range []float64{1e-12, 1e-30, 0.999e-30, 1e-40, 5e-324} {
		for _, events := range []int{1, 40} {
			b := accountant.Budget{Epsilon: 20, Delta: delta}
			l := New(b)
			var failed error
			for i := range events {
				_, err := l.Reserve(fmt.Sprint(i), accountant.PoissonSampled{Probability: 0.01,
					Event: accountant.Gaussian{NoiseMultiplier: 2 + 0.01*float64(i)}}, 2)
				if err != nil {
					failed = err
				}
			}
			if (failed == nil) != (delta >= accountant.MinDelta) {
				t.Errorf("δ = %g, %d events: %v", delta, events, failed)
			}
			if failed != nil {
				continue
			}
			g := l.Guarantee()
			text, err := json.Marshal(g)
			if err != nil || !(g.Epsilon > 0 && g.Epsilon <= 20) {
				t.Fatalf("δ = %g, %d events: %+v, %v", delta, events, g, err)
			}
			var read Guarantee
			if err := json.Unmarshal(text, &read); err != nil || read.Epsilon != g.Epsilon ||
				read.Delta != delta {
				t.Errorf("δ = %g, %d events: ε = %g is read as %g at δ = %g, %v", delta, events, g.Epsilon,
					read.Epsilon, read.Delta, err)
			}
			small := strings.Replace(string(text), fmt.Sprintf(`"delta":%g`, delta), `"delta":1e-31`, 1)
			if small == string(text) || json.Unmarshal([]byte(small), &read) == nil {
				t.Errorf("%d events: a guarantee at δ = 1e-31 is read", events)
			}
		}
	}
}
