package gan_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestTwoRunsOnOneLedger makes three runs of a plan on one ledger. The first is cancelled. The
// other two must take all of their steps.
func TestTwoRunsOnOneLedger(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p := some(t, s, 30, 1), mustPlan(t, small(s, 0))
	wide := ledger.New(accountant.Budget{Epsilon: 40, Delta: 1e-5})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := p.FitOn(ctx, wide, data, atStep(2, cancel)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	alone := must(p.Fit(privacytest.Seeded(t, t.Context(), 3), data))(t)
	for run := 1; run <= 2; run++ {
		steps, previews := 0, 0
		g, err := p.FitOn(privacytest.Seeded(t, t.Context(), 3), wide, data,
			synth.OnProgress(func(at synth.Progress) {
				if steps++; at.Step != steps || at.Of != 6 {
					t.Errorf("run %d: got step %d of %d after %d reports", run, at.Step, at.Of, steps)
				}
			}),
			synth.OnPreview(3, func(int, *synth.Generator) { previews++ }))
		if err != nil || steps != 6 || previews != 3 {
			t.Fatalf("run %d: got %d steps and %d previews, want 6 and 3; error %v", run, steps, previews,
				err)
		}
		if e := wide.Entries(); len(e) != 1 || e[0].Reserved != 6*(run+1) || e[0].Spent != 6*run+2 {
			t.Errorf("run %d: unexpected ledger entries %v", run, e)
		}
		if !reflect.DeepEqual(encoded(t, g), encoded(t, alone)) {
			t.Errorf("run %d: another generator than on a new ledger", run)
		}
	}
}

// TestWarmStartSaysWhatOthersHaveReleased checks that the ε in progress reports includes everything
// on the ledger, beginning with the first step of the warm start.
func TestWarmStartSaysWhatOthersHaveReleased(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Public, c.WarmSteps = public(t, s, 9, 99), 1
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	wide := ledger.New(accountant.Budget{Epsilon: 40, Delta: 1e-5})
	for run := range 2 {
		_, err := p.FitOn(t.Context(), wide, data, synth.OnProgress(func(at synth.Progress) {
			if at.Stage == gan.StageWarm && (at.Epsilon > 0) != (run > 0) {
				t.Errorf("run %d: ε = %v before its first critic step, want 0 only in run 0", run, at.Epsilon)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
}
