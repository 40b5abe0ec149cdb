package models

// MarshalCritic writes an architecture under its name, as MarshalDensity does.
//
// Errors: *param.Error if a is nil; errors of json.Marshal.
func MarshalCritic(a CriticArchitecture) ([]byte, error) { return marshalTagged(a) }

// UnmarshalCritic reads what MarshalCritic wrote. An architecture from outside this package is
// looked up by name among others and returned as given there.
//
// Errors: ErrFormat for malformed JSON and unknown names; those of Validate for a wrong
// description.
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
