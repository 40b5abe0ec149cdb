package models

import (
	"encoding/json"
	"fmt"
)

// MarshalCritic writes an architecture under its name, as MarshalArchitecture does.
func MarshalCritic(a CriticArchitecture) ([]byte, error) {
	params, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("models: architecture %q: %w", a.Name(), err)
	}
	return json.Marshal(taggedArchitecture{a.Name(), params})
}

// UnmarshalCritic reads what MarshalCritic wrote. An architecture that is not this package's is looked for among
// others, by name, and used as it is given there.
//
// Errors: ErrFormat; mistakes in the description.
func UnmarshalCritic(data []byte, others ...CriticArchitecture) (CriticArchitecture, error) {
	var t taggedArchitecture
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	for _, o := range others {
		if o.Name() == t.Name {
			return o, nil
		}
	}
	switch t.Name {
	case MLP{}.Name():
		return readCritic[MLP](t.Params)
	case CNN{}.Name():
		return readCritic[CNN](t.Params)
	}
	return nil, fmt.Errorf("%w: unknown name %.40q", ErrFormat, t.Name)
}

func readCritic[A interface {
	CriticArchitecture
	Validate() error
}](params []byte) (CriticArchitecture, error) {
	var a A
	if err := json.Unmarshal(params, &a); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return a, a.Validate()
}
