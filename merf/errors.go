package merf

import "errors"

// Errors that say nothing about records.
var (
	// ErrSchema is returned for data of another schema than the plan's.
	ErrSchema = errors.New("merf: the data's schema is not the plan's")
	// ErrPrivate is the refusal to write private sums that no noise has been added to.
	ErrPrivate = errors.New("merf: sums without noise are private and cannot be written")
)
