package compose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

var errFails = errors.New("fails")

// faulty is a model whose left-th call fails: of Sampler, or of a sampler's Next. Its records have
// the coordinates and the label of the draw.
type faulty struct {
	schema records.Schema
	left   *int
	short  bool // it returns one record less than it should
}

func (m faulty) Schema() records.Schema       { return m.schema }
func (m faulty) Encode() (*synth.File, error) { return nil, errFails }

func (m faulty) fails() error {
	if *m.left--; *m.left == -1 {
		return errFails
	}
	return nil
}

func (m faulty) Sampler(d synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		if m.short {
			n--
		}
		flat, labels := make([]float32, n*m.schema.Dim()), make([]int32, n)
		for i := range labels {
			labels[i] = max(int32(d.Class), 0)
		}
		if err := m.fails(); err != nil {
			return nil, err
		}
		return records.FromFlat(m.schema, flat, labels...)
	}}, m.fails()
}

// TestPartsThatFail: whichever call of a part's model fails in a draw, the draw has its error.
// Labels first draw from all classes, and then from the class of what was not accepted.
func TestPartsThatFail(t *testing.T) {
	s := records.Interval(2, 0, 1).WithLabels("a", "b")
	own := &labelled{backend: device.CPU(), config: Labels{Features: rff.RBF{Dim: 6, Bandwidth: 1},
		Tries: 3}}
	own.params = make([]float32, 2*(1+must(own.config.features(s))(t).Dim())) // accepts nothing
	open := must(records.NewSchema(records.Hashed("town", 6).WithOther("else")))(t)
	for name, c := range map[string]struct {
		of    released
		calls int
	}{
		"pool":      {pooled{[]float64{1}}, 2},
		"changes":   {&changed{candidates: []Change{{}}}, 2},
		"levels":    {must(foundIn(open, [][]string{{"Bern"}}))(t), 2},
		"ranks":     {&rankedRelease{numbers: s}, 2},
		"linked":    {grown{}, 2},
		"labels":    {own, 5},
		"one class": {own, 4},
	} {
		d := synth.Draw{Class: -1, Cluster: -1}
		if name == "one class" {
			d.Class = 1
		}
		for left := range c.calls {
			m := &model{released: c.of, systems: []string{"faulty"},
				of: []synth.Model{faulty{schema: s, left: &left}}}
			of, err := m.Sampler(d)
			if err == nil {
				_, err = of.Next(4)
			}
			if !errors.Is(err, errFails) {
				t.Errorf("%s, call %d fails: %v", name, left, err)
			}
		}
	}
	many := 100
	m := &model{released: own, systems: []string{"faulty"},
		of: []synth.Model{faulty{schema: s, left: &many, short: true}}}
	of := must(m.Sampler(synth.Draw{Class: -1, Cluster: -1}))(t)
	if _, err := of.Next(4); err == nil {
		t.Error("labels take fewer records than they asked for")
	}
	if _, err := m.Encode(); !errors.Is(err, errFails) {
		t.Errorf("a model that cannot be written: %v", err)
	}
}

// TestBudgetsWithoutParts: if the part of a budget that each of several systems would get has
// ε = 0, or cannot be measured, it is refused.
func TestBudgetsWithoutParts(t *testing.T) {
	c := pooling{shares: []float64{0.5, 0.5}}
	var wrong *param.Error
	if _, err := fraction(c, accountant.Budget{Epsilon: 1}, 2); !errors.As(err, &wrong) ||
		wrong.Path != "compose.Pool.PlanFor.b.Delta" {
		t.Errorf("δ = 0: %v", err)
	}
	least := accountant.Budget{Epsilon: 0.01, Delta: 0.1}
	if b, err := fraction(c, least, 8); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a part of ε = 0: %v, %v", b, err)
	}
	for _, bad := range []accountant.Budget{{Epsilon: -1, Delta: 0.1}, {Epsilon: 1, Delta: 2}} {
		if b, err := fraction(c, bad, 8); err == nil {
			t.Errorf("a part of %v is %v", bad, b)
		}
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	own := must(fraction(c, b, 4))(t)
	z, _, _ := accountant.CalibrateNoise(b, gaussian)
	part := must(accountant.Epsilon(gaussian(2*z), b.Delta, b.Relation))(t)
	if own.Epsilon != part.Upper || own.Delta != b.Delta || own.Relation != b.Relation {
		t.Errorf("a quarter of %v is %v, want ε = %v", b, own, part.Upper)
	}
}

// TestErrorsOfASearch: every error of the search for a budget is returned: of the price of the
// other releases, of the whole budget, and of the plan, at its first call or at a later one.
func TestErrorsOfASearch(t *testing.T) {
	b, others := accountant.Budget{Epsilon: 2, Delta: 1e-5},
		accountant.ExponentialMechanism{Epsilon: 0.6}
	if p, err := beside(b, gaussian(-1), oneRelease); err == nil {
		t.Errorf("others without a price: %v", p)
	}
	if p, err := beside(accountant.Budget{Epsilon: 2}, accountant.Composed{}, oneRelease); err == nil {
		t.Errorf("a budget that cannot be measured: %v", p)
	}
	for at := 1; ; at++ {
		calls := 0
		_, err := beside(b, others, func(b accountant.Budget) (synth.Plan, error) {
			if calls++; calls == at {
				return nil, errFails
			}
			return oneRelease(b)
		})
		if calls < at {
			if at < 3 {
				t.Errorf("the search calls the plan %d times, so this test shows little", calls)
			}
			break
		}
		if !errors.Is(err, errFails) {
			t.Errorf("call %d of the plan fails: %v", at, err)
		}
	}
}

// TestPartsKeepTheirBudgets: plans that keep their own budgets need no part of the whole, so they
// may be pure, under a budget with δ = 0.
func TestPartsKeepTheirBudgets(t *testing.T) {
	s := records.Interval(2, 0, 1)
	pure := func(epsilon float64) synth.Design {
		p, err := synth.NewProgram("pure", s, accountant.Budget{Epsilon: 1}, []synth.Stage{{Purpose: "a",
			Count: 1, Event: accountant.ExponentialMechanism{Epsilon: epsilon}}}, pureWork{schema: s})
		if err != nil {
			t.Fatal(err)
		}
		return Fixed(&struct{ *synth.Program }{&p})
	}
	for _, c := range []struct {
		first, second float64
		want          error
	}{{0.5, 0.5, nil}, {0.2, 0.3, nil}, {0.995, 0.005, nil},
		{0.6, 0.5, accountant.ErrBudgetExceeded}} {
		of := Pool{Of: []synth.Design{pure(c.first), pure(c.second)}}
		p, err := of.PlanFor(s, accountant.Budget{Epsilon: 1})
		if !errors.Is(err, c.want) {
			t.Errorf("parts of %v and %v: %v", c.first, c.second, err)
		}
		if err == nil && fmt.Sprintf("%.4g", p.Total().Upper) != fmt.Sprint(c.first+c.second) {
			t.Errorf("parts of %v and %v: together %v", c.first, c.second, p.Total().Upper)
		}
	}
}

// pureWork is the work of a plan that is never run.
type pureWork struct {
	synth.Work
	schema records.Schema
}

func (w pureWork) Title() string   { return "pure" }
func (w pureWork) Notes() []string { return nil }
