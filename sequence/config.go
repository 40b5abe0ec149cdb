package sequence

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a sequence of two systems. Every field is public.
type Config struct {
	// Budget is the budget of both together.
	Budget accountant.Budget
	// First is the plan of the first system, with its own budget.
	First synth.Plan
	// Then is the plan of the second system, which starts from First's synthetic records. Within
	// finds its budget.
	Then synth.Plan
	// Records is the number of synthetic records that Then starts from; 0 means 10,000.
	Records int
	// Seed is the seed of these records.
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
		k.OK(false, path, nil, "a plan that embeds a synth.Program, as those of all systems do")
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

// Within returns the sequence with Then made for the largest budget that First leaves of the
// whole budget, up to half a per cent of the whole. The function then makes it for a budget with
// the sequence's δ and relation.
//
// Errors: those of then and of Validate; accountant.ErrBudgetExceeded if First leaves less than a
// hundredth of the whole squared effect.
func (c Config) Within(then func(accountant.Budget) (synth.Plan, error)) (Config, error) {
	var k param.Checker
	k.Add(c.Budget.Validate())
	k.OK(then != nil, "sequence.Config.Within.then", nil, "a function")
	c.checkPlan(&k, "sequence.Config.First", c.First)
	if k.Err() != nil {
		return c, k.Err()
	}
	s := split{c: c, then: then}
	return s.search()
}

// split looks for the budget of the second system. All amounts are squared effects of the single
// Gaussian release of the same ε, which nearly add up.
type split struct {
	c    Config
	then func(accountant.Budget) (synth.Plan, error)
}

const (
	splitTries  = 12
	splitClose  = 0.995 // of the budget
	splitLeast  = 0.01  // of the squared effect
	splitMargin = 0.999
)

func (s split) search() (Config, error) {
	first, err := accountant.Epsilon(synth.Total(s.c.First.Stages()...), s.c.Budget.Delta,
		s.c.Budget.Relation)
	if err != nil {
		return s.c, fmt.Errorf("sequence: cost of %s: %w", s.c.First.System(), err)
	}
	whole, err := s.effect(s.c.Budget.Epsilon)
	if err != nil {
		return s.c, err
	}
	least := splitLeast * whole
	used := whole
	if first.Upper < s.c.Budget.Epsilon {
		if used, err = s.effect(first.Upper); err != nil {
			return s.c, err
		}
	}
	free := (whole - used) * splitMargin
	best, found := s.c, false
	for range splitTries {
		if free < least {
			break
		}
		own, cost, err := s.try(free)
		if err != nil {
			return s.c, err
		}
		fits := cost <= s.c.Budget.Epsilon
		if fits && (!found || own.Then.Total().Upper > best.Then.Total().Upper) {
			best, found = own, true
		}
		if fits && cost >= splitClose*s.c.Budget.Epsilon {
			break
		}
		spent, err := s.effect(cost)
		if err != nil {
			return s.c, err
		}
		scale := (whole - used) / max(spent-used, least)
		if free *= min(max(scale, 0.5), 2) * splitMargin; !fits && scale >= 1 {
			free *= splitClose
		}
	}
	if !found {
		return s.c, fmt.Errorf("sequence: %s leaves too little of ε = %g: %w", s.c.First.System(),
			s.c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return best, nil
}

// try makes the second system for a squared effect and returns what both cost together.
func (s split) try(squared float64) (own Config, cost float64, err error) {
	b, own := s.c.Budget, s.c
	gaussian := accountant.Gaussian{NoiseMultiplier: 1 / math.Sqrt(squared)}
	e, err := accountant.Epsilon(gaussian, b.Delta, b.Relation)
	if err != nil {
		return own, 0, err
	}
	b.Epsilon = min(e.Upper, b.Epsilon)
	if own.Then, err = s.then(b); err != nil {
		return own, 0, fmt.Errorf("sequence: then: %w", err)
	}
	if err := own.Validate(); err != nil {
		return own, 0, err
	}
	total, err := accountant.Epsilon(synth.Total(own.stages()...), b.Delta, b.Relation)
	return own, total.Upper, err
}

// effect returns the squared effect of the Gaussian release that costs epsilon.
func (s split) effect(epsilon float64) (float64, error) {
	b := s.c.Budget
	b.Epsilon = epsilon
	z, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	return 1 / (z * z), err
}
