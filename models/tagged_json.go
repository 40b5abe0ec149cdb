package models

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/seed7ba64551/privgen/internal/param"
)

// tagged is the form of an architecture in a file: its name and its parameters.
type tagged struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

type named interface{ Name() string }

// MarshalArchitecture writes an architecture with its name. A user-defined architecture is written
// in its own JSON form. To read it, pass an equal architecture to [UnmarshalDensity],
// [UnmarshalGenerator] or [UnmarshalCritic].
//
// Errors: *param.Error if a is nil; errors of json.Marshal.
func MarshalArchitecture(a interface{ Name() string }) ([]byte, error) {
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
// unchanged. Otherwise it reads the parameters of the architecture of this package that has the
// name.
func unmarshalTagged[A named](data []byte, others []A, ours ...A) (none A, err error) {
	var t tagged
	if err := param.Decode(data, &t); err != nil {
		return none, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	for _, o := range others {
		if any(o) != nil && o.Name() == t.Name {
			return o, nil
		}
	}
	for _, o := range ours {
		if o.Name() == t.Name {
			return readParams(o, t.Params)
		}
	}
	return none, fmt.Errorf("%w: unknown name %.40q", ErrFormat, t.Name)
}

// readParams reads and validates the fields of an architecture of the same type as like.
func readParams[A named](like A, params []byte) (none A, err error) {
	a := reflect.New(reflect.TypeOf(like))
	if err := param.Decode(params, a.Interface()); err != nil {
		return none, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if err := a.Interface().(interface{ Validate() error }).Validate(); err != nil {
		return none, err
	}
	return a.Elem().Interface().(A), nil
}
