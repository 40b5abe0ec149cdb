package accountant_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// above is a curve that ends at δ = .5: with this probability everything is lost.
var above = accountant.Curve{Name: "ends above zero", Epsilons: []float64{0, 1},
	Deltas: []float64{.6, .5}}

// TestWrappersKeepTheDeltaOfTheirEvents checks events that contain an (ε, δ) event, or a curve that
// ends above δ = 0. Such an event costs at least its known lost δ. The test prices it alone, and
// composed with an event without a loss distribution. An answer that the event is not supported
// also passes.
func TestWrappersKeepTheDeltaOfTheirEvents(t *testing.T) {
	lossy := accountant.Approximate{Epsilon: .1, Delta: .5}
	pure := []accountant.Event{accountant.Pure{Epsilon: 1}, accountant.Pure{Epsilon: 1}}
	for name, c := range map[string]struct {
		event accountant.Event
		lost  float64
		both  bool // under both relations, or ReplaceOne alone
	}{
		"moving parts": {accountant.Disjoint{Parts: pure,
			Moving: []accountant.Event{lossy, lossy}}, .75, false},
		"parts": {accountant.Disjoint{Parts: []accountant.Event{lossy, lossy}}, .5, true},
		"two parts of a move": {accountant.Disjoint{Parts: []accountant.Event{lossy, lossy}}, .75,
			false},
		"a choice":         {accountant.OneOf{Events: []accountant.Event{pure[0], lossy}}, .5, true},
		"a curve, chosen":  {accountant.OneOf{Events: []accountant.Event{pure[0], above}}, .5, true},
		"a curve in parts": {accountant.Disjoint{Parts: []accountant.Event{above, above}}, .75, false},
		"the only run":     {accountant.RepeatAndSelect{Event: above, Mean: 1, Shape: 1}, .5, true},
		"several runs":     {accountant.RepeatAndSelect{Event: above, Mean: 2, Shape: 1}, .5, true},
		"runs of a choice": {accountant.RepeatAndSelect{Mean: 1, Shape: 1, Event: accountant.OneOf{
			Events: []accountant.Event{above, pure[0]}}}, .5, true},
		"runs of moving parts": {accountant.RepeatAndSelect{Mean: 1, Shape: 1,
			Event: accountant.Disjoint{Parts: pure, Moving: []accountant.Event{lossy, lossy}}}, .75,
			false},
		"a sample": {accountant.PoissonSampled{Probability: .5, Event: lossy}, .25, true},
	} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			if !c.both && r == accountant.AddOrRemoveOne {
				continue
			}
			for with, e := range map[string]accountant.Event{"": c.event,
				" and more": accountant.Composed{Events: []accountant.Event{c.event,
					accountant.ZCDP{Rho: 1e-3}}},
				" twice": accountant.Repeated{Event: c.event, Count: 2}} {
				checkLost(t, name+with, e, r, c.lost)
			}
		}
	}
}

// checkLost checks every answer about an event that loses everything with a known probability.
func checkLost(t *testing.T, name string, e accountant.Event, r accountant.Relation, lost float64) {
	t.Helper()
	const eps = 3
	d, err := accountant.Delta(e, eps, r)
	if err == nil && d.Upper < lost*(1-1e-9) {
		t.Errorf("%s, %v: δ(%d) = %v, but %v is lost", name, r, eps, d.Upper, lost)
	}
	for _, delta := range []float64{0, 1e-5} {
		b, err := accountant.Epsilon(e, delta, r)
		if err == nil && !math.IsInf(b.Upper, 1) {
			t.Errorf("%s, %v: ε = %v at δ = %v, but δ = %v is lost", name, r, b.Upper, delta, lost)
		}
	}
	if v, err := accountant.RDPEpsilonOf(e, 1e-5, r); err == nil && !math.IsInf(v, 1) {
		t.Errorf("%s, %v: ε = %v by Rényi divergences", name, r, v)
	}
	if v, err := accountant.RDP(e, 2, r); err == nil && !math.IsInf(v, 1) {
		t.Errorf("%s, %v: a Rényi divergence of %v", name, r, v)
	}
	b := accountant.Budget{Epsilon: 20, Delta: 1e-5, Relation: r}
	for kind, l := range map[string]*ledger.Ledger{"a ledger": ledger.New(b),
		"a filter": ledger.New(b, ledger.WithFilter(8))} {
		if _, err := l.Reserve("x", e, 1); err == nil {
			t.Errorf("%s, %v: %s accepts it", name, r, kind)
		} else if !errors.Is(err, accountant.ErrBudgetExceeded) &&
			!errors.Is(err, accountant.ErrUnsupported) {
			t.Errorf("%s, %v: %s: %v", name, r, kind, err)
		}
	}
}

// TestSmallDeltasOfMovesAreCharged checks the δ that a move of a record between two parts loses.
func TestSmallDeltasOfMovesAreCharged(t *testing.T) {
	parts := func(delta float64) accountant.Event {
		p := accountant.Approximate{Epsilon: .001, Delta: delta}
		return accountant.Disjoint{Parts: []accountant.Event{p, p}}
	}
	d, err := accountant.Delta(parts(.01), 1, accountant.ReplaceOne)
	if want := 1 - .99*.99; err != nil || d.Upper < want*(1-1e-9) || d.Upper > want*1.1 {
		t.Errorf("δ = %v, %v; want %v", d.Upper, err, want)
	}
	// The δ of the parts leaves 2e-11 for the other event.
	both := accountant.Composed{Events: []accountant.Event{parts(4.99999e-6),
		accountant.ZCDP{Rho: .5}}}
	alone, err := accountant.Epsilon(accountant.Gaussian{NoiseMultiplier: 1}, 2e-11,
		accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := accountant.Epsilon(both, 1e-5, accountant.ReplaceOne); err != nil ||
		b.Upper < alone.Lower {
		t.Errorf("ε = %v, %v; a Gaussian of the same ρ costs %v at the δ that is left", b.Upper, err,
			alone.Lower)
	}
}
