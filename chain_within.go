package privgen

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/synth"
)

// A planner plans one system of a run of several, for a part of the run's budget.
type planner func(accountant.Budget) (Plan, error)

// planFor returns the chain's plan for another budget than the chain's own.
func (c MERFChain) planFor(b accountant.Budget) (Plan, error) {
	c.budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c GANChain) planFor(b accountant.Budget) (Plan, error) {
	c.budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c DPGMChain) planFor(b accountant.Budget) (Plan, error) {
	c.config.Budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c LabellingChain) planFor(b accountant.Budget) (Plan, error) {
	c.config.Budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c MixChain) planFor(b accountant.Budget) (Plan, error) {
	c.budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c CountChain) planFor(b accountant.Budget) (Plan, error) {
	c.budget = b
	return synth.PlanOf(c.Plan())
}

// planFor returns the chain's plan for another budget than the chain's own.
func (c QuantilesChain) planFor(b accountant.Budget) (Plan, error) {
	c.config.Budget = b
	return synth.PlanOf(c.Plan())
}
