package mechanism

import (
	"context"
	"errors"
	"slices"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// ReserveAll reserves everything that a fit will draw, in one transaction on the ledger, and
// returns one allowance per line. Consecutive lines of one purpose and part share a run, and so a
// key; other lines have separate keys. See ledger.Ledger.ReserveAll for transactions with an
// ID.
//
// Guarantee: the ledger holds all lines before any randomness can be drawn, or none of them.
// Errors: the errors of the ledger, such as accountant.ErrBudgetExceeded.
func ReserveAll(ctx context.Context, ledger *ledger.Ledger,
	t ledger.Transaction) ([]*Allowance, error) {
	if ledger == nil {
		return nil, errors.New("mechanism.ReserveAll.ledger: nil: want a ledger")
	}
	runs := make([]*Run, len(t.Lines))
	for i := range t.Lines {
		if i > 0 && shareKey(t.Lines[i-1], t.Lines[i]) {
			runs[i] = runs[i-1]
			continue
		}
		if runs[i] = Begin(ctx, ledger); runs[i].failed != nil {
			return nil, runs[i].failed
		}
	}
	reservations, err := ledger.ReserveAllContext(ctx, t)
	out := make([]*Allowance, len(reservations))
	for i, line := range t.Lines {
		count := line.Count
		if err == nil {
			count = reservations[i].Remaining()
		}
		if count > 0 || err != nil {
			runs[i].tellSpend(line.Purpose, line.Event, count, err)
		}
		if err == nil {
			out[i] = runs[i].allowance(line.Purpose, reservations[i].Event(), reservations[i])
		}
	}
	return out, err
}

func shareKey(a, b ledger.Line) bool {
	return a.Purpose == b.Purpose && a.Group == b.Group && a.Part == b.Part
}

// Guard lets f take every use of the allowance: f must call spend once. If f returns an error, Next
// returns that error and no grant. f may first record the use elsewhere, such as in a file, under a
// lock that also covers spend. Call Guard before the first Next.
func (a *Allowance) Guard(f func(spend func() error) error) { a.guard = f }

// RefuseWhen calls f whenever noise is about to be drawn under a grant of the allowance, after the
// data were read. If f returns an error, the release and every later release of the grant return
// this error and draw nothing. f must not depend on a record's value. Call RefuseWhen before the
// first Next.
func (a *Allowance) RefuseWhen(f func() error) { a.refuses = f }

// Note records a noise class on the ledger's entry, for uses that an interrupted run drew before.
func (a *Allowance) Note(class ledger.NoiseClass) { a.note(class) }

// Classes returns the noise classes of all draws and of all calls of Note, in order.
func (a *Allowance) Classes() []ledger.NoiseClass {
	a.notes.Lock()
	defer a.notes.Unlock()
	return slices.Clone(a.noted)
}

// Watched reports whether a test watches or replaces the draws of runs under this context.
func Watched(ctx context.Context) bool { return entropy.TapFrom(ctx) != nil }
