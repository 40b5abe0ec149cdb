package pool_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var budget = accountant.Budget{Epsilon: 2, Delta: 1e-6}

// TestTogether checks that all systems cost at most the budget together and nearly all of it, that
// each has its lines on the ledger, and that the parts of the budget are about equal.
func TestTogether(t *testing.T) {
	s := records.Interval(3, 0, 1)
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{0.1, 1, 10} {
			b := accountant.Budget{Epsilon: epsilon, Delta: 1e-6, Relation: relation}
			p, err := planOf(s, b, 100, nil, embedding, embedding, embedding)
			if err != nil {
				t.Fatal(err)
			}
			stages, own := p.Stages(), 0
			least, most := math.Inf(1), 0.0
			for i, of := range p.Config().Of {
				for _, stage := range of.Stages() {
					want := fmt.Sprintf("%d merf: %s", i+1, stage.Purpose)
					if own >= len(stages) || stages[own].Purpose != want {
						t.Fatalf("%v: stages %v, want %q at %d", b, stages, want, own)
					}
					own++
				}
				least, most = min(least, of.Total().Upper), max(most, of.Total().Upper)
			}
			if own != len(stages) {
				t.Errorf("%v: %d stages, want %d", b, len(stages), own)
			}
			total, err := accountant.Epsilon(synth.Total(stages...), b.Delta, relation)
			if err != nil {
				t.Fatal(err)
			}
			if total.Upper > epsilon || total.Upper < 0.99*epsilon {
				t.Errorf("%v: all systems cost ε = %v", b, total.Upper)
			}
			if most > 1.03*least {
				t.Errorf("%v: single systems cost ε = %v to %v", b, least, most)
			}
		}
	}
}

// TestRefusals lists configurations that must not become plans.
func TestRefusals(t *testing.T) {
	s := records.Interval(3, 0, 1)
	good, err := embedding(s, budget, 10)
	if err != nil {
		t.Fatal(err)
	}
	replace := budget
	replace.Relation = accountant.ReplaceOne
	replaced, err := embedding(s, replace, 10)
	if err != nil {
		t.Fatal(err)
	}
	other, err := embedding(records.Interval(2, 0, 1), budget, 10)
	if err != nil {
		t.Fatal(err)
	}
	both, err := planOf(s, budget, 10, nil, embedding, embedding)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := embedding(s.ByPerson(3), budget, 10)
	if err != nil {
		t.Fatal(err)
	}
	two := []synth.Plan{good, good}
	for name, c := range map[string]struct {
		config pool.Config
		path   string
	}{
		"no plan":         {pool.Config{}, "pool.Config.Of"},
		"one plan":        {pool.Config{Of: two[:1]}, "pool.Config.Of"},
		"nine plans":      {pool.Config{Of: slices.Repeat(two[:1], 9)}, "pool.Config.Of"},
		"nil":             {pool.Config{Of: []synth.Plan{good, nil}}, "pool.Config.Of[1]"},
		"a pool":          {pool.Config{Of: []synth.Plan{both, good}}, "pool.Config.Of[0]"},
		"persons":         {pool.Config{Of: []synth.Plan{persons, persons}}, "Of[0].Schema"},
		"another schema":  {pool.Config{Of: []synth.Plan{good, other}}, "pool.Config.Of[1].Schema"},
		"another promise": {pool.Config{Of: []synth.Plan{good, replaced}}, "Budget.Relation"},
		"a share missing": {pool.Config{Of: two, Shares: []float64{1}}, "pool.Config.Shares"},
		"no share":        {pool.Config{Of: two, Shares: []float64{1, 0}}, "pool.Config.Shares[1]"},
		"not a share":     {pool.Config{Of: two, Shares: []float64{1, math.NaN()}}, "Shares[1]"},
		"a share of 0":    {pool.Config{Of: two, Shares: []float64{1e-320, 1e300}}, "Config.Shares[0]"},
		"infinite":        {pool.Config{Of: two, Shares: []float64{1, math.Inf(1)}}, "Shares"},
	} {
		c.config.Budget = budget
		var p *param.Error
		if _, err := c.config.Plan(); !errors.As(err, &p) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: got %v, want a *param.Error of %s", name, err, c.path)
		}
	}
	c := pool.Config{Budget: budget, Of: two}
	if _, err := c.Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("two plans of the whole budget: got %v, want ErrBudgetExceeded", err)
	}
	plan := func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, 10) }
	pure := pool.Config{Budget: accountant.Budget{Epsilon: 1}}
	if _, err := pure.Within(plan, plan); err == nil {
		t.Error("a budget of δ = 0 has parts")
	}
	if _, err := c.Within(plan, nil); err == nil {
		t.Error("a function that is nil is accepted")
	}
}

// TestConfigurationsAreCopies checks that a plan cannot be changed by its configuration.
func TestConfigurationsAreCopies(t *testing.T) {
	shares := []float64{1, 3}
	p, err := planOf(records.Interval(2, 0, 1), budget, 10, shares, embedding, adversary)
	if err != nil {
		t.Fatal(err)
	}
	before := p.String()
	c := p.Config()
	if want := []float64{0.25, 0.75}; !slices.Equal(c.Shares, want) {
		t.Errorf("shares %v, want %v", c.Shares, want)
	}
	c.Of[0], c.Shares[0], shares[0] = nil, 7, 7
	if after := p.String(); after != before || p.Config().Of[0] == nil {
		t.Errorf("got the plan\n%s\nwant\n%s", after, before)
	}
}

// TestPlansReadBackAreTheSame checks that shares are not rounded again when a plan is read. The
// digest of a plan depends on them, and a checkpoint resumes only the plan of its digest.
func TestPlansReadBackAreTheSame(t *testing.T) {
	all := append(slices.Clone(systems), pool.System(systems))
	for n := 2; n <= 8; n++ {
		p, err := planOf(records.Interval(2, 0, 1), budget, 10, nil,
			slices.Repeat([]planner{embedding}, n)...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		read, err := all.ReadPlan(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.MarshalJSON()
		if err != nil || string(again) != string(text) {
			t.Errorf("%d systems: read back with the shares %v, want %v, error %v", n,
				read.(*pool.Plan).Config().Shares, p.Config().Shares, err)
		}
	}
}
