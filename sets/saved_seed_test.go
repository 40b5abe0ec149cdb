package sets_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSavedPlansKeepTheirSeed reads a written plan again. The seed decides the workload and the
// domain, so a plan with another seed would be another plan.
func TestSavedPlansKeepTheirSeed(t *testing.T) {
	common := sets.Common{Schema: records.Sets(40, 8), Seed: 7,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}
	for name, plan := range map[string]func() (synth.PassProgram, error){
		"independent": sets.Independent{Common: common}.Plan,
		"mwem":        sets.MWEM{Common: common, Rounds: 3}.Plan,
	} {
		p, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		read, err := sets.Systems().ReadPlan(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(text) {
			t.Errorf("%s: written again:\n%s\nwant\n%s", name, again, text)
		}
	}
}
