package privgen_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// onALedger is a plan of any system.
type onALedger interface {
	FitOn(context.Context, *accountant.Ledger, records.Data, ...privgen.Option) (*privgen.Generator, error)
	Fit(context.Context, records.Data, ...privgen.Option) (*privgen.Generator, error)
	MarshalJSON() ([]byte, error)
	UnmarshalJSON([]byte) error
	Total() accountant.Bound
}

type prepared struct {
	plan onALedger
	data records.Data
}

// everySystem is a small plan of each, with records for it.
func everySystem(t *testing.T) map[string]prepared {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := chain().Marginals(dpgm.Marginals{Share: 0.1}).Plan()
	must(err)
	schema, rows := earners(t)
	e, err := merfChain(schema).Plan()
	must(err)
	m, err := mixChain().Plan()
	must(err)
	s, numbers := ganRecords(t)
	g, err := ganChain(s).Plan()
	must(err)
	return map[string]prepared{"dpgm": {d, people(t, 60)}, "merf": {e, rows}, "mix": {m, pixels(t, 60)}, "gan": {g, numbers}}
}

// TestOnePlanTwiceOnOneLedger: a ledger with room for two runs of a plan pays for two, and for no third.
func TestOnePlanTwiceOnOneLedger(t *testing.T) {
	for name, c := range everySystem(t) {
		t.Run(name, func(t *testing.T) {
			wide := accountant.NewLedger(accountant.Budget{Epsilon: 100, Delta: 1e-5})
			cost := 0.0
			for range 2 {
				gen, err := c.plan.FitOn(context.Background(), wide, c.data)
				if err != nil {
					t.Fatal(err)
				}
				cost = gen.Guarantee().Epsilon
			}
			for _, e := range wide.Entries() {
				if e.Spent != e.Reserved || e.Reserved%2 != 0 {
					t.Errorf("%s: %d of %d spent by two runs", e.Purpose, e.Spent, e.Reserved)
				}
			}
			exact := accountant.NewLedger(accountant.Budget{Epsilon: 1.01 * cost, Delta: 1e-5})
			for i := range 3 {
				before := len(exact.Entries())
				_, err := c.plan.FitOn(context.Background(), exact, c.data)
				if i < 2 && err != nil || i == 2 && !errors.Is(err, accountant.ErrBudgetExceeded) {
					t.Errorf("run %d of two that fit: %v", i+1, err)
				}
				if i == 2 && before != len(exact.Entries()) {
					t.Error("a refused run has set something aside")
				}
			}
		})
	}
}

// TestWhatNoChainHasMade: neither a missing plan nor an option that is nil is a panic.
func TestWhatNoChainHasMade(t *testing.T) {
	data := people(t, 5)
	var wrong *param.Error
	for _, p := range []onALedger{&privgen.DPGMPlan{}, &privgen.MERFPlan{}, &privgen.MixPlan{}, &privgen.GANPlan{},
		(*privgen.DPGMPlan)(nil), (*privgen.MERFPlan)(nil), (*privgen.MixPlan)(nil), (*privgen.GANPlan)(nil)} {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		_, fit := p.Fit(context.Background(), data)
		_, fitOn := p.FitOn(context.Background(), ledger, data)
		_, text := p.MarshalJSON()
		for what, err := range map[string]error{"Fit": fit, "FitOn": fitOn, "MarshalJSON": text} {
			if !errors.As(err, &wrong) {
				t.Errorf("%T: %s: %v", p, what, err)
			}
		}
	}
	if _, err := (&privgen.MERFPlan{}).Refit(context.Background(), &merf.Embedding{}); !errors.As(err, &wrong) {
		t.Errorf("Refit: %v", err)
	}
	if _, err := (&privgen.MERFPlan{}).FitStream(context.Background(), nil, nil); !errors.As(err, &wrong) {
		t.Errorf("FitStream: %v", err)
	}
	if _, err := (&privgen.GANPlan{}).FitFrom(context.Background(), t.TempDir()+"/run", 1, data); !errors.As(err, &wrong) {
		t.Errorf("FitFrom: %v", err)
	}
	gen := fitted(t, chain(), nil, privgen.On(nil), privgen.OnProgress(nil), privgen.OnPreview(1, nil))
	if len(sample(t, gen, 3, nil)) != 3*gen.Schema().Dim() {
		t.Error("a draw without its option")
	}
}

// TestAGeneratorThatNobodyTrained has nothing to hand out, and says so without a panic.
func TestAGeneratorThatNobodyTrained(t *testing.T) {
	for _, g := range []*privgen.Generator{nil, {}} {
		var wrong *param.Error
		if _, err := g.Sample(context.Background(), 0); !errors.As(err, &wrong) {
			t.Errorf("Sample: %v", err)
		}
		if err := g.Save(new(bytes.Buffer)); !errors.As(err, &wrong) {
			t.Errorf("Save: %v", err)
		}
		for _, err := range g.Stream(context.Background(), 3) {
			if !errors.As(err, &wrong) {
				t.Errorf("Stream: %v", err)
			}
		}
		if g.Guarantee().NotPrivate == "" || g.Clusters() != 1 || g.Mixtures() != nil || g.Schema().Dim() != 0 {
			t.Error("nothing is taken for something")
		}
	}
}

// TestAPlanThatCannotBeReadLeavesTheOldOne: a failed reading is no half of one.
func TestAPlanThatCannotBeReadLeavesTheOldOne(t *testing.T) {
	for name, c := range everySystem(t) {
		before := c.plan.Total()
		if err := c.plan.UnmarshalJSON([]byte(`{"version": 77}`)); err == nil {
			t.Fatalf("%s: nonsense is read", name)
		}
		if c.plan.Total() != before || before.Upper == 0 {
			t.Errorf("%s: the plan is gone", name)
		}
	}
}
