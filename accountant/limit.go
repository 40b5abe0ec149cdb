package accountant

import (
	"errors"
	"time"

	"github.com/seed7ba64551/privgen/param"
)

// A Limit is a policy as data: it refuses some of what the budget would allow. It is written into
// a ledger's [Terms], so that every process applies it. Every ε is priced as the ledger prices, at
// the budget's δ.
//
// Of everything to which the limit applies, ε stays at or below Epsilon; where PerRelease is set, ε
// of each reservation or transaction does.
type Limit struct {
	// Purpose restricts the limit to reservations for this purpose; empty for all.
	Purpose string `json:"purpose,omitempty"`
	// PerRelease applies the limit to each reservation or transaction by itself.
	PerRelease bool `json:"per_release,omitempty"`
	// Window restricts the limit to what was set aside in the last so many nanoseconds, by the times
	// of the lines; 0 for ever. Times never go back: a clock that is ahead makes the windows of all
	// processes hold what they hold until the others have caught up with it.
	Window time.Duration `json:"window,omitempty"`
	// Epsilon is the most that is allowed.
	Epsilon float64 `json:"epsilon"`
	// Approvals makes the limit one above which so many different people must approve, by the hook of
	// [WithApproval], instead of one that is never passed.
	Approvals int `json:"approvals,omitempty"`
}

func (m Limit) validate(path string) error {
	var errs []error
	if err := positive(path+".Epsilon", m.Epsilon); err != nil {
		errs = append(errs, err)
	}
	if m.Window < 0 || m.PerRelease && m.Window != 0 {
		errs = append(errs, param.New(path+".Window", m.Window,
			"zero or a positive duration; zero for a limit per release"))
	}
	if m.Approvals < 0 {
		errs = append(errs, param.New(path+".Approvals", m.Approvals, "a number of people, or 0"))
	}
	return errors.Join(errs...)
}
