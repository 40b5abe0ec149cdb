package ledger

import (
	"errors"
	"math"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A Limit is a policy stored as data: it restricts reservations more than the budget does. It is
// part of a ledger's [Terms], so that every process applies it. A limit prices events in the same
// way as its ledger, at the budget's δ.
//
// The total ε of all reservations to which the limit applies stays at or below Epsilon. If
// PerRelease is set, the ε of each reservation or transaction stays at or below Epsilon instead.
type Limit struct {
	// Purpose restricts the limit to reservations for this purpose; empty for all.
	Purpose string `json:"purpose,omitempty"`
	// PerRelease applies the limit to each reservation or transaction by itself.
	PerRelease bool `json:"per_release,omitempty"`
	// Window restricts the limit to reservations made within this duration before the present, by the
	// times of the lines; 0 means that all reservations count. Times never go back: if one clock is
	// ahead, the windows of all processes keep their content until the other clocks have caught up.
	Window time.Duration `json:"window,omitempty"`
	// Epsilon is the largest permitted ε.
	Epsilon float64 `json:"epsilon"`
	// Approvals is the number of different people who must approve a reservation beyond the limit.
	// They approve through the hook of [WithApproval]. 0 means that the limit cannot be exceeded.
	Approvals int `json:"approvals,omitempty"`
}

func (m Limit) validate(path string) error {
	var errs []error
	if !(m.Epsilon > 0) || math.IsInf(m.Epsilon, 0) {
		errs = append(errs, param.New(path+".Epsilon", m.Epsilon, "a positive finite number"))
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
