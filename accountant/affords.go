package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// Affords reports whether one use of e would fit in the budget besides everything reserved. It
// reserves nothing. A caller that will make several reservations and must not start without all
// of them passes their composition first. The ledger prices e as it prices reservations. Another
// process may reserve before the caller does, and the policy is not consulted.
//
// Errors: nil if it fits; ErrBudgetExceeded, ErrUnsupported, *param.Error.
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
		return fmt.Errorf("accountant: ε = %.4g, the budget is %.4g: %w",
			cost.Upper, root.budget.Epsilon, ErrBudgetExceeded)
	}
	return nil
}
