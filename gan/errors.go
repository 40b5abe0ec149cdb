package gan

import "errors"

// Errors that say nothing about records.
var (
	// ErrSchema is returned for data of another schema than the plan's.
	ErrSchema = errors.New("gan: the data's schema is not the plan's")
	// ErrPlan is returned where a checkpoint belongs to another plan.
	ErrPlan = errors.New("gan: the checkpoint was kept under another plan")
	// ErrTaken stops a run whose checkpoint file another run has written since: two that go on from one file would
	// spend one reservation twice.
	ErrTaken = errors.New("gan: another run has taken over the checkpoint")
)
