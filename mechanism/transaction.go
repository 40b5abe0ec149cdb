package mechanism

import (
	"context"
	"errors"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// ReserveAll sets aside everything that a fit will draw, in one transaction on the ledger, and
// hands out one allowance a line. Lines of one purpose and part share a run, and thereby a key;
// others have keys of their own. See accountant.Ledger.ReserveAll for transactions with an ID.
//
// Guarantee: the ledger holds all lines before any randomness can be drawn, or none of them.
// Errors: the ledger's, of which accountant.ErrBudgetExceeded is one.
func ReserveAll(ctx context.Context, ledger *accountant.Ledger,
	t accountant.Transaction) ([]*Allowance, error) {
	if ledger == nil {
		return nil, errors.New("mechanism: a transaction needs a ledger")
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
	reservations, err := ledger.ReserveAll(t)
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

func shareKey(a, b accountant.Line) bool {
	return a.Purpose == b.Purpose && a.Group == b.Group && a.Part == b.Part
}

// Guard has f take every use of the allowance, by calling spend once; an error of f is returned by
// Next, and no grant is handed out. A run that must note its uses elsewhere first, such as in a
// file, cannot draw without having done so: f notes the use and takes it under one lock, which
// spend alone does not hold. Guard is called before the first Next.
func (a *Allowance) Guard(f func(spend func() error) error) { a.guard = f }

// RefuseWhen has f asked whenever noise is about to be drawn under a grant of the allowance, after
// the data were read. An error of f is returned by the release and by every later one of the grant;
// nothing is drawn. f depends on no record's value. RefuseWhen is called before the first Next.
func (a *Allowance) RefuseWhen(f func() error) { a.refuses = f }

// Note puts a noise class on the ledger's entry, for uses that were drawn before the allowance was
// handed out, by an interrupted run.
func (a *Allowance) Note(class accountant.NoiseClass) { a.note(class) }

// Classes returns the noise classes of what has been drawn, and what Note was told, in the order in
// which they came.
func (a *Allowance) Classes() []accountant.NoiseClass {
	a.notes.Lock()
	defer a.notes.Unlock()
	return slices.Clone(a.noted)
}

// Watched reports whether a test watches or replaces the draws of runs under this context.
func Watched(ctx context.Context) bool { return entropy.TapFrom(ctx) != nil }
