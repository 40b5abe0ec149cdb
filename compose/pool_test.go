package compose_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var budgetOf2 = accountant.Budget{Epsilon: 2, Delta: 1e-6}

// TestTogether checks that all systems cost at most the budget together and nearly all of it, that
// each has its lines on the ledger, and that the parts of the budget are about equal.
func TestPoolTogether(t *testing.T) {
	s := records.Interval(3, 0, 1)
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{0.1, 1, 10} {
			b := accountant.Budget{Epsilon: epsilon, Delta: 1e-6, Relation: relation}
			p := must(poolOf(embedding(100), embedding(100), embedding(100)).PlanFor(s, b))(t)
			stages, own := p.Stages(), 0
			least, most := math.Inf(1), 0.0
			for i, of := range partsOf(p) {
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
			total := must(accountant.Epsilon(synth.Total(stages...), b.Delta, relation))(t)
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
func TestPoolRefusals(t *testing.T) {
	s := records.Interval(3, 0, 1)
	good, err := embedding(10).PlanFor(s, budgetOf2)
	if err != nil {
		t.Fatal(err)
	}
	replace := budgetOf2
	replace.Relation = accountant.ReplaceOne
	replaced, err := embedding(10).PlanFor(s, replace)
	if err != nil {
		t.Fatal(err)
	}
	other, err := embedding(10).PlanFor(records.Interval(2, 0, 1), budgetOf2)
	if err != nil {
		t.Fatal(err)
	}
	both, err := poolOf(embedding(10), embedding(10)).PlanFor(s, budgetOf2)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := embedding(10).PlanFor(s.ByPerson(3), budgetOf2)
	if err != nil {
		t.Fatal(err)
	}
	of := func(list ...synth.Plan) (out []synth.Design) {
		for _, p := range list {
			out = append(out, compose.Fixed(p))
		}
		return out
	}
	two := of(good, good)
	for name, c := range map[string]struct {
		config compose.Pool
		path   string
	}{
		"no plan":         {compose.Pool{}, "compose.Pool.Of"},
		"one plan":        {compose.Pool{Of: two[:1]}, "compose.Pool.Of"},
		"nine plans":      {compose.Pool{Of: slices.Repeat(two[:1], 9)}, "compose.Pool.Of"},
		"nil":             {compose.Pool{Of: of(good, nil)}, "compose.Pool.Of[1]"},
		"a pool":          {compose.Pool{Of: of(both, good)}, "compose.Pool.Of[0]"},
		"persons":         {compose.Pool{Of: of(persons, persons)}, "Of[0].Schema"},
		"another schema":  {compose.Pool{Of: of(good, other)}, "compose.Pool.Of[1].Schema"},
		"another promise": {compose.Pool{Of: of(good, replaced)}, "Budget.Relation"},
		"a share missing": {compose.Pool{Of: two, Shares: []float64{1}}, "compose.Pool.Shares"},
		"no share":        {compose.Pool{Of: two, Shares: []float64{1, 0}}, "compose.Pool.Shares[1]"},
		"not a share":     {compose.Pool{Of: two, Shares: []float64{1, math.NaN()}}, "Shares[1]"},
		"a share of 0":    {compose.Pool{Of: two, Shares: []float64{1e-320, 1e300}}, "Pool.Shares[0]"},
		"infinite":        {compose.Pool{Of: two, Shares: []float64{1, math.Inf(1)}}, "Shares"},
	} {
		var p *param.Error
		_, err := c.config.PlanFor(s, budgetOf2)
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: got %v, want a *param.Error of %s", name, err, c.path)
		}
	}
	_, err = compose.Pool{Of: two}.PlanFor(s, budgetOf2)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("two plans of the whole budget: got %v, want ErrBudgetExceeded", err)
	}
	pure := accountant.Budget{Epsilon: 1}
	if _, err := poolOf(embedding(10), embedding(10)).PlanFor(s, pure); err == nil {
		t.Error("a budget of δ = 0 has parts")
	}
	if _, err := poolOf(embedding(10), nil).PlanFor(s, budgetOf2); err == nil {
		t.Error("a design that is nil is accepted")
	}
}

// TestConfigurationsAreCopies checks that a plan cannot be changed by the configuration that it was
// made of.
func TestConfigurationsAreCopies(t *testing.T) {
	c := compose.Pool{Of: []synth.Design{embedding(10), adversary(10)}, Shares: []float64{1, 3}}
	p := must(c.PlanFor(records.Interval(2, 0, 1), budgetOf2))(t)
	before := p.String()
	if !strings.Contains(before, "draws 25 %") || !strings.Contains(before, "draws 75 %") {
		t.Errorf("the plan does not state the shares:\n%v", before)
	}
	c.Of[0], c.Shares[0] = nil, 7
	if after := p.String(); after != before {
		t.Errorf("got the plan\n%s\nwant\n%s", after, before)
	}
}

// TestPlansReadBackAreTheSame checks that shares are not rounded again when a plan is read. The
// digest of a plan depends on them, and a checkpoint resumes only the plan of its digest.
func TestPlansReadBackAreTheSame(t *testing.T) {
	all := compose.Systems(systems)
	for n := 2; n <= 8; n++ {
		p := must(poolOf(slices.Repeat([]synth.Design{embedding(10)}, n)...).PlanFor(
			records.Interval(2, 0, 1), budgetOf2))(t)
		text := must(p.MarshalJSON())(t)
		read := must(all.ReadPlan(text))(t)
		again, err := read.MarshalJSON()
		if err != nil || string(again) != string(text) {
			t.Errorf("%d systems: read back as %s, want %s, error %v", n, again, text, err)
		}
	}
}
