package ledger

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
)

// asking calls the policy and the approval hook once for each reservation, even if the ledger must
// decide again because other processes reserved first.
type asking struct {
	ctx    context.Context
	ledger *Ledger
	names  []string // names of the people who approved
	asked  int      // policy requests that were allowed
}

// ask passes the requests to the policy, and asks for the approvals that limits demand. u returns
// the event that the requests reserve for a purpose.
func (a *asking) ask(u uses, purpose string, requests ...Request) error {
	l := a.ledger
	for l.policy != nil && a.asked < len(requests) {
		r := requests[a.asked]
		r.Event = frozen(r.Event) // the policy may change its copy
		if err := l.policy(r); err != nil {
			return err
		}
		a.asked++
	}
	l.shared.state.Lock()
	need, err := l.limits(a.ctx, purpose, u)
	l.shared.state.Unlock()
	if err != nil || need <= len(a.names) {
		return err
	}
	whole := Request{purpose, frozen(u("")), 1, l.Relation()}
	a.names, err = l.askApproval(whole, need)
	return err
}

// overBudget returns the error for count uses of e that do not fit. The caller holds the state
// lock.
func (root *Ledger) overBudget(at *Ledger, purpose string, e accountant.Event, count int) error {
	r, err := root.bound(context.Background(), root.event(at, e, count), false)
	if err != nil {
		return fmt.Errorf("ledger: %q: %w", purpose, err)
	}
	out := root.refusal(context.Background(), "the budget", purpose, root.budget.Epsilon,
		root.event(nil, nil, 0), r.Upper)
	out.Fits = root.room(at, e, count)
	return out
}

// room returns a lower bound, below count, of the number of uses of e that fit. The bound is for
// error messages, so room computes only a few prices.
func (root *Ledger) room(at *Ledger, e accountant.Event, count int) int {
	const prices = 24
	low, high := 0, count // low fits, high does not
	for i := 0; i < prices && high-low > 1; i++ {
		mid := low + (high-low)/2
		if ok, err := fitsBudget(root, at, e, mid); err == nil && ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
