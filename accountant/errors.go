package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

var (
	// ErrBudgetExceeded means that the request, together with everything already reserved, does not
	// fit in the budget. Nothing was reserved.
	ErrBudgetExceeded = errors.New("accountant: privacy budget exceeded")
	// ErrUnsupported means that the package knows no sound analysis of the event under the
	// relation.
	ErrUnsupported = errors.New("accountant: no sound analysis")
	// ErrReservationExhausted means that all uses of a reservation have been taken.
	ErrReservationExhausted = errors.New("accountant: reservation exhausted")
)

// ParamError is the module's error for a mistake in a public parameter.
type ParamError = param.Error

func unsupported(what string, r Relation) error {
	return fmt.Errorf("%w of %s under %s", ErrUnsupported, what, r)
}
