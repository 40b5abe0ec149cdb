package synth

import (
	"errors"

	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
)

// Errors that say nothing about records.
var (
	// ErrSchema is returned for data of another schema than the plan's.
	ErrSchema = partial.ErrSchema
	// ErrData is returned where a data set of a user-defined type panics or breaks the promises of
	// records.Data. It says nothing else about it.
	ErrData = records.ErrData
	// ErrRecords is returned where a plan declares the number of records, under replace-one, and the
	// data have another.
	ErrRecords = errors.New("the number of records is not the one the plan declares")
	// ErrPlan is returned where a checkpoint belongs to another plan, or promises something about
	// another unit than the ledger.
	ErrPlan = errors.New("the checkpoint was kept under another plan")
	// ErrTaken is returned where another run uses the checkpoint, and stops a run whose checkpoint was
	// replaced or removed: two runs that go on from one file would spend one reservation twice.
	ErrTaken = errors.New("another run uses the checkpoint")
	// ErrLost is returned where interruptions lost every draw of a release that nothing can replace.
	ErrLost = errors.New("every draw of a release was lost to interruptions")
)

// Interrupted is the end of a run that kept a checkpoint: the same call goes on from there. Errors
// that the same call would meet again, such as ErrLost and ErrTaken, are returned as they are.
type Interrupted struct {
	Checkpoint string // path of the file
	Err        error  // why the run ended
}

func (e *Interrupted) Error() string {
	if e == nil || e.Err == nil {
		return "interrupted"
	}
	return e.Err.Error() + "; the same call goes on from checkpoint " + e.Checkpoint
}

// final reports whether the same call would meet the same error again.
func final(err error) bool {
	for _, f := range []error{ErrLost, ErrTaken, ErrFormat, ErrPlan} {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

// Unwrap is why the run ended.
func (e *Interrupted) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
