package synthtest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/synth"
)

// testShares checks the file at the moment when a share of a single release is drawn. The file must
// count this share and no later one as taken. It must hold all earlier shares: a kill loses at most
// one share.
func (s Subject) testShares(t *testing.T) {
	for _, k := range kinds(t) {
		p, err := s.Plan(k.schema, budgetOf(accountant.AddOrRemoveOne), rows)
		if err != nil {
			continue
		}
		tap := &shareTap{path: filepath.Join(tempDir(t), "run"), line: map[string]int{},
			drawn: map[string]int{}}
		lines := 0
		for _, stage := range p.Stages() {
			if stage.Once {
				tap.line[stage.Purpose] = lines
			}
			lines += max(stage.Parts, 1) * min(max(stage.Lanes, 1), stage.Count)
		}
		if len(tap.line) == 0 {
			continue
		}
		_, err = p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(p.Budget()),
			sample(t, k.schema, rows, 1), synth.Checkpoint(tap.path))
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
		for purpose := range tap.line {
			if tap.drawn[purpose] < 2 {
				t.Errorf("%s: got %d shares of %s, want at least 2", k.name, tap.drawn[purpose], purpose)
			}
		}
		return // after the first kind that has such a stage
	}
	t.Skip("no stage is a single release")
}

// shareTap compares the checkpoint with the shares drawn so far.
type shareTap struct {
	tracer
	path  string
	line  map[string]int // number of each purpose's line in the file
	drawn map[string]int
}

func (s *shareTap) Release(r *entropy.Release) error {
	line, ok := s.line[r.Purpose]
	if !ok {
		return nil
	}
	var h struct {
		Taken    []int `json:"taken"`
		Releases []struct {
			Purpose string `json:"purpose"`
			Made    int    `json:"made"`
		} `json:"releases"`
	}
	if _, err := readFile(s.path, &h); err != nil {
		return err
	}
	made := 0
	for _, kept := range h.Releases {
		if kept.Purpose == r.Purpose {
			made = kept.Made
		}
	}
	if made != s.drawn[r.Purpose] || h.Taken[line] != made+1 {
		return errors.New(
			"the checkpoint counts shares that have not been drawn, or lacks some that have")
	}
	s.drawn[r.Purpose]++
	return nil
}
