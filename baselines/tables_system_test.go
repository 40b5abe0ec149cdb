package baselines_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

func tableSubjects() map[string]synthtest.Subject {
	return map[string]synthtest.Subject{
		"aim": {System: system("aim"),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				return synth.PlanOf(baselines.AIM{Tables: baselines.Tables{Schema: s, Budget: b, Bins: 4,
					Coarse: 2, Fine: 10, WithinPart: 0.05}, Rounds: 4, ClassPart: 0.4}.Plan())
			}},
		"mst": {System: system("mst"),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				return synth.PlanOf(baselines.MST{Tables: baselines.Tables{Schema: s, Budget: b,
					Bins: 4}}.Plan())
			}},
	}
}

func TestTableSystems(t *testing.T) {
	for name, subject := range tableSubjects() {
		t.Run(name, func(t *testing.T) { synthtest.Run(t, subject) })
	}
}

func TestKilledAIMGoesOn(t *testing.T) { synthtest.Kill(t, tableSubjects()["aim"], *kills) }
