package ledger

import "github.com/seed7ba64551/privgen/accountant"

// DPAccountingScript returns a Python program that prices everything reserved on the ledger with
// dp_accounting.
//
// Errors: the errors of [DPAccountingScript]; ErrDamaged and the errors of the journal, because the
// reservations of other processes are then unknown.
func (l *Ledger) DPAccountingScript() (string, error) {
	if err := l.shared.refresh(); err != nil {
		return "", err
	}
	l.shared.state.Lock()
	e, fault := l.event(nil, nil, 0), l.shared.root.fault
	l.shared.state.Unlock()
	if fault != nil {
		return "", fault
	}
	return accountant.DPAccountingScript(e, l.budget.Delta, l.Relation())
}
