package sequence

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a sequence of two systems. Every field is public.
type Config struct {
	// Budget is the budget of both systems together.
	Budget accountant.Budget
	// First is the plan of the first system, with its own budget.
	First synth.Plan
	// Then is the plan of the second system, which starts from First's synthetic records. Within
	// finds its budget.
	Then synth.Plan
	// Records is the number of synthetic records that Then starts from; 0 means 10,000.
	Records int
	// Seed is the seed of the synthetic records.
	Seed uint64
}

// mostRecords and mostNumbers bound the memory of the synthetic records that the second system
// starts from.
const (
	usualRecords = 10_000
	mostRecords  = 1 << 24
	mostNumbers  = 1 << 28
)

func (c Config) withDefaults() Config {
	if c.Records == 0 {
		c.Records = usualRecords
	}
	return c
}

// Validate reports every mistake at once.
//
// Errors: *param.Error values, joined.
func (c Config) Validate() error {
	c = c.withDefaults()
	var k param.Checker
	k.Add(c.Budget.Validate())
	k.OK(c.Records > 0 && c.Records <= mostRecords, "sequence.Config.Records", c.Records,
		"a number of records up to 2^24, or 0 for 10,000")
	c.checkPlan(&k, "sequence.Config.First", c.First)
	c.checkPlan(&k, "sequence.Config.Then", c.Then)
	if k.Err() != nil {
		return k.Err()
	}
	k.Add(synth.Inner{Plan: c.Then, Follows: true}.CheckFollows("sequence.Config.Then"))
	want := c.Then.Schema()
	width := want.Dim()
	if want.Sparse() {
		width = want.MaxItems()
	}
	k.OK(c.Records <= mostNumbers/max(width, 1), "sequence.Config.Records", c.Records,
		fmt.Sprintf("at most %d of this schema, whose records have up to %d numbers",
			mostNumbers/max(width, 1), width))
	k.OK(c.First.Schema().Equal(want), "sequence.Config.First.Schema", c.First.Schema(),
		"the schema of Then")
	released := synth.Inner{Plan: c.First}.Releases()
	k.OK(released.Equal(want), "sequence.Config.First", released,
		"a system whose synthetic records have Then's schema: "+records.Difference(released, want))
	return k.Err()
}

func (c Config) checkPlan(k *param.Checker, path string, p synth.Plan) {
	if synth.WorkOf(p) == nil {
		k.OK(false, path, nil, "a plan that embeds a synth.Program, as plans of all systems do")
		return
	}
	k.Add(records.RefusePersons(path+".Schema", p.Schema()))
	k.OK(p.Budget().Relation == c.Budget.Relation, path+".Budget.Relation", p.Budget().Relation,
		"the sequence's relation, "+c.Budget.Relation.String())
}

// parts returns both plans with the prefixes of their stages.
func (c Config) parts() [2]synth.Inner {
	var out [2]synth.Inner
	for i, p := range []synth.Plan{c.First, c.Then} {
		out[i] = synth.Inner{Plan: p, Prefix: fmt.Sprintf("%d %s: ", i+1, p.System()), Follows: i > 0}
	}
	return out
}

// stages returns the stages of both plans.
func (c Config) stages() (list []synth.Stage) {
	for _, part := range c.parts() {
		list = append(list, part.Stages()...)
	}
	return list
}

// Within returns the sequence with a plan Then for the budget that First leaves. This is the
// largest budget, up to half a per cent of the whole, with which both plans meet the whole budget.
// The function then returns the plan for a given budget. This budget has the sequence's δ and
// relation.
//
// Errors: all errors of the function then and of Validate; accountant.ErrBudgetExceeded if First
// leaves less than a hundredth of the whole squared effect.
func (c Config) Within(then func(accountant.Budget) (synth.Plan, error)) (Config, error) {
	var k param.Checker
	k.Add(c.Budget.Validate())
	k.OK(then != nil, "sequence.Config.Within.then", nil, "a function")
	c.checkPlan(&k, "sequence.Config.First", c.First)
	if k.Err() != nil {
		return c, k.Err()
	}
	first := synth.Total(c.First.Stages()...)
	plan, err := synth.Within(c.Budget, first, func(b accountant.Budget) (synth.Plan, error) {
		own, err := c, error(nil)
		if own.Then, err = then(b); err != nil {
			return nil, fmt.Errorf("then: %w", err)
		}
		return own.Then, own.Validate()
	})
	if err != nil {
		return c, fmt.Errorf("sequence: after %s: %w", c.First.System(), err)
	}
	c.Then = plan
	return c, nil
}
