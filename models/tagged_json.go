package models

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// tagged is the form of an architecture in a file: its name and its parameters.
type tagged struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

type named interface{ Name() string }

func marshalTagged(a named) ([]byte, error) {
	if a == nil {
		return nil, param.New("models: architecture", nil, "an architecture, not nil")
	}
	params, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("models: architecture %q: %w", a.Name(), err)
	}
	return json.Marshal(tagged{a.Name(), params})
}

// unmarshalTagged first looks for the name among others, and returns the architecture found there
// unchanged. Otherwise it calls own, which reads the parameters of this package's architectures.
func unmarshalTagged[A named](data []byte, others []A,
	own func(name string, params []byte) (A, error)) (A, error) {
	var none A
	var t tagged
	if err := param.Decode(data, &t); err != nil {
		return none, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	for _, o := range others {
		if any(o) != nil && o.Name() == t.Name {
			return o, nil
		}
	}
	a, err := own(t.Name, t.Params)
	if err != nil {
		return none, err
	}
	return a, nil
}

// readParams reads and validates an architecture's own fields.
func readParams[A interface{ Validate() error }](params []byte) (A, error) {
	var a A
	if err := param.Decode(params, &a); err != nil {
		return a, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return a, a.Validate()
}

func unknownName(name string) error { return fmt.Errorf("%w: unknown name %.40q", ErrFormat, name) }
