package compose

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Errors that depend on records only through released values.
var (
	// ErrNone is returned if a Poisson number of trials is zero.
	ErrNone = errors.New("search: the search drew no trial")
	// ErrFailed is returned if every trial failed.
	ErrFailed = errors.New("search: every trial of the search failed")
	// errPanic replaces a trial's panic value, which may hold private values.
	errPanic = errors.New("a trial panicked")
)

// outcome is the result of a trial. Outcomes are ordered: a failure ranks below every score.
type outcome struct {
	candidate int
	score     float64
	generator *synth.Generator
	classes   []accountant.NoiseClass
	err       error
}

// beats reports whether the outcome ranks above an earlier one. Of equal outcomes the first is
// best.
func (o *outcome) beats(best *outcome) bool {
	switch {
	case best == nil:
		return true
	case o.err != nil:
		return false
	}
	return best.err != nil || o.score > best.score
}

// fit runs the search.
//
// Guarantee: the number of trials and their candidates come from the grant of the whole search,
// which covers one draw of them. Every trial reads the records with a ledger that permits exactly
// one trial of the candidate. Its divergence is therefore the divergence of the event within the
// selection. Only best is released.
func (c *searching) fit(ctx context.Context, r *run) (*model, error) {
	if f := r.Saved(); f != nil {
		return c.complete(f, r)
	}
	a := r.Allowance(purposeSearch)
	if a.Remaining() == 0 {
		return nil, synth.ErrLost // the trials of an interrupted search are gone
	}
	grant, err := a.Next()
	if err != nil {
		return nil, err
	}
	trials, err := grant.Trials(len(c.plans), c.Trials.Limit)
	if err != nil {
		return nil, err
	}
	best, err := c.search(ctx, r.Run, trials)
	if err != nil {
		return nil, err
	}
	if best == nil {
		return nil, ErrNone
	}
	if best.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFailed, best.err)
	}
	c.note(a, best, r.Backend)
	m := &model{released: found{best.candidate, best.score}, kind: c.kind(),
		systems: []string{best.generator.System()}, of: []synth.Model{best.generator.Model()}}
	r.Keep(m.Encode)
	r.Report(purposeSearch, 1, 1)
	return m, nil
}

// complete returns the result of a complete search from its checkpoint.
func (c *searching) complete(f *synth.File, r *run) (*model, error) {
	if c.Systems == nil {
		return nil, param.New("compose.Search.Systems", nil, "the systems of all candidates")
	}
	m, err := c.kind().readModel(f, synth.Loading{Backend: r.Backend}, c.Systems)
	if err == nil {
		r.Report(purposeSearch, 1, 1)
	}
	return m, err
}

// note records the classes of the winner's noise. The classes of other trials are not revealed. On
// a device without the guarantees that exact sums need, any trial may have used real noise.
func (c *searching) note(a *mechanism.Allowance, best *outcome, be device.Backend) {
	for _, class := range best.classes {
		a.Note(class)
	}
	promised := device.PromisesOf(be)
	if _, exact := device.FixedSums(be); !exact || !promised.RowsAlone || !promised.SameBits {
		a.Note(accountant.RealNoise)
	}
}

// search runs the trials one after another and keeps the best. A steady search drops the trials
// beyond the number drawn.
func (c *searching) search(ctx context.Context, r *synth.Run, trials []int) (best *outcome,
	err error) {
	drawn := len(trials)
	if c.Trials.Steady {
		for i := drawn; i < c.Trials.Limit; i++ {
			trials = append(trials, i%len(c.plans))
		}
	}
	for i, candidate := range trials {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := c.trialRun(ctx, r, candidate)
		if err := ctx.Err(); err != nil {
			return nil, err // the trial was cut short
		}
		if records.Failed(r.Data) {
			return nil, synth.ErrData
		}
		if i < drawn && o.beats(best) {
			best = o
		}
	}
	return best, nil
}

// trialRun runs one candidate and scores it.
func (c *searching) trialRun(ctx context.Context, r *synth.Run, candidate int) (o *outcome) {
	o = &outcome{candidate: candidate, score: math.Inf(-1)}
	defer func() {
		if recover() != nil {
			*o = outcome{candidate: candidate, score: math.Inf(-1), err: errPanic}
		}
	}()
	ledger := c.ledger(candidate, r.Ledger)
	gen, err := c.plans[candidate].FitOn(ctx, ledger, r.Data, synth.On(r.Backend))
	if err != nil {
		o.err = err
		return o
	}
	st, err := c.Score.Statistic(ctx, gen)
	if err != nil {
		o.err = err
		return o
	}
	grant, err := mechanism.Begin(ctx, ledger).Spend(scoreLine, c.scoring())
	if err != nil {
		o.err = err
		return o
	}
	if o.score, o.err = c.judge(ctx, r.Data, st, grant); o.err != nil {
		return o
	}
	o.generator = gen
	o.classes = ledger.Guarantee().NoiseClass
	return o
}

// scoreLine is the score's line on a trial's ledger.
const scoreLine = "score"

// ledger returns the ledger of one trial. Only the caller uses it, and only during the trial.
func (c *searching) ledger(candidate int, of *accountant.Ledger) *accountant.Ledger {
	b := c.budget
	b.Epsilon = c.costs[candidate].Upper*1.05 + 1e-9 // method only sets the exact limit
	return accountant.NewLedger(b, accountant.WithUnit(of.Unit()),
		accountant.WithPolicy(c.only(candidate)))
}

var errBeyond = errors.New("search: a trial reserves an event that its plan does not state")

// only returns a policy that permits exactly the priced events of a trial: the stages of its plan
// and one score. The ledger calls the policy under its lock, for one entry after another.
func (c *searching) only(candidate int) accountant.Policy {
	type line struct {
		purpose string
		event   accountant.Event
		left    int
	}
	lines := []line{{scoreLine, c.scoring(), 1}}
	for _, s := range c.plans[candidate].Stages() {
		lines = append(lines, line{s.Purpose, s.Event, s.Count * max(s.Parts, 1)})
	}
	return func(asked accountant.Request) error {
		for i := range lines {
			l := &lines[i]
			if l.purpose == asked.Purpose && l.left >= asked.Count &&
				accountant.EqualEvents(l.event, asked.Event) {
				l.left -= asked.Count
				return nil
			}
		}
		return errBeyond
	}
}
