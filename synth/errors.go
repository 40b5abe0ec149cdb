package synth

import (
	"errors"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// ParamError is the error for a mistake in a public parameter.
type ParamError = param.Error

// Errors that reveal nothing about records.
var (
	// ErrSchema is returned for data whose schema is not the plan's.
	ErrSchema = mechanism.ErrSchema
	// ErrData is returned if a data set of a user-defined type panics or violates the contract of
	// records.Data. It gives no details, since they would be private.
	ErrData = records.ErrData
	// ErrRecords is returned if a plan under replace-one declares a number of records and the data
	// contain another number.
	ErrRecords = errors.New("the number of records is not the number that the plan declares")
	// ErrPlan is returned if a checkpoint belongs to another plan, or to a ledger that protects
	// another unit.
	ErrPlan = errors.New("the checkpoint belongs to another plan")
	// ErrTaken is returned if another run uses the checkpoint, and stops a run whose checkpoint was
	// replaced or removed. Two runs that resume from one file would spend one reservation twice.
	ErrTaken = errors.New("another run uses the checkpoint")
	// ErrLost is returned if interruptions lost every share of a release. The release cannot be drawn
	// again.
	ErrLost = errors.New("every draw of a release was lost to interruptions")
)

// Interrupted is the error of a run that stopped early and left a checkpoint; the same call
// resumes from it. Errors that would occur again, such as ErrLost and ErrTaken, are returned
// unchanged.
type Interrupted struct {
	Checkpoint string // path of the file
	Err        error  // why the run ended
}

func (e *Interrupted) Error() string {
	if e == nil || e.Err == nil {
		return "interrupted"
	}
	return e.Err.Error() + "; the same call continues from checkpoint " + e.Checkpoint
}

// final reports whether the same call would fail in the same way again.
func final(err error) bool {
	for _, f := range []error{ErrLost, ErrTaken, ErrFormat, ErrPlan} {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

// Unwrap returns why the run ended.
func (e *Interrupted) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
