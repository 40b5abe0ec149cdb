package frontdoor_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestCountChainsSetEveryField compares plans of chains with plans of the same settings.
func TestCountChainsSetEveryField(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b"),
		records.Label("class", "u", "v")))(t)
	items := records.Sets(30, 8)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	ofTable := tables.Common{Schema: s, Budget: b, Nominal: 900, Seed: 7}
	ofSets := sets.Common{Schema: items, Budget: b, Nominal: 900, Seed: 7}
	for name, c := range map[string]struct {
		chain privgen.CountChain
		plan  func() (synth.PassProgram, error)
	}{
		"aim":         {privgen.AIM(s, b), tables.AIM{Common: ofTable}.Plan},
		"mst":         {privgen.MST(s, b), tables.MST{Common: ofTable}.Plan},
		"independent": {privgen.Independent(items, b), sets.Independent{Common: ofSets}.Plan},
		"mwem":        {privgen.MWEM(items, b), sets.MWEM{Common: ofSets}.Plan},
	} {
		got, err1 := c.chain.Seed(7).Nominal(900).Plan()
		want, err2 := c.plan()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		text, err1 := json.Marshal(got)
		same, err2 := json.Marshal(want)
		if err1 != nil || err2 != nil || string(text) != string(same) {
			t.Errorf("%s: the chain's plan is %s, want %s; %v, %v", name, text, same, err1, err2)
		}
	}
	if _, err := (privgen.CountChain{}).Plan(); err == nil {
		t.Error("the zero chain has a plan")
	}
}
