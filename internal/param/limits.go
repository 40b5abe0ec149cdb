package param

import (
	"cmp"
	"errors"
	"fmt"
)

// Limits bounds the cost of parsing a document of unknown origin before it is parsed: every few
// bytes of JSON may allocate a struct. The zero value has safe defaults.
type Limits struct {
	Depth  int // nesting of lists and objects; 0 means 64
	Values int // number of values, counted by their separators; 0 means 100,000
}

const (
	defaultDepth  = 64
	defaultValues = 100_000
)

// ErrTooMuch is returned for a document that exceeds its limits.
var ErrTooMuch = errors.New("the JSON document exceeds its limits")

// Check counts the values of a document and measures their nesting, without allocating memory. It
// does not check that the document is valid JSON.
//
// Errors: ErrTooMuch.
func (l Limits) Check(document []byte) error {
	most, deepest := cmp.Or(l.Values, defaultValues), cmp.Or(l.Depth, defaultDepth)
	values, depth := Size(document)
	if depth > deepest {
		return fmt.Errorf("%w: nested more than %d deep", ErrTooMuch, deepest)
	}
	if values > most {
		return fmt.Errorf("%w: more than %d values", ErrTooMuch, most)
	}
	return nil
}

// Size returns the number of values of a document and how deep they are nested.
func Size[T string | []byte](document T) (values, deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(document); i++ {
		switch c := document[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			values++
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		case c == ',':
			values++
		}
	}
	return values, deepest
}
