// Package system is what the systems do in the same way, whatever they train: judging what is public about a run before
// it begins, restating mistakes, drawing synthetic records, and keeping a generator in a file.
package system

import (
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// ParamErrors restates the mistakes that packages without knowledge of privacy found in public parameters as
// *accountant.ParamError, so that a caller handles one type. What it does not know it passes on.
func ParamErrors(err error) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, ParamErrors(e))
		}
		return errors.Join(out...)
	}
	var (
		shape  *records.ShapeError
		config *models.ConfigError
		kernel *rff.ParamError
	)
	switch {
	case errors.As(err, &shape):
		return &accountant.ParamError{Path: shape.Path, Value: shape.Value, Want: shape.Want}
	case errors.As(err, &config):
		return &accountant.ParamError{Path: config.Path, Value: config.Value, Want: config.Want}
	case errors.As(err, &kernel):
		return &accountant.ParamError{Path: kernel.Path, Value: kernel.Value, Want: kernel.Want}
	}
	return err
}

// A Checker collects mistakes, so that a user sees all of them at once.
type Checker struct{ errs []error }

// OK notes a mistake where good is false.
func (c *Checker) OK(good bool, path string, value any, want string) {
	if !good {
		c.errs = append(c.errs, &accountant.ParamError{Path: path, Value: value, Want: want})
	}
}

// Add notes an error, if it is one.
func (c *Checker) Add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// Err is all of them, joined; nil for none.
func (c *Checker) Err() error { return errors.Join(c.errs...) }
