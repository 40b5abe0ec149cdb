package merf

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// TestNoiseOfCountsHasALimit: the noise of counts is at most 2^43 for records and 2^23 for persons.
func TestNoiseOfCountsHasALimit(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for persons, most := range map[int]float64{0: 0x1p43, 2: 0x1p23} {
			if persons == 0 && r == accountant.ReplaceOne {
				continue // half the squared effect is for counts, so no multiplier reaches 2^43
			}
			c := smallConfig()
			c.Schema, c.Budget.Relation, c.CountShare = c.Schema.ByPerson(persons), r, 1e-13
			c.Budget.Epsilon, c.NoiseMultiplier = 1e3, 1
			p, err := c.Plan()
			if err != nil || !(p.CountStd > 1) {
				t.Fatalf("%v, persons of %d rows: %v, noise %v", r, persons, err, p.CountStd)
			}
			for part, ok := range map[float64]bool{0.99: true, 1.01: false} {
				c.NoiseMultiplier = part * most / p.CountStd
				if _, err := c.Plan(); (err == nil) != ok {
					t.Errorf("%v, persons of %d rows, %v of the limit: %v", r, persons, part, err)
				}
			}
		}
	}
}

// TestPlansAreTheirOwn: a plan for another schema and budget has them, what the caller changes
// afterwards does not change the plan, and no plan has noise that cannot be drawn.
func TestPlansAreTheirOwn(t *testing.T) {
	hidden := []int{3}
	c := smallConfig()
	c.Generator.Architecture = models.MLP{Hidden: hidden}
	s, b := c.Schema, accountant.Budget{Epsilon: 2, Delta: 1e-6}
	other := c
	other.Schema, other.Budget = records.Binary(9), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := other.PlanFor(s, b)
	if err != nil {
		t.Fatal(err)
	}
	plan := p.(*Plan)
	if !plan.Config.Schema.Equal(s) || plan.Config.Budget != b {
		t.Errorf("a plan for %v and %v is for %v and %v", s, b, plan.Config.Schema, plan.Config.Budget)
	}
	text, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	hidden[0] = 5
	if after, err := plan.MarshalJSON(); err != nil || !slices.Equal(text, after) {
		t.Errorf("the caller has changed the plan to\n%s\n%v", after, err)
	}
	for _, change := range []func(c *Config){
		func(c *Config) { c.Budget = accountant.Budget{Epsilon: 1e-9, Delta: 1e-300} },
		func(c *Config) { c.Schema = records.Schema{} },
		func(c *Config) { c.Kernel = rff.RBF{Dim: -1, Bandwidth: 1} },
	} {
		bad := c
		change(&bad)
		if p, err := bad.Plan(); err == nil || p != nil {
			t.Errorf("%+v has a plan", bad)
		}
	}
}
