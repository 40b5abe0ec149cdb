package accountant

import (
	"errors"
	"fmt"
)

var (
	// ErrBudgetExceeded: what was asked for does not fit beside what is already set aside. Nothing was reserved.
	ErrBudgetExceeded = errors.New("accountant: privacy budget exceeded")
	// ErrUnsupported: no sound analysis of this event under this relation is known to the package.
	ErrUnsupported = errors.New("accountant: no sound analysis")
	// ErrReservationExhausted: every event set aside by a reservation has been taken.
	ErrReservationExhausted = errors.New("accountant: reservation exhausted")
)

// ParamError is a configuration mistake: where it is, what was found, and what would be accepted. It never
// carries a record's value.
type ParamError struct {
	Path  string // such as sgd.Config.Steps
	Value any
	Want  string
}

// Error reads `sgd.Config.Steps: 0: want a positive integer`.
func (e *ParamError) Error() string {
	return fmt.Sprintf("%s: %v: want %s", e.Path, e.Value, e.Want)
}

func unsupported(what string, r Relation) error {
	return fmt.Errorf("%w of %s under %s", ErrUnsupported, what, r)
}
