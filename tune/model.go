package tune

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/strictjson"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the released result of a search: the best trial's model, the index of its candidate, and
// its score. It holds nothing from the other trials.
type Model struct {
	synth.Wrapped
	candidate int
	score     float64
	system    string
}

// Candidate returns the index of the winning plan in Config.Candidates. It is released with the
// model.
func (m *Model) Candidate() int { return m.candidate }

// Score returns the winner's noisy score. It is the largest of several scores, so it is biased
// upwards.
func (m *Model) Score() float64 { return m.score }

// Best returns the winner as a generator of its own system, with the guarantee of the search. The
// guarantee of the winner's own plan does not hold.
func (m *Model) Best(g *synth.Generator) *synth.Generator {
	return synth.NewGenerator(m.system, m.Model, g.Guarantee())
}

type modelJSON struct {
	Candidate int             `json:"candidate"`
	Score     *float64        `json:"score,omitempty"` // missing if it is not finite
	System    string          `json:"system"`
	Model     json.RawMessage `json:"model"`
}

// Encode writes the winner with the index of its candidate.
//
// Errors: all errors of the winner's Encode.
func (m *Model) Encode() (*synth.File, error) {
	f, err := m.Model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.system, err)
	}
	j := modelJSON{Candidate: m.candidate, System: m.system, Model: f.Header}
	if !math.IsInf(m.score, 0) {
		j.Score = &m.score
	}
	head, err := json.Marshal(j)
	return &synth.File{Kind: systemName, Header: head, Sections: f.Sections}, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := strictjson.Decode(f.Header, &j); err != nil {
		return nil, fmt.Errorf("%w: %w", synth.ErrFormat, err)
	}
	if j.Candidate < 0 || j.Candidate >= mostCandidates || j.System == systemName {
		return nil, fmt.Errorf(
			"%w: the result of a search is candidate %d of system %.40q, want 0 to %d, and no search",
			synth.ErrFormat, j.Candidate, j.System, mostCandidates-1)
	}
	for _, s := range of {
		if s.Name != j.System || s.Model == nil {
			continue
		}
		m, err := s.Model(&synth.File{Kind: j.System, Header: j.Model, Sections: f.Sections}, l)
		if err != nil {
			return nil, err
		}
		out := &Model{Wrapped: synth.Wrapped{Model: m}, candidate: j.Candidate, system: j.System,
			score: math.Inf(-1)}
		if j.Score != nil {
			out.score = *j.Score
		}
		return out, nil
	}
	return nil, param.New("tune.Config.Systems", j.System, "the systems of all candidates")
}
