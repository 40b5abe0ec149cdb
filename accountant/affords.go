package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// Affords says whether e would fit, once, beside everything set aside, and sets nothing aside. It
// is for those who will make several reservations and must not begin unless all of them can be had:
// their sum is asked about first, composed. The answer is the ledger's own, by whatever it prices
// with; another process may reserve before the caller does, and the policy is not asked.
//
// Errors: nil where it fits; ErrBudgetExceeded, ErrUnsupported, *param.Error.
func (l *Ledger) Affords(e Event) error {
	if e == nil {
		return param.New("accountant.Ledger.Affords.e", nil, "an event")
	}
	key, err := eventKey(e)
	if err != nil {
		return err
	}
	own, err := UnmarshalEvent([]byte(key))
	if err != nil {
		return err
	}
	if err := l.shared.refresh(); err != nil {
		return err
	}
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	root := l.shared.root
	if root.fault != nil {
		return root.fault
	}
	cost, err := root.bound(root.event(l, own, 1), false)
	if err != nil {
		return err
	}
	if cost.Upper > root.budget.Epsilon {
		return fmt.Errorf("accountant: ε = %.4g of %.4g: %w",
			cost.Upper, root.budget.Epsilon, ErrBudgetExceeded)
	}
	return nil
}
