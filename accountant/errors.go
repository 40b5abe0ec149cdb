package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

var (
	// ErrBudgetExceeded: the request does not fit besides what is already reserved. Nothing was
	// reserved.
	ErrBudgetExceeded = errors.New("accountant: privacy budget exceeded")
	// ErrUnsupported: no sound analysis of this event under this relation is known to the package.
	ErrUnsupported = errors.New("accountant: no sound analysis")
	// ErrReservationExhausted: all uses of a reservation have been taken.
	ErrReservationExhausted = errors.New("accountant: reservation exhausted")
)

// ParamError is the module's error for a mistake in a public parameter.
type ParamError = param.Error

func unsupported(what string, r Relation) error {
	return fmt.Errorf("%w of %s under %s", ErrUnsupported, what, r)
}
