package gan_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// counting counts critic steps.
func counting(steps *int) gan.Option {
	return gan.WithProgress(func(g gan.Progress) {
		if *steps++; g.Step != *steps {
			panic("steps out of order")
		}
	})
}

// TestTwoRunsOnOneLedger: runs of one plan on one ledger are all whole, whatever others have taken before.
func TestTwoRunsOnOneLedger(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	wide := accountant.NewLedger(accountant.Budget{Epsilon: 40, Delta: 1e-5})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := gan.Fit(ctx, p, data, wide, gan.WithProgress(func(g gan.Progress) {
		if g.Step == 2 {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	alone, _ := gan.Fit(privacytest.Seeded(t, t.Context(), 3), p, data, accountant.NewLedger(c.Budget))
	for run := 1; run <= 2; run++ {
		steps, previews := 0, 0
		m, err := gan.Fit(privacytest.Seeded(t, t.Context(), 3), p, data, wide, counting(&steps), gan.WithPreview(3, func(int, *gan.Model) { previews++ }))
		if err != nil || steps != 6 || previews != 3 {
			t.Fatalf("run %d: %d steps, %d previews: %v", run, steps, previews, err)
		}
		if e := wide.Entries(); len(e) != 1 || e[0].Reserved != 6*(run+1) || e[0].Spent != 6*run+2 {
			t.Errorf("run %d: ledger %v", run, e)
		}
		if !reflect.DeepEqual(encoded(t, m).Sections, encoded(t, alone).Sections) {
			t.Errorf("run %d: not the model of a ledger of its own", run)
		}
	}
}

// TestWarmStartSaysWhatOthersHaveReleased: progress counts everything on the ledger, from the first step on.
func TestWarmStartSaysWhatOthersHaveReleased(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Public, c.WarmSteps = some(t, s, 9, 99), 1
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	wide := accountant.NewLedger(accountant.Budget{Epsilon: 40, Delta: 1e-5})
	for run := range 2 {
		_, err := gan.Fit(t.Context(), p, data, wide, gan.WithProgress(func(g gan.Progress) {
			if g.Stage == gan.StageWarm && (g.Epsilon > 0) != (run > 0) {
				t.Errorf("run %d: ε = %v before its first critic step", run, g.Epsilon)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnotherRunBesideACheckpoint: a run that keeps checkpoints takes its own steps and no others; what it has kept is
// refused while nothing tells whose steps are left.
func TestAnotherRunBesideACheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)), filepath.Join(t.TempDir(), "checkpoint")
	wide := accountant.NewLedger(accountant.Budget{Epsilon: 40, Delta: 1e-5})
	steps, others := 0, 0
	_, err := gan.Fit(t.Context(), p, data, wide, gan.WithCheckpoint(path, 2), gan.WithProgress(func(g gan.Progress) {
		if steps++; g.Step != 2 {
			return
		}
		if _, err := gan.Fit(t.Context(), p, data, wide, counting(&others)); err != nil {
			t.Error(err)
		}
	}))
	if err != nil || steps != 6 || others != 6 {
		t.Fatalf("%d and %d steps: %v", steps, others, err)
	}
	if e := wide.Entries()[0]; e.Reserved != 12 || e.Spent != 12 {
		t.Errorf("%v", e)
	}
	kept, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *param.Error
	if _, err := kept.Resume(t.Context(), p, data); !errors.As(err, &wrong) {
		t.Errorf("of %d steps: %v", kept.Of, err)
	}
}

// TestAnyDistanceOfCheckpoints: a resumed run told to keep none until its end has counted all of its steps as taken.
func TestAnyDistanceOfCheckpoints(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)), filepath.Join(t.TempDir(), "checkpoint")
	killed(t, p, data, path, 1, 1)
	k, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Resume(t.Context(), p, data, gan.WithCheckpoint(path, math.MaxInt), gan.WithProgress(func(gan.Progress) {
		now, err := gan.OpenCheckpoint(path)
		if err != nil || now.Spent != 6 {
			t.Errorf("a kill now would leave %d steps taken: %v", now.Spent, err)
		}
	}))
	if err != nil {
		t.Error(err)
	}
}

// TestCancelledBefore: a run that is cancelled before it begins sets nothing aside.
func TestCancelledBefore(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c, ledger := small(s, 0), accountant.NewLedger(small(s, 0).Budget)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gan.Fit(ctx, mustPlan(t, c), some(t, s, 30, 1), ledger); !errors.Is(err, context.Canceled) || len(ledger.Entries()) != 0 {
		t.Errorf("%v, ledger %v", err, ledger.Entries())
	}
}

// TestWhatNobodyHasMade: nothing in the place of a plan, records, a ledger, a checkpoint or an option is a panic, and
// nothing is set aside.
func TestWhatNobodyHasMade(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c, data, path := small(s, 0), some(t, s, 30, 1), filepath.Join(t.TempDir(), "checkpoint")
	p, ledger, ctx := mustPlan(t, c), accountant.NewLedger(c.Budget), t.Context()
	second := func(_ any, err error) error { return err }
	mistakes := map[string]error{
		"fit to nothing":           second(gan.Fit(ctx, p, nil, ledger)),
		"fit on no ledger":         second(gan.Fit(ctx, p, data, nil)),
		"fit to nothing from file": second(gan.FitFrom(ctx, p, path, nil)),
		"resume nothing":           second((*gan.Checkpoint)(nil).Resume(ctx, p, data)),
		"resume zero":              second(new(gan.Checkpoint).Resume(ctx, p, data)),
	}
	for name, none := range map[string]*gan.Plan{"nil": nil, "zero": {}} {
		mistakes["fit "+name] = second(gan.Fit(ctx, none, data, ledger))
		mistakes["fit from file "+name] = second(gan.FitFrom(ctx, none, path, data))
		mistakes["write "+name] = second(none.MarshalJSON())
		if none.String() == "" {
			t.Errorf("%s plan says nothing", name)
		}
	}
	killed(t, p, data, path, 1, 1)
	k, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	mistakes["resume under no plan"] = second(k.Resume(ctx, nil, data))
	mistakes["resume on nothing"] = second(k.Resume(ctx, p, nil))
	k.Ledger = nil
	mistakes["resume on no ledger"] = second(k.Resume(ctx, p, data))
	for name, err := range mistakes {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := ledger.Entries(); len(e) != 0 {
		t.Errorf("something was set aside: %v", e)
	}
	fit(t, c, data, nil, gan.WithProgress(nil), gan.WithBackend(nil), gan.WithPreview(0, nil))
}

// unwritable is an architecture that no JSON holds.
type unwritable struct {
	models.MLP
	Hook func()
}

// TestUnwritablePlansKeepNoCheckpoint: nothing would tell their checkpoints apart.
func TestUnwritablePlansKeepNoCheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c, data := small(s, 0), some(t, s, 30, 1)
	c.Critic = unwritable{MLP: models.MLP{Activation: models.LeakyReLU}}
	ledger := accountant.NewLedger(c.Budget)
	if _, err := gan.Fit(t.Context(), mustPlan(t, c), data, ledger, gan.WithCheckpoint(filepath.Join(t.TempDir(), "k"), 1)); err == nil || len(ledger.Entries()) != 0 {
		t.Errorf("%v, ledger %v", err, ledger.Entries())
	}
	fit(t, c, data)
}

// TestSetsAreNoLongerThanTheSchemaAllows, however many items the generator states.
func TestSetsAreNoLongerThanTheSchemaAllows(t *testing.T) {
	s := records.Sets(9, 1)
	data, err := records.FromItems(s, [][]uint32{{1}, {2}, {8}})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := fit(t, small(s, 0), data)
	if got := draw(t, m, 50, gan.All()).Len(); got != 50 { // draw checks every record
		t.Errorf("%d records", got)
	}
}
