package param

import "fmt"

// Error describes a mistake in a public parameter: its place, the given value and the accepted
// values. It never carries a record's value.
type Error struct {
	Path  string // such as "sgd.Config.Steps"
	Value any
	Want  string
}

// New returns the error for one mistake.
func New(path string, value any, want string) *Error {
	return &Error{Path: path, Value: value, Want: want}
}

// Error returns a text such as `sgd.Config.Steps: 0: want a positive integer`.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v: want %s", e.Path, e.Value, e.Want) }
