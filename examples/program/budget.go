package program

import (
	"flag"

	"github.com/seed7ba64551/privgen/accountant"
)

// BudgetFlags defines flags for the budget of a run: -epsilon and -delta with the given defaults,
// and -relation.
func BudgetFlags(f *flag.FlagSet, budget *accountant.Budget, epsilon, delta float64) {
	f.Float64Var(&budget.Epsilon, "epsilon", epsilon, "privacy budget ε")
	f.Float64Var(&budget.Delta, "delta", delta, "privacy budget δ")
	f.TextVar(&budget.Relation, "relation", accountant.AddOrRemoveOne, "neighbouring relation")
}
