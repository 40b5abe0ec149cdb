package gan

import (
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

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

// paramErrors restates the mistakes that packages without knowledge of privacy found in public parameters as
// *accountant.ParamError, so that a caller handles one type. What it does not know it passes on.
func paramErrors(err error) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, paramErrors(e))
		}
		return errors.Join(out...)
	}
	var (
		shape  *records.ShapeError
		config *models.ConfigError
	)
	switch {
	case errors.As(err, &shape):
		return &accountant.ParamError{Path: shape.Path, Value: shape.Value, Want: shape.Want}
	case errors.As(err, &config):
		return &accountant.ParamError{Path: config.Path, Value: config.Value, Want: config.Want}
	}
	return err
}

// checker collects mistakes, so that a user sees all of them at once.
type checker struct{ errs []error }

func (c *checker) ok(good bool, path string, value any, want string) {
	if !good {
		c.errs = append(c.errs, &accountant.ParamError{Path: path, Value: value, Want: want})
	}
}

func (c *checker) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) err() error { return errors.Join(c.errs...) }
