package sets_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

func subjects() map[string]synthtest.Subject {
	type maker func(sets.Common) (synth.PassProgram, error)
	makers := map[string]maker{
		"independent": func(c sets.Common) (synth.PassProgram, error) {
			return sets.Independent{Common: c}.Plan()
		},
		"mwem": func(c sets.Common) (synth.PassProgram, error) {
			return sets.MWEM{Common: c, Rounds: 4, Queries: 20, Domain: 50}.Plan()
		},
	}
	all := map[string]synthtest.Subject{}
	for name, make := range makers {
		all[name] = synthtest.Subject{System: system(name),
			Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
				p, err := make(sets.Common{Schema: s, Budget: b})
				if err != nil {
					return nil, err
				}
				return p, nil
			}}
	}
	return all
}

func TestSystem(t *testing.T) {
	t.Parallel() // it waits for the disk
	for name, subject := range subjects() {
		t.Run(name, func(t *testing.T) { synthtest.Run(t, subject) })
	}
}

var kills = flag.Int("kills", 4, "number of processes to kill")

func TestKilledMWEMGoesOn(t *testing.T) { synthtest.Kill(t, subjects()["mwem"], *kills) }

func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, subjects()["mwem"], max(*kills/4, 1))
}

func system(name string) synth.System {
	all := sets.Systems()
	return all[slices.IndexFunc(all, func(s synth.System) bool { return s.Name == name })]
}

// TestMoreAnswersThanRounds checks that a checkpoint of MWEM with more answers than rounds is
// refused, since learning from very many answers would take hours.
func TestMoreAnswersThanRounds(t *testing.T) {
	data := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2, 3}, {1, 4}}))(t)
	b := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	p := must(sets.MWEM{Common: sets.Common{Schema: data.Schema(), Budget: b}, Rounds: 4,
		Queries: 20}.Plan())(t)
	path := filepath.Join(t.TempDir(), "run")
	if _, err := p.Fit(t.Context(), data, synth.Checkpoint(path)); err != nil {
		t.Fatal(err)
	}
	text := must(os.ReadFile(path))(t)
	for _, answers := range []int{4, 5} {
		f := must(synth.DecodeFile(bytes.NewReader(text)))(t)
		for i := range f.Sections {
			if f.Sections[i].Name == "answers" {
				f.Sections[i].Data = make([]byte, 16*answers)
			}
		}
		var forged bytes.Buffer
		if err := f.Write(&forged); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, forged.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Fit(t.Context(), data, synth.Checkpoint(path)); (answers > 4) !=
			errors.Is(err, synth.ErrFormat) {
			t.Errorf("%d answers: %v", answers, err)
		}
	}
}
