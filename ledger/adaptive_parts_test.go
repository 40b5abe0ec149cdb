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

// chosenDelta is δ(ε) of a Gaussian release of effect mu that decides which curve follows.
func chosenDelta(mu, eps float64, curves ...func(float64) float64) float64 {
	const h = 1e-3
	sum := 0.0
	for y := mu - 9; y < mu+9; y += h {
		worst := 0.0
		for _, curve := range curves {
			worst = max(worst, curve(eps-mu*y+mu*mu/2))
		}
		sum += math.Exp(-(y-mu)*(y-mu)/2) / math.Sqrt(2*math.Pi) * worst * h
	}
	return sum
}

// TestReleasesMayDecideTheParts compares prices with the exact δ of a mechanism in which a noisy
// number on the root decides whether a part loses little often or much rarely. Fixed parts cost
// less.
func TestReleasesMayDecideTheParts(t *testing.T) {
	response := func(x float64) float64 { // of Pure{2}
		return max(0, 1-math.Exp(x), (math.Exp(2)-math.Exp(x))/(math.Exp(2)+1))
	}
	rare := func(x float64) float64 { return 9e-6 + (1-9e-6)*max(0, 1-math.Exp(x)) }
	l := New(accountant.Budget{Epsilon: 50, Delta: 1e-5})
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "clusters", N: 2}))
	for i, e := range []accountant.Event{accountant.Pure{Epsilon: 2},
		accountant.Approximate{Delta: 9e-6}} {
		if err := parts[i].Spend("x", e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Spend("centres", accountant.Gaussian{NoiseMultiplier: 2}); err != nil {
		t.Fatal(err)
	}
	v := l.Epsilon().Upper
	within(t, "δ at ε", chosenDelta(0.5, v, response, rare), 0.98e-5, 1e-5*(1+1e-6))
	back := must[*Ledger](t)(Unmarshal(must[[]byte](t)(json.Marshal(l))))
	if got := back.Epsilon().Upper; got != v {
		t.Errorf("read back: ε = %g, want %g", got, v)
	}
	fixed := accountant.Composed{Events: []accountant.Event{accountant.Gaussian{NoiseMultiplier: 2},
		accountant.Disjoint{
			Parts: []accountant.Event{accountant.Pure{Epsilon: 2}, accountant.Approximate{Delta: 9e-6}},
			Fixed: true,
		}}}
	if w := upper(t, fixed, 1e-5, accountant.AddOrRemoveOne); w > 0.95*v {
		t.Errorf("fixed parts cost ε = %g, want clearly less than %g", w, v)
	}
}

// TestPartsUnderReplaceOneStateTheirMoves: no ledger under replace-one has parts, opened or read,
// without MovesCovered.
func TestPartsUnderReplaceOneStateTheirMoves(t *testing.T) {
	b := accountant.Budget{Epsilon: 10, Delta: 1e-5, Relation: accountant.ReplaceOne}
	l := New(b)
	var wrong *param.Error
	if _, err := l.Disjoint(Parts{Purpose: "classes", N: 2}); !errors.As(err, &wrong) {
		t.Errorf("Disjoint: %v", err)
	}
	if _, err := l.Disjoint(Parts{Purpose: "classes", N: 2, Fixed: true}); !errors.As(err, &wrong) {
		t.Errorf("Disjoint, fixed: %v", err)
	}
	run := Transaction{Groups: []Parts{{Purpose: "classes", N: 2}},
		Lines: []Line{{Purpose: "x", Event: accountant.Gaussian{NoiseMultiplier: 9}, Count: 1, Group: 1}}}
	if _, err := l.ReserveAll(run); !errors.As(err, &wrong) {
		t.Errorf("ReserveAll: %v", err)
	}
	parts := must[[]*Ledger](t)(l.Disjoint(
		Parts{Purpose: "classes", N: 2, Fixed: true, MovesCovered: true}))
	event := accountant.Disjoint{
		Parts:  []accountant.Event{accountant.Gaussian{NoiseMultiplier: 2}},
		Moving: []accountant.Event{accountant.Gaussian{NoiseMultiplier: 1}},
	}
	for _, p := range parts {
		if err := p.Spend("sum", event); err != nil {
			t.Fatal(err)
		}
	}
	want := must[accountant.Bound](
		t,
	)(
		accountant.Epsilon(
			accountant.Gaussian{NoiseMultiplier: math.Sqrt(0.5)},
			1e-5,
			accountant.ReplaceOne,
		),
	)
	if v := l.Epsilon().Upper; v < want.Lower || v > want.Upper*1.001 {
		t.Errorf("ε = %g, want %g of a move", v, want.Upper)
	}
	text := l.Guarantee().String()
	for _, want := range []string{"declared fixed", "joins or leaves its part"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the guarantee does not say %q:\n%s", want, text)
		}
	}
	data := string(must[[]byte](t)(json.Marshal(l)))
	if back := must[*Ledger](t)(Unmarshal([]byte(data))); back.Epsilon() != l.Epsilon() {
		t.Error("reading the ledger back changed ε")
	}
	bad := strings.Replace(data, `,"moves_covered":true`, "", 1)
	if _, err := Unmarshal([]byte(bad)); bad == data || !errors.As(err, &wrong) {
		t.Errorf("read without moves_covered: %v", err)
	}
}
