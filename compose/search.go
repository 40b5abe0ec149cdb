package compose

import (
	"fmt"
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Search looks for hyper-parameters at a price that is known beforehand: it runs a random number of
// candidates, compares them by noisy scores, and releases the best.
//
//	plan, err := compose.Search{Candidates: designs, Trials: compose.Trials{Mean: 20},
//		Score: compose.Accuracy{}, Noise: 50}.PlanFor(schema, budget)
//	fmt.Println(plan)                // its price, and the prices of more or fewer trials
//	gen, err := plan.Fit(ctx, table) // the best of the trials
//
// Its only stage is one event, reserved before the number of trials is drawn. A trial draws one of
// the candidates at random and runs it on its own ledger. This ledger permits only the candidate's
// stages and the score. The trial then scores the generator on the same records.
//
// Guarantee: the released generator has the price of accountant.RepeatAndSelect among runs of
// accountant.OneOf the candidates, each with its score. This is about two to three times the
// divergence of a single trial, instead of the sum over all trials. The guarantee of the
// candidate's own plan would not hold: the best of many runs reveals more about the records than
// one run.
//
// The price depends on these conditions:
//
//   - The number of trials and their candidates are drawn exactly, from the stream of private
//     randomness. Neither is revealed: not by progress, which reports only the end of the search,
//     nor by the ledger, the guarantee or errors.
//   - Trials are independent given the records and have the same distribution: candidates are
//     plans, which keep nothing between runs. User-defined plans must keep nothing either.
//   - Only the best trial is released: its generator, its noisy score and the index of its
//     candidate. The generators and scores of all other trials are dropped.
//   - A trial that fails or panics ranks below every score. A failure is one of a trial's outcomes
//     and costs no more than other outcomes: errors of a plan depend on records only through
//     released values, and the price of a selection holds for every order of the outcomes. If every
//     trial fails, the best outcome is a failure, and it is released: the error of the first trial,
//     without the value of a panic.
//   - A search that is cancelled, or whose data fail, releases nothing and gets no refund. Only its
//     running time shows how many trials it had run. Cancelling limits the number of trials by the
//     clock, and the accountant's price covers limits.
//   - Running time grows with the secret number of trials, and no guarantee covers it. With
//     Trials.Steady every search runs as many trials as its limit, and drops the trials beyond the
//     number drawn.
//   - A search writes no checkpoint while it runs: the file would hold the best trial so far, which
//     is not paid for. With synth.Checkpoint, a search that was killed is lost and returns
//     synth.ErrLost when it is run again; a complete search is read from the file.
//
// A system that releases once and trains without cost needs no search. Its generators can be
// compared by their distance to the release; see merf.TrainBest.
//
// Source: Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy", 2022;
// Liu and Talwar, "Private Selection from Private Candidates", 2019.
type Search struct {
	// Candidates are the systems to choose from. Every trial runs one of them, all equally likely;
	// list a system twice to try it twice as often. They are planned for the largest budget of a
	// single trial with which the whole search stays within its own; see [Fixed].
	Candidates []synth.Design
	// Trials is the number of trials.
	Trials Trials
	// Score compares the trials' generators.
	Score Score
	// Noise is the noise multiplier of every score. In records, the standard deviation of the noise is
	// Noise under add-or-remove-one and 2·Noise under replace-one. Every trial adds this noise and
	// pays for it: one per cent of the number of records is little noise at a negligible price.
	Noise float64
	// Systems reads the files of the candidates' generators. It is needed to read a complete
	// search from its checkpoint; package privgen sets the module's systems.
	Systems synth.Systems
}

// Trials describes the distribution of the number of trials.
type Trials struct {
	// Mean is the expected number of trials. It adds log(Mean)/(λ−1) to the search's price at order λ.
	Mean float64 `json:"mean"`
	// Shape is η of the truncated negative binomial law, in (−1, 1]. The zero value is the
	// logarithmic law: the search costs about two runs. The value 1 is the geometric law: the
	// search costs about three runs, and the number varies less. With values close to −1 the number
	// is often 1, and the search costs less.
	Shape float64 `json:"shape,omitempty"`
	// Poisson uses a Poisson law with a whole Mean instead. It varies least. With probability
	// exp(−Mean) there is no trial, and then nothing is released.
	Poisson bool `json:"poisson,omitempty"`
	// Limit is the largest number of trials: a larger number is drawn again. 0 means no limit. A limit
	// costs nothing. The Poisson law has no limit.
	Limit int `json:"limit,omitempty"`
	// Steady always runs Limit trials and drops the trials beyond the number drawn. The running
	// time then does not reveal this number.
	Steady bool `json:"steady,omitempty"`
}

// mostTrials bounds the work that a configuration can request. mostCandidates bounds the work that
// a file can request: every candidate is priced separately.
const mostTrials, mostCandidates = 10000, 100

func (t Trials) check(k *param.Checker) {
	const path = "compose.Trials."
	k.OK(t.Mean >= 1 && t.Mean <= mostTrials, path+"Mean", t.Mean, "a number in [1, 10000]")
	k.OK(t.Shape > -1 && t.Shape <= 1 && (1+t.Shape)-1 == t.Shape, path+"Shape", t.Shape,
		"a number η in (−1, 1] for which 1 + η is exact, such as −0.5, 0 or 1")
	if !t.Poisson && t.Mean >= 1 {
		k.OK(!(t.of(accountant.Pure{Epsilon: 1}).Gamma() < mechanism.LeastGamma), path+"Shape", t.Shape,
			"a larger shape or a smaller mean: numbers of this law take too long to draw")
	}
	k.OK(t.Limit >= 0 && t.Limit <= 100*mostTrials, path+"Limit", t.Limit,
		"a number of trials, or 0 for no limit")
	if t.Poisson {
		k.OK(t.Mean == float64(int(t.Mean)), path+"Mean", t.Mean, "a whole number for the Poisson law")
		k.OK(t.Shape == 0, path+"Shape", t.Shape, "0 for the Poisson law, which has no shape")
		k.OK(t.Limit == 0, path+"Limit", t.Limit,
			"0 for the Poisson law: it has no known price with a limit")
	}
	k.OK(!t.Steady || t.Limit > 0, path+"Steady", t.Steady, "false, unless there is a limit")
}

// of returns the selection among a random number of runs of an event.
func (t Trials) of(trial accountant.Event) accountant.RepeatAndSelect {
	return accountant.RepeatAndSelect{Event: trial, Mean: t.Mean, Shape: t.Shape, Poisson: t.Poisson}
}

func searchKind() kind {
	return kind{name: "search", config: "compose.Search", of: "Candidates", level: searchLevel,
		least: 1, most: mostCandidates, apart: true, design: readSearch, release: readFound}
}

// PlanFor plans the candidates for the budget of one trial and prices the selection among a random
// number of trials. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of the candidates;
// accountant.ErrBudgetExceeded if a hundredth of the budget is too much for a single trial;
// accountant.ErrUnsupported for a candidate without Rényi divergence.
func (c Search) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	k := searchKind().begin(s, b, c.Candidates)
	c.check(&k, s)
	if err := k.Err(); err != nil {
		return nil, err
	}
	w := &searching{Search: c, schema: s, budget: b}
	w.Candidates = nil
	if err := w.divide(c.Candidates); err != nil {
		return nil, err
	}
	for _, p := range w.plans {
		// The price of one trial. Its ledger gets a budget that covers every order of reservations.
		cost, err := accountant.Epsilon(w.trialOf(p), b.Delta, b.Relation)
		if err != nil {
			return nil, fmt.Errorf("search: cost of a trial of %s: %w", p.System(), err)
		}
		w.costs = append(w.costs, cost)
	}
	w.table = sync.OnceValue(w.prices)
	return priced(w, s, b, w.plans)
}

// check checks the settings for records of a schema.
func (c Search) check(k *param.Checker, s records.Schema) {
	c.Trials.check(k)
	k.OK(mechanism.IsNoiseMultiplier(c.Noise), "compose.Search.Noise", c.Noise,
		"a positive number, at most 2^24")
	if c.Score == nil {
		k.OK(false, "compose.Search.Score", nil, "a score, such as compose.Accuracy{}")
	} else {
		k.Add(c.Score.Validate(s))
	}
}

// A searching is a search for records of a schema.
type searching struct {
	Search // without Candidates: designs may hold public records and scratch memory
	schema records.Schema
	budget accountant.Budget
	plans  []synth.Plan
	costs  []accountant.Bound // of one trial of each candidate
	table  func() string      // the prices of other numbers of trials, computed once
}

func (c *searching) kind() kind                          { return searchKind() }
func (c *searching) reads() records.Schema               { return c.schema }
func (c *searching) view(data records.Data) records.Data { return data }
func (c *searching) types() []any                        { return []any{c.Score} }

// purposeSearch is the purpose of the only stage of a search.
const purposeSearch = "search"

// stages returns the selection.
func (c *searching) stages() (before, after []synth.Stage) {
	return []synth.Stage{{Purpose: purposeSearch, Event: c.Trials.of(c.trial()), Count: 1}}, nil
}

// scoring returns the event of one release of a score.
func (c *searching) scoring() accountant.Event { return gaussian(c.Noise) }

// trialOf returns the event of one trial of a candidate: all its stages and its score.
func (c *searching) trialOf(p synth.Plan) accountant.Event {
	return accountant.Composed{Events: []accountant.Event{c.scoring(), synth.Total(p.Stages()...)}}
}

// trial returns the event of one trial of any candidate. Candidates with equal events count once.
func (c *searching) trial() accountant.Event {
	var of accountant.OneOf
	for _, p := range c.plans {
		e := c.trialOf(p)
		known := false
		for _, o := range of.Events {
			known = known || accountant.EqualEvents(o, e)
		}
		if !known {
			of.Events = append(of.Events, e)
		}
	}
	if len(of.Events) == 1 {
		return of.Events[0]
	}
	return of
}

// divide plans the candidates for the largest budget of a single trial with which the whole search
// stays within its own.
func (c *searching) divide(of []synth.Design) error {
	asks := false
	for _, d := range of {
		asks = asks || !keepsBudget(d)
	}
	if !asks {
		plans, err := c.planned(of, c.budget)
		c.plans = plans
		return err
	}
	var best []synth.Plan
	lo, hi := 0.01, 1.0
	for range 9 { // up to one per cent of the share that fits
		share := lo + (hi-lo)*0.5
		if best == nil && share < 0.02 {
			break
		}
		trial := c.budget
		trial.Epsilon *= share
		var err error
		if c.plans, err = c.planned(of, trial); err != nil {
			return err
		}
		cost, err := c.cost(c.Trials)
		if err != nil {
			return err
		}
		if cost.Upper <= c.budget.Epsilon {
			best, lo = c.plans, share
		} else {
			hi = share
		}
		if best != nil && hi-lo < 0.01*lo {
			break
		}
	}
	if c.plans = best; best == nil {
		return fmt.Errorf("search: %v trials cost more than ε = %g: %w", c.Trials.Mean,
			c.budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return nil
}

// planned returns the plans of the candidates for the budget of one trial.
func (c *searching) planned(of []synth.Design, b accountant.Budget) (list []synth.Plan, err error) {
	for i, d := range of {
		p, err := d.PlanFor(c.schema, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", searchKind().path(i), err)
		}
		if err := checkPart(c, i, p, b.Relation); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (c *searching) title(of []string) string {
	if len(of) == 1 {
		return "the best of many runs of one plan"
	}
	return fmt.Sprintf("the best of many runs of %d plans", len(of))
}

// notes returns the law of the number of trials, the candidates, and the price of other numbers.
func (c *searching) notes(of []synth.Plan) []string {
	notes := []string{"trials: " + c.Trials.String(),
		fmt.Sprintf("score: %T, noise multiplier %.4g, with every trial", c.Score, c.Noise)}
	for i, p := range of {
		if i == 8 {
			notes = append(notes, fmt.Sprintf("… and %d more candidates", len(of)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("candidate %d: %s, one trial alone ε = %s", i, p.System(),
			accountant.FormatUpper(c.costs[i].Upper, 4)))
	}
	return append(notes, c.table())
}

type searchJSON struct {
	Trials Trials    `json:"trials"`
	Score  scoreJSON `json:"score"`
	Noise  float64   `json:"noise"`
}

// settings writes the search.
//
// Errors: a user-defined score.
func (c *searching) settings() (any, error) {
	score, err := writeScore(c.Score)
	return searchJSON{c.Trials, score, c.Noise}, err
}

func readSearch(saved synth.SavedPlan, of []synth.Plan, l synth.Systems) (synth.Design, error) {
	var j searchJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	score, err := readScore(j.Score)
	return Search{Candidates: fixed(of), Trials: j.Trials, Score: score, Noise: j.Noise,
		Systems: l}, err
}

// found is what a search releases beside the model of the winner. It holds nothing from the other
// trials.
type found struct {
	candidate int
	score     float64
}

// Best returns the index of the winner in the candidates of a [Search], and its noisy score. Both
// are released with the generator. The score is the largest of several scores, so it is biased
// upwards. [Part] returns the winner's generator; the guarantee of its own plan does not hold.
//
// Errors: *param.Error for another generator.
func Best(g *synth.Generator) (candidate int, score float64, err error) {
	_, f, err := releasedBy[found](g, "compose.Best.g", searchKind())
	return f.candidate, f.score, err
}

func (f found) sampler(m *model, d synth.Draw) (synth.Sampler, error) { return m.of[0].Sampler(d) }
func (f found) sections() []synth.Part                                { return nil }

type foundJSON struct {
	Candidate int      `json:"candidate"`
	Score     *float64 `json:"score,omitempty"` // missing if it is not finite
}

func (f found) header() (any, error) {
	j := foundJSON{Candidate: f.candidate}
	if !math.IsInf(f.score, 0) {
		j.Score = &f.score
	}
	return j, nil
}

func readFound(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j foundJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(of) != 1 || j.Candidate < 0 || j.Candidate >= mostCandidates {
		return nil, synth.Malformed(fmt.Errorf("%d models of candidate %d, want one of candidate 0 to %d",
			len(of), j.Candidate, mostCandidates-1))
	}
	out := found{j.Candidate, math.Inf(-1)}
	if j.Score != nil {
		out.score = *j.Score
	}
	return out, nil
}
