package pool

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a pool. Every field is public.
type Config struct {
	// Budget is the budget of all systems together.
	Budget accountant.Budget
	// Of holds the plans of the systems, each with its own budget. Within finds the budgets. All
	// plans have the same schema.
	Of []synth.Plan
	// Shares holds the part of the synthetic records that comes from each system, as positive numbers
	// of any sum; nil means equal parts.
	Shares []float64
}

const (
	leastPlans = 2
	mostPlans  = 8
)

// A planner plans one system for a part of the budget.
type planner = func(accountant.Budget) (synth.Plan, error)

// Validate reports every mistake at once.
//
// Errors: *param.Error values, joined.
func (c Config) Validate() error {
	var k param.Checker
	k.Add(c.Budget.Validate())
	checkCount(&k, "pool.Config.Of", len(c.Of))
	c.checkShares(&k, len(c.Of))
	for i, p := range c.Of {
		c.checkPlan(&k, fmt.Sprintf("pool.Config.Of[%d]", i), p)
	}
	if k.Err() != nil {
		return k.Err()
	}
	want := c.Of[0].Schema()
	for i, p := range c.Of {
		path := fmt.Sprintf("pool.Config.Of[%d]", i)
		k.OK(p.Schema().Equal(want), path+".Schema", p.Schema(), "the schema of the first plan")
		released := synth.Inner{Plan: p}.Releases()
		k.OK(released.Equal(want), path, released, "a system whose synthetic records have the pool's "+
			"schema: "+records.Difference(released, want))
	}
	return k.Err()
}

func checkCount(k *param.Checker, path string, n int) {
	k.OK(n >= leastPlans && n <= mostPlans, path, fmt.Sprintf("%d systems", n),
		fmt.Sprintf("%d to %d systems", leastPlans, mostPlans))
}

// checkShares checks the shares of n systems.
func (c Config) checkShares(k *param.Checker, n int) {
	if c.Shares == nil {
		return
	}
	k.OK(len(c.Shares) == n, "pool.Config.Shares", c.Shares, "one number for each system, or nil")
	sum := 0.0
	for i, share := range c.Shares {
		sum += share
		k.OK(share > 0, fmt.Sprintf("pool.Config.Shares[%d]", i), share, "a positive number")
	}
	k.OK(!math.IsInf(sum, 0), "pool.Config.Shares", c.Shares, "numbers of a finite sum")
	for i, share := range c.Shares {
		k.OK(!(share > 0) || math.IsInf(sum, 0) || share/sum > 0,
			fmt.Sprintf("pool.Config.Shares[%d]", i), share, "a number whose part of the sum is not 0")
	}
}

// checkPlan checks one system's plan. Systems that contain other systems are refused if their
// results cannot be read from the pool's file.
func (c Config) checkPlan(k *param.Checker, path string, p synth.Plan) {
	if synth.WorkOf(p) == nil {
		k.OK(false, path, nil, "a plan that embeds a synth.Program, as plans of all systems do")
		return
	}
	others := []string{systemName, "labelling", "augment", "tune"}
	k.OK(!slices.Contains(others, p.System()), path, p.System(),
		"a plan of one system, such as merf or aim, or of a system on ranks")
	k.Add(records.RefusePersons(path+".Schema", p.Schema()))
	k.OK(p.Budget().Relation == c.Budget.Relation, path+".Budget.Relation", p.Budget().Relation,
		"the pool's relation, "+c.Budget.Relation.String())
}

// shares returns the parts of the systems, with sum 1 up to rounding. Shares of such a sum stay as
// they are, so that a plan read from a file is the plan that was written.
func (c Config) shares() []float64 {
	out := make([]float64, len(c.Of))
	for i := range out {
		if out[i] = 1; c.Shares != nil {
			out[i] = c.Shares[i]
		}
	}
	sum := 0.0
	for _, share := range out {
		sum += share
	}
	if math.Abs(sum-1) < 1e-12 {
		return out
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// parts returns all plans with the prefixes of their stages.
func (c Config) parts() (list []synth.Inner) {
	for i, p := range c.Of {
		list = append(list, synth.Inner{Plan: p, Prefix: fmt.Sprintf("%d %s: ", i+1, p.System())})
	}
	return list
}

// stages returns the stages of all plans.
func (c Config) stages() (list []synth.Stage) {
	for _, part := range c.parts() {
		list = append(list, part.Stages()...)
	}
	return list
}

// Within returns the pool with plans for equal parts of the budget. Parts are measured as the
// squared effect of the Gaussian release with the same ε, since these nearly add up. The last plan
// gets what the others leave, to within half a per cent of the whole. Each function returns a
// system's plan for a given budget, which has the pool's δ and relation.
//
// Errors: all errors of the functions and of Validate; *param.Error for δ = 0, under which no part
// can be measured; accountant.ErrBudgetExceeded as in synth.Within.
func (c Config) Within(plans ...func(accountant.Budget) (synth.Plan, error)) (Config, error) {
	var k param.Checker
	k.Add(c.Budget.Validate())
	const path = "pool.Config.Within.plans"
	checkCount(&k, path, len(plans))
	c.checkShares(&k, len(plans))
	k.OK(c.Budget.Delta > 0, "pool.Config.Budget.Delta", c.Budget.Delta, "a positive number")
	for i, plan := range plans {
		k.OK(plan != nil, fmt.Sprintf("%s[%d]", path, i), nil, "a function")
	}
	if k.Err() != nil {
		return c, k.Err()
	}
	last := len(plans) - 1
	var err error
	if c.Of, err = c.equal(plans[:last], len(plans)); err != nil {
		return c, err
	}
	rest, err := synth.Within(c.Budget, synth.Total(c.stages()...),
		func(b accountant.Budget) (synth.Plan, error) {
			p, err := plans[last](b)
			if err != nil {
				return nil, err
			}
			own := c
			own.Of = append(slices.Clone(c.Of), p)
			return p, own.Validate()
		})
	if err != nil {
		return c, fmt.Errorf("pool: system %d: %w", len(plans), err)
	}
	c.Of = append(c.Of, rest)
	return c, nil
}

// equal returns plans that each have an n-th of the squared effect of the budget.
func (c Config) equal(plans []planner, n int) (list []synth.Plan, err error) {
	own, err := part(c.Budget, n)
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	for i, plan := range plans {
		p, err := plan(own)
		if err != nil {
			return nil, fmt.Errorf("pool: system %d: %w", i+1, err)
		}
		var k param.Checker
		c.checkPlan(&k, fmt.Sprintf("pool.Config.Within.plans[%d]", i), p)
		if k.Err() != nil {
			return nil, k.Err()
		}
		list = append(list, p)
	}
	return list, nil
}

// part returns a budget with an n-th of the squared effect.
func part(b accountant.Budget, n int) (accountant.Budget, error) {
	noise, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	if err != nil {
		return b, err
	}
	own, err := accountant.Epsilon(
		accountant.Gaussian{NoiseMultiplier: noise * math.Sqrt(float64(n))}, b.Delta, b.Relation)
	if err != nil {
		return b, err
	}
	if !(own.Upper > 0) {
		return b, fmt.Errorf("one of %d parts of ε = %g, δ = %g would have ε = 0: %w", n, b.Epsilon,
			b.Delta, accountant.ErrBudgetExceeded)
	}
	b.Epsilon = min(own.Upper, b.Epsilon)
	return b, nil
}
