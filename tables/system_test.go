package tables_test

import (
	"flag"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
	"github.com/seed7ba64551/privgen/tables"
)

func tableSubjects() map[string]synthtest.Subject {
	return map[string]synthtest.Subject{
		"aim": {System: system("aim"),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				return synth.PlanOf(tables.AIM{Common: tables.Common{Schema: s, Budget: b, Bins: 4,
					Fine: 10, WithinPart: 0.05}, Rounds: 4, ClassPart: 0.4, Coarse: 2}.Plan())
			}},
		"trend": {System: system("aim"), Interrupts: 3, // half of the usual number
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				if !slices.ContainsFunc(s.Columns(), func(c records.Column) bool {
					return c.Kind() == records.TargetColumn
				}) {
					return nil, param.New("tables.AIM.Schema", s.String(), "a number to be predicted")
				}
				return synth.PlanOf(tables.AIM{Common: tables.Common{Schema: s, Budget: b, Bins: 4,
					Fine: 10}, Rounds: 4}.Plan())
			}},
		"mst": {System: system("mst"),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				return synth.PlanOf(tables.MST{Common: tables.Common{Schema: s, Budget: b,
					Bins: 4}}.Plan())
			}},
	}
}

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

func TestTableSystems(t *testing.T) {
	t.Parallel() // the last package that is tested would leave a processor idle
	for name, subject := range tableSubjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synthtest.Run(t, subject)
		})
	}
}

func TestKilledAIMGoesOn(t *testing.T) { synthtest.Kill(t, tableSubjects()["aim"], *kills) }

func TestKilledTrendGoesOn(t *testing.T) { synthtest.Kill(t, tableSubjects()["trend"], *kills) }

var kills = flag.Int("kills", 4, "number of processes to kill")

func system(name string) synth.System {
	all := tables.Systems()
	return all[slices.IndexFunc(all, func(s synth.System) bool { return s.Name == name })]
}
