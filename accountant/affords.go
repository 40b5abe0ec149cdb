package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Affords reports whether one use of e would fit in the budget together with everything reserved.
// It reserves nothing. The ledger prices e in the same way as a reservation. A caller that needs
// several reservations, and must not start without all of them, first asks with their composition.
// Another process may still reserve before the caller does. The policy is not consulted.
//
// Errors: nil if it fits; ErrBudgetExceeded, ErrUnsupported, *param.Error.
func (l *Ledger) Affords(e Event) error {
	if e == nil {
		return param.New("accountant.Ledger.Affords.e", nil, "an event")
	}
	own, _, err := owned(e)
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
	if !(cost.Upper <= root.budget.Epsilon) {
		return fmt.Errorf("accountant: ε = %s, the budget is %g: %w",
			beyond(cost.Upper, root.budget.Epsilon), root.budget.Epsilon, ErrBudgetExceeded)
	}
	return nil
}
