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

// checkBudget checks the budget.
func checkBudget(b accountant.Budget) error {
	if err := b.Validate(); err != nil {
		return usage{err}
	}
	return nil
}

// checkGaussian is checkBudget for releases with Gaussian noise.
func checkGaussian(b accountant.Budget) error {
	const want = "--delta %g: want a number from 1e-30 to below 1: releases have Gaussian noise"
	if !(b.Delta >= accountant.MinDelta && b.Delta < 1) {
		return usagef(want, b.Delta)
	}
	return checkBudget(b)
}
