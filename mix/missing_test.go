package mix_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// taken adds up what a ledger and its children say of mixtures.
func taken(l *accountant.Ledger) (spent, reserved int) {
	for _, e := range l.Entries() {
		if e.Purpose != mix.PurposeCenters {
			spent, reserved = spent+e.Spent, reserved+e.Reserved
		}
	}
	for _, group := range l.Children() {
		for _, child := range group.Parts {
			s, r := taken(child)
			spent, reserved = spent+s, reserved+r
		}
	}
	return spent, reserved
}

// TestTwoRunsOnOneLedger: runs of one plan on one ledger are all whole, by class too.
func TestTwoRunsOnOneLedger(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	for name, c := range variants(s, accountant.AddOrRemoveOne, 12) {
		p, ledger := mustPlan(t, c), accountant.NewLedger(accountant.Budget{Epsilon: 40, Delta: 1e-5})
		for run := 1; run <= 2; run++ {
			m, err := mix.Fit(t.Context(), p, grey(t, 12, s), ledger)
			if err != nil {
				t.Fatalf("%s: run %d: %v", name, run, err)
			}
			noisy := 0
			for i := range m.Rows().Len() {
				for _, v := range m.Rows().Features(i) {
					if v != 0 {
						noisy++
						break
					}
				}
			}
			if spent, reserved := taken(ledger); spent != 42*run || reserved != 42*run || noisy != 42 {
				t.Errorf("%s: run %d: %d of %d mixtures taken, %d released", name, run, spent, reserved, noisy)
			}
		}
	}
}

// TestAModelKeepsItsPlan, whatever becomes of the caller's.
func TestAModelKeepsItsPlan(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	p := mustPlan(t, small(s, mix.Poisson{Nominal: 12, Degree: 3}))
	m, err := mix.Fit(t.Context(), p, grey(t, 12, s), accountant.NewLedger(p.Config.Budget))
	if err != nil {
		t.Fatal(err)
	}
	std := p.Std
	*p = mix.Plan{}
	if m.Plan().Degree() != 3 || m.Plan().Std != std {
		t.Errorf("%v", m.Plan())
	}
}

// TestWhatNobodyHasMade: nothing in the place of a plan, records, a ledger, rows or an option is a panic, and nothing
// is set aside.
func TestWhatNobodyHasMade(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	c := small(s, mix.Poisson{Nominal: 12, Degree: 3})
	c.ByClass = true
	p, data, ledger, ctx := mustPlan(t, c), grey(t, 12, s), accountant.NewLedger(c.Budget), t.Context()
	second := func(_ any, err error) error { return err }
	mistakes := map[string]error{
		"nothing":   second(mix.Fit(ctx, p, nil, ledger)),
		"no ledger": second(mix.Fit(ctx, p, data, nil)),
	}
	for name, none := range map[string]*mix.Plan{"nil plan": nil, "zero plan": {}} {
		mistakes[name] = second(mix.Fit(ctx, none, data, ledger))
		mistakes["written "+name] = second(none.MarshalJSON())
		for _, err := range mix.Stream(ctx, none, data, ledger) {
			mistakes["stream of "+name] = err
		}
		if x, y := none.Noise(); none.Degree() != 0 || x != 0 || y != 0 || none.String() == "" {
			t.Errorf("%s: degree %d, noise %v and %v", name, none.Degree(), x, y)
		}
	}
	if e := ledger.Entries(); len(e) != 0 {
		t.Errorf("something was set aside: %v", e)
	}
	m, err := mix.Fit(ctx, p, data, ledger, nil, mix.WithProgress(nil), mix.WithWorkers(-1))
	if err != nil {
		t.Fatal(err)
	}
	moments, err := m.Moments(mix.MomentsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	net, err := models.MLP{}.Classifier(device.CPU(), s.Dim(), s.Classes(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mistakes["denoise"] = second(mix.Denoise(nil, s, 1))
	mistakes["prepared"] = second(m.Prepared(nil))
	mistakes["described"] = second(moments.Described(nil))
	for name, train := range map[string]func(net *models.Classifier) error{
		"rows":    func(net *models.Classifier) error { return mix.Trainer{}.Fit(ctx, net, m.Rows()) },
		"records": func(net *models.Classifier) error { return mix.Trainer{}.FitRecords(ctx, net, data) },
		"moments": func(net *models.Classifier) error { return mix.Trainer{}.FitMoments(ctx, net, moments, 3) },
	} {
		mistakes["a network of none on "+name] = train(nil)
		if err := train(net); err != nil {
			t.Error(err)
		}
	}
	mistakes["train on no rows"] = mix.Trainer{}.Fit(ctx, net, nil)
	mistakes["train on no records"] = mix.Trainer{}.FitRecords(ctx, net, nil)
	mistakes["train on no moments"] = mix.Trainer{}.FitMoments(ctx, net, nil, 3)
	for name, err := range mistakes {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := new(mix.Rows).Len(); n != 0 {
		t.Errorf("%d rows of none", n)
	}
}

// TestSamplingsAreValues: pointers satisfy Sampling by their values' methods, but may be nil, may change after they were
// judged, and are not told apart where the kind of sampling matters.
func TestSamplingsAreValues(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	for _, sampling := range []mix.Sampling{nil, (*mix.Poisson)(nil), &mix.WithoutReplacement{Records: 9, Degree: 2}} {
		c := small(s, mix.Poisson{})
		c.Sampling, c.Budget.Relation = sampling, accountant.ReplaceOne
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) || wrong.Path != "mix.Config.Sampling" {
			t.Errorf("%T: %v", sampling, err)
		}
	}
}
