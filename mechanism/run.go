package mechanism

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// ErrNotCovered is returned for draws that a grant's event does not cover. Nothing is then drawn.
var ErrNotCovered = errors.New("mechanism: draw not covered by its event")

// Run is the source of the randomness that protects the records in one fit. It has one fresh key
// from the operating system and one ledger. It is safe for concurrent use.
type Run struct{ *runState } // one pointer: a copy by value would draw the same noise again

type runState struct {
	ledger *ledger.Ledger
	source *entropy.Source
	tap    entropy.Tap
	failed error // why the run cannot draw

	mu    sync.Mutex
	step  uint64 // number of grants so far
	lanes uint64 // number of streams so far
}

// Begin starts a run that spends from ledger.
//
// Guarantee: nothing is drawn before an event is reserved on the ledger.
// Errors: if the source cannot be opened, every later call of Reserve and Spend returns the error.
func Begin(ctx context.Context, ledger *ledger.Ledger) *Run {
	r := &Run{&runState{ledger: ledger, tap: entropy.TapFrom(ctx)}}
	if ledger == nil {
		r.failed = errors.New("mechanism.Begin.ledger: nil: want a ledger")
		return r
	}
	if r.tap == nil {
		r.source, r.failed = entropy.New()
		return r
	}
	ledger.MarkNotPrivate("deterministic test noise: not private")
	r.source, r.failed = r.tap.Source()
	return r
}

// Relation returns the neighbouring relation of the run's ledger.
func (r *Run) Relation() accountant.Relation {
	if r.ledger == nil {
		return accountant.AddOrRemoveOne
	}
	return r.ledger.Relation()
}

// Reserve reserves count releases of event e on the ledger.
//
// Guarantee: the ledger's published cost includes the whole reservation from now on, used or not.
// Errors: the errors of the ledger, such as accountant.ErrBudgetExceeded; nothing is reserved then.
func (r *Run) Reserve(purpose string, e accountant.Event, count int) (*Allowance, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	res, err := r.ledger.Reserve(purpose, e, count)
	r.tellSpend(purpose, e, count, err)
	if err != nil {
		return nil, err
	}
	// Use the ledger's copy of the event. Then the priced event decides about draws, even if the
	// caller has changed its own copy since.
	return r.allowance(purpose, res.Event(), res), nil
}

// Resume returns the remaining uses of a purpose's reservation on a ledger that was saved and read
// back. The uses cost nothing more, because they were counted when they were reserved. Noise and
// samples use this run's own key. See ledger.Ledger.Resume for the limits of a saved ledger.
//
// Errors: ledger.ErrReservationExhausted if nothing is left.
func (r *Run) Resume(purpose string, e accountant.Event) (*Allowance, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	res, err := r.ledger.Resume(purpose, e)
	left := 0
	if err == nil {
		left = res.Remaining()
	}
	r.tellSpend(purpose, e, left, err)
	if err != nil {
		return nil, err
	}
	return r.allowance(purpose, res.Event(), res), nil
}

// Spend reserves one release of event e and takes it at once.
//
// Errors: the errors of Reserve and of [Allowance.Next].
func (r *Run) Spend(purpose string, e accountant.Event) (*Grant, error) {
	a, err := r.Reserve(purpose, e, 1)
	if err != nil {
		return nil, err
	}
	return a.Next()
}

func (r *Run) allowance(purpose string, e accountant.Event,
	res *ledger.Reservation) *Allowance {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes++
	return &Allowance{&allowanceState{run: r, purpose: purpose, event: e,
		terms: termsOf(e).under(r.Relation()), reservation: res, id: r.lanes, turns: newTurns(e),
		band: newBand(e)}}
}

func (r *Run) nextStep() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step++
	return r.step
}

// comingStep returns the number that nextStep will return if no other grant is taken before.
func (r *Run) comingStep() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.step + 1
}

func (r *Run) tellSpend(purpose string, e accountant.Event, count int, err error) {
	if r.tap != nil {
		r.tap.Spend(purpose, e, count, err)
	}
}

// Allowance is a reserved number of releases of one event. It is safe for
// concurrent use; noise of one allowance is drawn by one release at a time.
type Allowance struct{ *allowanceState } // one pointer, as in Run

type allowanceState struct {
	run         *Run
	purpose     string
	event       accountant.Event
	terms       terms
	reservation *ledger.Reservation
	id          uint64
	turns       *turns                         // nil if a use is one step
	band        *band                          // nil if noise is independent
	guard       func(spend func() error) error // called for every use; may be nil
	refuses     func() error                   // called before anything is drawn; may be nil

	mu      sync.Mutex // guards the streams below
	noise   *entropy.Stream
	sampler *entropy.Stream
	chunks  *parallel
	keys    entropy.Indexed
	last    prepared

	notes sync.Mutex // guards only noted, so that it can be read while noise is drawn
	noted []ledger.NoiseClass
}

// Next takes one use on the ledger and then returns the grant for its draws. For the events
// accountant.RandomAllocation and accountant.BandedSum a use has several steps, and Next returns
// one grant for each step.
//
// Errors: ledger.ErrReservationExhausted after the last use; the errors of the function that
// was passed to Guard.
func (a *Allowance) Next() (*Grant, error) {
	if a.turns != nil {
		return a.turns.next(a)
	}
	if err := a.take(); err != nil {
		return nil, err
	}
	return a.grant(), nil
}

func (a *Allowance) grant() *Grant {
	return &Grant{&grantState{a: a, step: a.run.nextStep()}}
}

// take takes one use, through the guard if there is one.
func (a *Allowance) take() error {
	if a.guard == nil {
		return a.spend()
	}
	taken := false
	err := a.guard(func() error {
		err := a.spend()
		taken = taken || err == nil
		return err
	})
	if err == nil && !taken {
		return a.refuse("the guard took no use: it must call spend")
	}
	return err
}

func (a *Allowance) spend() error {
	err := a.reservation.Spend()
	a.run.tellSpend(a.purpose, a.event, 0, err)
	return err
}

// Remaining returns how many grants the allowance still holds.
func (a *Allowance) Remaining() int {
	if a.turns != nil {
		return a.turns.remaining(a.reservation.Remaining())
	}
	return a.reservation.Remaining()
}

// On reports whether the allowance was reserved on this ledger and, for the event
// accountant.BandedSum, whether no step was taken. Code that takes both an allowance and a ledger
// has to ask: the same event on a ledger with another relation needs other noise, and only the code
// that took the first step of a band knows which number each record must keep.
//
// Guarantee: nothing is drawn or reserved.
func (a *Allowance) On(l *ledger.Ledger) bool {
	return l != nil && a.run.ledger == l && (a.band == nil || a.turns.begun.Load() == 0)
}

// Event returns the event of each use.
func (a *Allowance) Event() accountant.Event { return a.event }

// stream returns the allowance's stream for all noise except the noise of gradients; the caller
// holds mu.
func (a *Allowance) stream() *entropy.Stream {
	if a.noise == nil {
		a.noise = a.run.source.Stream(entropy.Noise, a.id, 0)
	}
	return a.noise
}

// prepared caches the last sampler: most allowances use only one.
type prepared struct {
	std, grid float64
	normal    *sampler.Normal
}

// normal returns a sampler; the caller holds mu.
func (a *Allowance) normal(std, grid float64) (*sampler.Normal, error) {
	if a.last.normal != nil && a.last.std == std && a.last.grid == grid {
		return a.last.normal, nil
	}
	l, err := sampler.NewNormal(std / grid * (1 + margin))
	if err != nil {
		return nil, fmt.Errorf("noise of standard deviation %v on a grid of %v: must be 1 to 2^45 steps",
			std, grid)
	}
	a.last = prepared{std, grid, l}
	return l, nil
}

// note records the noise class on the ledger's entry, once.
func (a *Allowance) note(class ledger.NoiseClass) {
	a.notes.Lock()
	defer a.notes.Unlock()
	if slices.Contains(a.noted, class) {
		return
	}
	a.noted = append(a.noted, class)
	a.reservation.Note(class)
}

// refuse returns an ErrNotCovered. The arguments must not depend on records.
func (a *Allowance) refuse(format string, args ...any) error {
	err := fmt.Errorf("%w: %s: %s; the event is %s", ErrNotCovered, a.purpose,
		fmt.Sprintf(format, args...), accountant.Describe(a.event))
	if a.run.tap != nil {
		a.run.tap.Refuse(a.purpose, err)
	}
	return err
}
