package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/strictjson"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "tune"

// Stage is the only stage of a search.
const Stage = "search"

// Plan is a search with its price. It has the methods of every plan; see [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the configuration that the plan was made from.
func (p *Plan) Config() Config { return p.config }

// Plan prices all stages: one selection among a random number of trials. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported for a candidate without Rényi divergence.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Candidates = append([]synth.Plan(nil), c.Candidates...)
	w := &work{config: c, table: sync.OnceValue(c.table)}
	for _, p := range c.Candidates {
		// The price of one trial. Its ledger gets a budget that covers every order of reservations.
		cost, err := accountant.Epsilon(c.trialOf(p), c.Budget.Delta, c.Budget.Relation)
		if err != nil {
			return nil, fmt.Errorf("tune: cost of a trial of %s: %w", p.System(), err)
		}
		w.costs = append(w.costs, cost)
	}
	stages := []synth.Stage{{Purpose: Stage, Event: c.Trials.of(c.trial()), Count: 1}}
	program, err := synth.NewProgram(systemName, c.schema(), c.Budget, stages, w)
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// Plans implements [synth.Nested].
func (w *work) Plans() []synth.Plan { return w.config.Candidates }

// Title describes the search.
func (w *work) Title() string {
	if len(w.config.Candidates) == 1 {
		return "the best of many runs of one plan"
	}
	return fmt.Sprintf("the best of many runs of %d plans", len(w.config.Candidates))
}

// Notes returns the law of the number of trials, the candidates, and the price of other numbers.
func (w *work) Notes() []string {
	notes := []string{"trials: " + w.config.Trials.String(),
		fmt.Sprintf("score: %T, noise multiplier %.4g, with every trial", w.config.Score, w.config.Noise)}
	for i, p := range w.config.Candidates {
		if i == 8 {
			notes = append(notes, fmt.Sprintf("… and %d more candidates", len(w.config.Candidates)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("candidate %d: %s, one trial alone ε = %s", i, p.System(),
			accountant.FormatUpper(w.costs[i].Upper, 4)))
	}
	return append(notes, w.table())
}

// configJSON is the form of a search in a file.
type configJSON struct {
	Candidates []json.RawMessage `json:"candidates"`
	Trials     Trials            `json:"trials"`
	Score      scoreJSON         `json:"score"`
	Noise      float64           `json:"noise"`
}

type scoreJSON struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

// Config writes the search with its candidates.
//
// Errors: a user-defined score; candidates that cannot be written.
func (w *work) Config() (json.RawMessage, error) {
	c := configJSON{Trials: w.config.Trials, Noise: w.config.Noise}
	var err error
	if c.Score, err = writeScore(w.config.Score); err != nil {
		return nil, err
	}
	for _, p := range w.config.Candidates {
		text, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		c.Candidates = append(c.Candidates, text)
	}
	return json.Marshal(c)
}

func writeScore(s Score) (j scoreJSON, err error) {
	switch s.(type) {
	case Accuracy:
		j.Name = "accuracy"
	case Queries:
		j.Name = "queries"
	case Likelihood:
		j.Name = "likelihood"
	default:
		return j, param.New("tune.Config.Score", fmt.Sprintf("%T", s),
			"Accuracy, Queries or Likelihood: others cannot be written")
	}
	j.Params, err = json.Marshal(s)
	return j, err
}

func readScore(j scoreJSON) (Score, error) {
	var err error
	read := func(s any) {
		if len(j.Params) > 0 {
			err = strictjson.Decode(j.Params, s)
		}
	}
	switch j.Name {
	case "accuracy":
		var s Accuracy
		read(&s)
		return s, err
	case "queries":
		var s Queries
		read(&s)
		return s, err
	case "likelihood":
		var s Likelihood
		read(&s)
		return s, err
	}
	return nil, fmt.Errorf("%w: unknown score %.40q", synth.ErrFormat, j.Name)
}

// System returns the system that reads searches and their results. The results are generators of
// the given systems.
func System(of synth.Systems) synth.System {
	return synth.System{Name: systemName,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) { return readPlan(s, of) },
		Model: func(f *synth.File, l synth.Loading) (synth.Model, error) {
			return readModel(f, l, of)
		}}
}

func readPlan(s synth.SavedPlan, of synth.Systems) (synth.Plan, error) {
	var j configJSON
	if err := strictjson.Decode(s.Config, &j); err != nil {
		return nil, fmt.Errorf("%w: search: %w", synth.ErrFormat, err)
	}
	c := Config{Budget: s.Budget, Trials: j.Trials, Noise: j.Noise, Systems: of}
	var err error
	if c.Score, err = readScore(j.Score); err != nil {
		return nil, err
	}
	if len(j.Candidates) > mostCandidates {
		return nil, fmt.Errorf("%w: %d candidates, want at most %d", synth.ErrFormat,
			len(j.Candidates), mostCandidates)
	}
	for _, text := range j.Candidates {
		p, err := of.ReadPlan(text, synth.WithLimits(s.Limits))
		if err != nil {
			return nil, err
		}
		c.Candidates = append(c.Candidates, p)
	}
	if len(c.Candidates) > 0 && !s.Schema.Equal(c.schema()) {
		return nil, errors.Join(synth.ErrFormat, synth.ErrSchema)
	}
	return c.Plan()
}
