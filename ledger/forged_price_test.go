package ledger

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestEntriesWithoutAFinitePrice: a guarantee that states a finite ε is refused if its entries have
// none, or if they cannot be priced. One that states none is read.
func TestEntriesWithoutAFinitePrice(t *testing.T) {
	for what, c := range map[string]struct {
		event    accountant.Event
		relation accountant.Relation
	}{
		"no noise":       {accountant.Gaussian{NoiseMultiplier: 1e-200}, accountant.AddOrRemoveOne},
		"no noise (two)": {accountant.Gaussian{NoiseMultiplier: 1e-200}, accountant.ReplaceOne},
		"a large δ":      {accountant.Approximate{Epsilon: 1, Delta: 0.5}, accountant.AddOrRemoveOne},
		"unsupported": {accountant.RandomAllocation{Steps: 8, NoiseMultiplier: 1},
			accountant.ReplaceOne},
	} {
		good := New(accountant.Budget{Epsilon: 9, Delta: 1e-5, Relation: c.relation})
		if err := good.Spend("x", accountant.Gaussian{NoiseMultiplier: 3}); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(good.Guarantee())
		if err != nil {
			t.Fatal(err)
		}
		event, err := accountant.MarshalEvent(c.event)
		if err != nil {
			t.Fatal(err)
		}
		read := func(epsilon any) error {
			var g map[string]any
			if err := json.Unmarshal(text, &g); err != nil {
				t.Fatal(err)
			}
			entry := g["entries"].([]any)[0].(map[string]any)
			entry["event"] = json.RawMessage(event)
			delete(entry, "description")
			g["epsilon"] = epsilon
			forged, err := json.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}
			var back Guarantee
			if err := json.Unmarshal(forged, &back); err != nil {
				return err
			}
			if !math.IsInf(back.Epsilon, 1) {
				t.Errorf("%s: read as ε = %v", what, back.Epsilon)
			}
			return nil
		}
		for _, epsilon := range []float64{0, 1, 9, 1e300} {
			if err := read(epsilon); err == nil {
				t.Errorf("%s: ε = %v is accepted", what, epsilon)
			} else if p := (*param.Error)(nil); !errors.As(err, &p) && !errors.Is(err,
				accountant.ErrUnsupported) {
				t.Errorf("%s: ε = %v: %v", what, epsilon, err)
			} else if p != nil && !strings.Contains(err.Error(), "no finite ε") {
				t.Errorf("%s: ε = %v: %v", what, epsilon, err)
			}
		}
	}
}
