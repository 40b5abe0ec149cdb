package mix

import (
	"errors"

	"github.com/seed7ba64551/privgen/param"
)

// Errors of Fit about what is public.
var (
	// ErrSchema is returned when data of another schema than the plan's are mixed.
	ErrSchema = errors.New("mix: the data's schema is not the plan's")
	// ErrRecords is returned under replace-one, where the number of records is public, when it is not the plan's.
	ErrRecords = errors.New("mix: the number of records is not the one the plan declares")
)

// mistake is one in a public parameter.
func mistake(path string, value any, want string) error {
	return &param.Error{Path: "mix." + path, Value: value, Want: want}
}
