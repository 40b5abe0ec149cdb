package merf_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// choiceSubject is a system that chooses pairs of columns.
func choiceSubject() synthtest.Subject {
	return synthtest.Subject{System: merf.System(), Interrupts: 2,
		Plan: func(s records.Schema, budget accountant.Budget, n int) (synth.Plan, error) {
			c := merf.Config{Schema: s, Budget: budget, Kernel: rff.Pairs{Knots: 3},
				Choice: merf.Choice{Pairs: 3, Groups: 2}, Generator: quick}
			if budget.Relation == accountant.ReplaceOne {
				c.Nominal = n
			}
			return synth.PlanOf(c.Plan())
		}}
}

func TestContractOfChoices(t *testing.T) { synthtest.Run(t, choiceSubject()) }
func TestKilledChoicesGoOn(t *testing.T) { synthtest.Kill(t, choiceSubject(), *kills) }
