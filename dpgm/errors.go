package dpgm

import (
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// paramErrors restates the mistakes that packages without knowledge of privacy
// found in public parameters as *accountant.ParamError, so that a caller
// handles one type. What it does not know it passes on.
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
