package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestSavedLedgersSayTheyAreNotPrivate: the mark is kept when a ledger is saved and when ledgers
// are merged.
func TestSavedLedgersSayTheyAreNotPrivate(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	l.MarkNotPrivate("test noise")
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Unmarshal(text)
	if err != nil || back.NotPrivate() != "test noise" {
		t.Errorf("read back: %q (%v)", back.NotPrivate(), err)
	}
}

// TestLedgersOfPureBudgets: a δ of 0 holds for pure events, in any number, and for no others.
func TestLedgersOfPureBudgets(t *testing.T) {
	for _, e := range []accountant.Event{accountant.Laplace{Scale: 2}, accountant.Pure{Epsilon: 2},
		accountant.Repeated{Event: accountant.ExponentialMechanism{Epsilon: 0.1}, Count: 30}} {
		b := must[accountant.Bound](t)(accountant.Epsilon(e, 0, accountant.ReplaceOne))
		l := New(accountant.Budget{Epsilon: 1.5 * b.Upper, Relation: accountant.ReplaceOne})
		if err := l.Spend("once", e); err != nil {
			t.Error(err)
		}
		if err := l.Spend("twice", e); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Error(err)
		}
		if g := l.Guarantee(); g.Delta != 0 || g.Epsilon != b.Upper {
			t.Errorf("%+v", g)
		}
	}
	l := New(accountant.Budget{Epsilon: 100})
	if err := l.Spend("x", accountant.Gaussian{NoiseMultiplier: 5}); !errors.Is(err,
		accountant.ErrUnsupported) {
		t.Errorf("a Gaussian at δ = 0: %v, want ErrUnsupported", err)
	}
}

// TestLedgersRefuse: an infinite price, an invalid budget, and events that no file can hold.
func TestLedgersRefuse(t *testing.T) {
	budget := accountant.Budget{Epsilon: 100, Delta: 1e-5}
	noise := accountant.Gaussian{NoiseMultiplier: 100}
	for _, e := range []accountant.Event{accountant.Approximate{Delta: 0.001},
		accountant.Repeated{Event: accountant.Approximate{Epsilon: 1, Delta: 2e-5}, Count: 3}} {
		if _, err := New(budget).Reserve("x", e, 1); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%s: got %v, want ErrBudgetExceeded", accountant.Describe(e), err)
		}
	}
	for _, b := range []accountant.Budget{{}, {Epsilon: math.NaN(), Delta: 1e-5},
		{Epsilon: 1, Delta: math.NaN()}, {Epsilon: 1, Delta: 1e-5, Relation: 7},
		{Epsilon: math.Inf(1), Delta: 1e-5}, {Epsilon: -1, Delta: 1e-5}} {
		if New(b).Spend("x", noise) == nil {
			t.Errorf("a ledger with the invalid budget %+v spends", b)
		}
	}
	deep := accountant.Event(noise)
	for range 33 {
		deep = accountant.Composed{Events: []accountant.Event{deep}}
	}
	type embeds struct{ accountant.Gaussian }
	for name, e := range map[string]accountant.Event{"nested too deep": deep, "a pointer": &noise,
		"an embedded event": embeds{}, "a pointer within": accountant.Repeated{Event: &noise, Count: 2},
		"nothing within": accountant.Repeated{Count: 2}} {
		l := New(budget)
		_, reserved := l.Reserve("a", e, 1)
		_, together := l.ReserveAll(once(e))
		for _, err := range []error{reserved, together, l.Affords(once(e))} {
			if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
				t.Errorf("%s: got %v, want a *param.Error", name, err)
			}
		}
		if n := len(l.Entries()); n != 0 {
			t.Errorf("%s: %d entries", name, n)
		}
	}
}

// TestUsesDoNotMoveThePrice: a reservation costs all its uses, taken or not.
func TestUsesDoNotMoveThePrice(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
	r := must[*Reservation](t)(l.Reserve("adaptive", accountant.Gaussian{NoiseMultiplier: 10}, 1000))
	before := l.Epsilon()
	if err := r.Spend(); err != nil || l.Epsilon() != before {
		t.Error("the published ε changes when a use is taken")
	}
}

// TestLedgersReadEveryKeyOnce: a saved ledger that states a number twice is refused.
func TestLedgersReadEveryKeyOnce(t *testing.T) {
	const text = `{"version":1,"budget":{"epsilon":1,"delta":1e-6,"relation":"add_or_remove_one"},` +
		`"entries":[{"purpose":"x","event":{"kind":"gaussian","noise_multiplier":1},` +
		`"reserved":1000,"spent":0`
	for end, good := range map[string]bool{`}]}`: true, `,"RESERVED":1}]}`: false,
		`,"reserved":1}]}`: false, `}],"Budget":{}}`: false} {
		if _, err := Unmarshal([]byte(text + end)); (err == nil) != good {
			t.Errorf("%s: %v", end, err)
		}
	}
}

// TestPrintedCostsNeverFall: more events may have a smaller bound, found by another engine, and the
// published ε stays.
func TestPrintedCostsNeverFall(t *testing.T) {
	sampled := func(q float64, e accountant.Event) accountant.Event {
		return accountant.PoissonSampled{Probability: q, Event: e}
	}
	five := accountant.Gaussian{NoiseMultiplier: 5}
	last := accountant.SampledSum{Probability: 0.01, NoiseMultiplier: 5}
	l := New(accountant.Budget{Epsilon: 4, Delta: 1e-6})
	for i, e := range []accountant.Event{five, sampled(0.3, five), accountant.Pure{Epsilon: 0.2}} {
		if err := l.Spend(fmt.Sprint(i), e); err != nil {
			t.Fatal(err)
		}
	}
	before := l.Guarantee()
	if err := l.Spend("last", last); err != nil {
		t.Fatal(err)
	}
	if after := l.Guarantee(); after.Epsilon < before.Epsilon || l.Epsilon().Upper != after.Epsilon {
		t.Errorf("ε = %v after %v", after.Epsilon, before.Epsilon)
	}
	alone := must[accountant.Bound](t)(accountant.Epsilon(l.Event(), 1e-6, accountant.AddOrRemoveOne))
	if !(alone.Upper < before.Epsilon) {
		t.Errorf("the events alone cost %v: not an example of a bound that falls", alone)
	}
}
