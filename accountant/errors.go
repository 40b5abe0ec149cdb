package accountant

import (
	"errors"
	"fmt"
)

var (
	// ErrBudgetExceeded means that the request, together with everything already reserved, does not
	// fit in the budget. Nothing was reserved.
	ErrBudgetExceeded = errors.New("accountant: privacy budget exceeded")
	// ErrUnsupported means that the package knows no sound analysis of the event under the
	// relation.
	ErrUnsupported = errors.New("accountant: no sound analysis")
)

func unsupported(what string, r Relation) error {
	return fmt.Errorf("%w of %s under %s", ErrUnsupported, what, r)
}
