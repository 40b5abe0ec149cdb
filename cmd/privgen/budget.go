package main

import (
	"github.com/spf13/pflag"

	"github.com/seed7ba64551/privgen/accountant"
)

// budgetFlags adds the flags of a privacy budget.
func budgetFlags(f *pflag.FlagSet, b *accountant.Budget, epsilon, delta float64) {
	f.Float64Var(&b.Epsilon, "epsilon", epsilon, "privacy budget ε, a `number`")
	f.Float64Var(&b.Delta, "delta", delta,
		"privacy budget δ, a `number` far below 1 ÷ the number of records")
	f.TextVar(&b.Relation, "relation", accountant.AddOrRemoveOne,
		"neighbouring `relation`: add_or_remove_one or replace_one")
}

// checkBudget checks the budget. Its errors name flags, while the accountant's errors name fields.
func checkBudget(b accountant.Budget) error {
	if err := b.Validate(); err != nil {
		return usagef("--epsilon %g --delta %g: %w", b.Epsilon, b.Delta, err)
	}
	return nil
}

// checkGaussian is checkBudget for plans, whose systems all add Gaussian noise.
func checkGaussian(b accountant.Budget) error {
	const want = "--delta %g: want a number from 1e-12 to below 1: the systems add Gaussian noise"
	if !(b.Delta >= 1e-12 && b.Delta < 1) {
		return usagef(want, b.Delta)
	}
	return checkBudget(b)
}
