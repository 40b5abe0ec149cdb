package mix

import (
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// Errors of Fit about what is public.
var (
	// ErrSchema is returned when data of another schema than the plan's are mixed.
	ErrSchema = errors.New("mix: the data's schema is not the plan's")
	// ErrRecords is returned under replace-one, where the number of records is public, when it is not the plan's.
	ErrRecords = errors.New("mix: the number of records is not the one the plan declares")
)

// paramErrors restates the mistakes that packages without knowledge of privacy found in public parameters as
// *accountant.ParamError, so that a caller handles one type.
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

// mistake is one in a public parameter.
func mistake(path string, value any, want string) error {
	return &accountant.ParamError{Path: "mix." + path, Value: value, Want: want}
}
