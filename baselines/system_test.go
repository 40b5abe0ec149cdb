package baselines_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

func subjects() map[string]synthtest.Subject {
	type maker func(baselines.Common) (*baselines.Plan, error)
	makers := map[string]maker{
		"independent": func(c baselines.Common) (*baselines.Plan, error) {
			return baselines.Independent{Common: c}.Plan()
		},
		"tree": func(c baselines.Common) (*baselines.Plan, error) {
			return baselines.Tree{Common: c}.Plan()
		},
		"mwem": func(c baselines.Common) (*baselines.Plan, error) {
			return baselines.MWEM{Common: c, Rounds: 4, Queries: 20, Domain: 50}.Plan()
		},
	}
	all := map[string]synthtest.Subject{}
	for name, make := range makers {
		all[name] = synthtest.Subject{System: system(name),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				p, err := make(baselines.Common{Schema: s, Budget: b})
				if err != nil {
					return nil, err
				}
				return p, nil
			}}
	}
	return all
}

func TestSystem(t *testing.T) {
	for name, subject := range subjects() {
		t.Run(name, func(t *testing.T) { synthtest.Run(t, subject) })
	}
}

var kills = flag.Int("kills", 4, "how many processes to kill")

func TestKilledTreesGoOn(t *testing.T) { synthtest.Kill(t, subjects()["tree"], *kills) }

func TestKilledMWEMGoesOn(t *testing.T) { synthtest.Kill(t, subjects()["mwem"], *kills) }

func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, subjects()["mwem"], max(*kills/4, 1))
}

func system(name string) synth.System {
	all := baselines.Systems()
	return all[slices.IndexFunc(all, func(s synth.System) bool { return s.Name == name })]
}
