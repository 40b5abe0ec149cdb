package tune

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a search. See the package documentation for its guarantee.
type Config struct {
	// Budget is the budget of the whole search. Within divides it.
	Budget accountant.Budget
	// Candidates are the plans to choose from, for one schema and one relation. Every trial runs
	// one of them, all equally likely; list a plan twice to try it twice as often.
	Candidates []synth.Plan
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
	const path = "tune.Trials."
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

// Validate reports every mistake, as joined *param.Error values.
func (c Config) Validate() error {
	var k param.Checker
	k.Add(c.Budget.Validate())
	c.Trials.check(&k)
	k.OK(mechanism.IsNoiseMultiplier(c.Noise), "tune.Config.Noise", c.Noise,
		"a positive number, at most 2^24")
	if c.Score == nil {
		k.OK(false, "tune.Config.Score", nil, "a score, such as tune.Accuracy{}")
	} else {
		k.Add(c.Score.Validate(c.schema()))
	}
	k.OK(len(c.Candidates) > 0 && len(c.Candidates) <= mostCandidates, "tune.Config.Candidates",
		len(c.Candidates), "between 1 and 100 plans")
	for i, p := range c.Candidates {
		path := fmt.Sprintf("tune.Config.Candidates[%d]", i)
		if p == nil || len(p.Stages()) == 0 {
			k.OK(false, path, nil, "a plan")
			continue
		}
		k.OK(p.System() != systemName, path, systemName, "a plan that is not itself a search")
		k.OK(p.Schema().Equal(c.schema()), path+".Schema", p.Schema(), "the schema of the first plan")
		k.OK(p.Budget().Relation == c.Budget.Relation, path+".Budget.Relation", p.Budget().Relation,
			"the search's relation, "+c.Budget.Relation.String())
	}
	return k.Err()
}

// schema returns the schema of the first candidate.
func (c Config) schema() (s records.Schema) {
	if len(c.Candidates) > 0 && c.Candidates[0] != nil {
		s = c.Candidates[0].Schema()
	}
	return s
}

// scoring returns the event of one release of a score.
func (c Config) scoring() accountant.Event { return accountant.Gaussian{NoiseMultiplier: c.Noise} }

// trialOf returns the event of one trial of a candidate: all its stages and its score.
func (c Config) trialOf(p synth.Plan) accountant.Event {
	return accountant.Composed{Events: []accountant.Event{c.scoring(), synth.Total(p.Stages()...)}}
}

// trial returns the event of one trial of any candidate. Candidates with equal events count once.
func (c Config) trial() accountant.Event {
	var of accountant.OneOf
	for _, p := range c.Candidates {
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

// Within finds the largest budget of a single trial with which the whole search stays within its
// own budget. It returns the search with candidates for that budget. The function candidates makes
// the plans for a given budget. This budget has the search's δ and relation.
//
// Errors: all errors of the function candidates and of Plan; accountant.ErrBudgetExceeded if a
// hundredth of the budget is too much for a single trial.
func (c Config) Within(candidates func(accountant.Budget) ([]synth.Plan, error)) (Config, error) {
	if candidates == nil {
		return Config{}, param.New("tune.Config.Within.candidates", nil, "a function")
	}
	if err := c.Budget.Validate(); err != nil {
		return Config{}, err
	}
	try := func(share float64) (Config, bool, error) {
		trial, own := c.Budget, c
		trial.Epsilon *= share
		var err error
		if own.Candidates, err = candidates(trial); err != nil {
			return Config{}, false, err
		}
		if err := own.Validate(); err != nil {
			return Config{}, false, err
		}
		cost, err := own.cost(own.Trials)
		return own, err == nil && cost.Upper <= c.Budget.Epsilon, err
	}
	var best Config
	found := false
	lo, hi := 0.01, 1.0
	for range 9 { // up to one per cent of the share that fits
		share := lo + (hi-lo)*0.5
		if !found && share < 0.02 {
			break
		}
		own, fits, err := try(share)
		if err != nil {
			return Config{}, err
		}
		if fits {
			best, found, lo = own, true, share
		} else {
			hi = share
		}
		if found && hi-lo < 0.01*lo {
			break
		}
	}
	if !found {
		return Config{}, fmt.Errorf("tune: a search of %v trials costs more than ε = %g: %w",
			c.Trials.Mean, c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return best, nil
}
