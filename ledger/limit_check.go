package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Refusal is an ErrBudgetExceeded that states why a reservation was refused, how much budget was
// left and how many uses would have fitted.
type Refusal struct {
	Limit   string  // what was exceeded: the budget, or a limit in words
	Purpose string  // of the request
	Spent   float64 // ε of everything that the limit counts, without the request
	Asked   float64 // ε with the request
	Allowed float64 // largest ε that the limit allows
	// Fits is a lower bound of the number of uses of the requested event that would have fitted. It
	// is -1 if it was not computed, as for transactions.
	Fits int
}

// Error implements error.
func (r *Refusal) Error() string {
	s := fmt.Sprintf("%v: %q would bring ε to %s; %s allows %g, of which %s is reserved",
		accountant.ErrBudgetExceeded, r.Purpose, beyond(r.Asked, r.Allowed), r.Limit, r.Allowed,
		accountant.FormatUpper(r.Spent, 4))
	switch {
	case r.Fits == 0:
		s += "; no use would fit"
	case r.Fits == 1:
		s += "; 1 use would fit"
	case r.Fits > 1:
		s += fmt.Sprintf("; %d uses would fit", r.Fits)
	}
	return s
}

// Unwrap makes the refusal an ErrBudgetExceeded.
func (r *Refusal) Unwrap() error { return accountant.ErrBudgetExceeded }

// WithApproval installs the hook for limits with Approvals. It returns the names of the people who
// approve a request, which the ledger's lines name. It may ask people and wait for their answers.
// It must not reserve on the ledger. Without the hook such a limit cannot be exceeded.
func WithApproval(f func(Request) ([]string, error)) Option {
	return func(l *Ledger) { l.approve = f }
}

// String returns the limit in words.
func (m Limit) String() string {
	s := "the limit"
	if m.PerRelease {
		s += " for one release"
	}
	if m.Purpose != "" {
		s += fmt.Sprintf(" for %q", m.Purpose)
	}
	if m.Window > 0 {
		s += fmt.Sprintf(" within %v", m.Window)
	}
	if m.Approvals > 0 {
		s += fmt.Sprintf(" without the approval of %d people", m.Approvals)
	}
	return s
}

// limits checks the limits of the ledger's terms and returns the number of people who must approve.
// The caller holds the state lock.
func (l *Ledger) limits(ctx context.Context, purpose string, u uses) (approvals int, err error) {
	if l.shared.journal == nil {
		return 0, nil
	}
	return l.shared.journal.limits(ctx, l, purpose, u)
}

func (j *journaled) checkLimits(ctx context.Context, l *Ledger, purpose string,
	u uses) (approvals int, err error) {
	root := l.shared.root
	windows := j.windows
	for _, m := range j.terms.Limits {
		var before accountant.Event = accountant.Composed{}
		if m.Window > 0 {
			before, windows = windows[0].event(j.time()), windows[1:]
		}
		e := u(m.Purpose)
		if e == nil {
			continue
		}
		with := accountant.Event(accountant.Composed{Events: []accountant.Event{before, e}})
		if !m.PerRelease && m.Window == 0 {
			before = root.eventFor(m.Purpose, nil, nil)
			with = root.eventFor(m.Purpose, l, e)
		}
		cost, err := root.bound(ctx, with, false)
		if err != nil {
			return 0, err
		}
		if cost.Upper <= m.Epsilon {
			continue
		}
		if m.Approvals > 0 && root.approve != nil {
			approvals = max(approvals, m.Approvals)
			continue
		}
		return 0, root.refusal(ctx, m.String(), purpose, m.Epsilon, before, cost.Upper)
	}
	return approvals, nil
}

func (l *Ledger) refusal(ctx context.Context, limit, purpose string, allowed float64,
	before accountant.Event, asked float64) *Refusal {
	spent := math.Inf(1)
	if r, err := l.bound(ctx, before, false); err == nil {
		spent = r.Upper
	}
	return &Refusal{Limit: limit, Purpose: purpose, Spent: spent, Asked: asked, Allowed: allowed,
		Fits: -1}
}

// askApproval asks for approvals and returns the names.
func (l *Ledger) askApproval(r Request, approvals int) ([]string, error) {
	names, err := l.shared.root.approve(r)
	if err != nil {
		return nil, err
	}
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
	if len(names) < approvals {
		return nil, fmt.Errorf("ledger: %q: %d people approve, want at least %d: %w", r.Purpose,
			len(names), approvals, errNotApproved)
	}
	for _, name := range names {
		if err := checkPurpose("ledger.Approval", name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

var errNotApproved = errors.New("ledger: not approved")

// usesOf returns count uses of one event for one purpose.
func usesOf(purpose string, e accountant.Event, count int) uses {
	return func(p string) accountant.Event {
		if p != "" && p != purpose {
			return nil
		}
		return accountant.Repeated{Event: e, Count: count}
	}
}

// uses returns the transaction's event for one purpose.
func (t Transaction) uses(lines []*placedLine) uses {
	return func(purpose string) accountant.Event {
		var some []*placedLine
		for _, p := range lines {
			if purpose == "" || p.line.Purpose == purpose {
				some = append(some, p)
			}
		}
		if len(some) == 0 {
			return nil
		}
		return t.event(some)
	}
}

// window holds the uses that a limit with a window counts. Times are rounded to steps of 1/64 of
// the window, and equal events in one step share an entry. So the size grows with the number of
// distinct events, and not with the number of lines.
type window struct {
	limit Limit
	uses  []windowUse
}

type windowUse struct {
	Step  int64  `json:"step"`
	Event string `json:"event"` // its text
	Count int    `json:"count"`
}

// windowSteps is the number of steps in a window. A step counts until all of it has left the
// window.
const windowSteps = 64

func (w *window) step(t time.Time) int64 {
	length := max(1, int64(w.limit.Window)/windowSteps)
	seconds, nanos := t.Unix(), int64(t.Nanosecond())
	if seconds > math.MaxInt64/int64(time.Second)-1 || seconds < 0 {
		return math.MaxInt64 / 2
	}
	return (seconds*int64(time.Second) + nanos) / length
}

// remember adds a reservation made at the time at to all windows; the caller holds the state lock.
func (j *journaled) remember(at time.Time, u uses) {
	for _, w := range j.windows {
		if e := u(w.limit.Purpose); e != nil {
			w.add(at, e)
		}
	}
}

func (w *window) add(at time.Time, e accountant.Event) {
	now := w.step(at)
	w.uses = slices.DeleteFunc(w.uses, func(u windowUse) bool { return u.gone(now) })
	key, err := keyOf(e)
	if err != nil {
		key = "" // an event that cannot be priced
	}
	for i := range w.uses {
		if u := &w.uses[i]; u.Step == now && u.Event == key && u.Count < maxCount {
			u.Count++
			return
		}
	}
	w.uses = append(w.uses, windowUse{now, key, 1})
}

// gone reports whether the whole step has left a window that ends in the step now.
func (u windowUse) gone(now int64) bool { return now-u.Step > windowSteps }

// event returns all uses that count at the time at.
func (w *window) event(at time.Time) accountant.Event {
	now, all := w.step(at), accountant.Composed{}
	for _, u := range w.uses {
		if u.gone(now) {
			continue
		}
		e, err := accountant.UnmarshalEvent([]byte(u.Event))
		if err != nil {
			return nil // bound returns an error for it
		}
		all.Events = append(all.Events, accountant.Repeated{Event: e, Count: u.Count})
	}
	return all
}

// beyond writes x, which exceeds a limit, like FormatUpper with four digits. It uses more digits if
// the difference from the limit would otherwise be shown as more than twice its size.
func beyond(x, limit float64) string {
	for digits := 4; digits < 17; digits++ {
		text := accountant.FormatUpper(x, digits)
		if shown, err := strconv.ParseFloat(text, 64); err != nil || !(shown-limit > 2*(x-limit)) {
			return text
		}
	}
	return accountant.FormatUpper(x, 17)
}
