package models

// MarshalCritic writes an architecture under its name, as MarshalDensity does.
//
// Errors: *param.Error for nil; those of its JSON form.
func MarshalCritic(a CriticArchitecture) ([]byte, error) { return marshalTagged(a) }

// UnmarshalCritic reads what MarshalCritic wrote. An architecture that is not this package's is
// looked up by name among others, and used as given there.
//
// Errors: ErrFormat; mistakes in the description.
func UnmarshalCritic(data []byte, others ...CriticArchitecture) (CriticArchitecture, error) {
	return unmarshalTagged(data, others, func(name string, params []byte) (CriticArchitecture, error) {
		switch name {
		case MLP{}.Name():
			return readParams[MLP](params)
		case CNN{}.Name():
			return readParams[CNN](params)
		}
		return nil, unknownName(name)
	})
}
