package models

// MarshalCritic writes an architecture under its name, as MarshalDensity does.
//
// Errors: *param.Error if a is nil; errors of json.Marshal.
func MarshalCritic(a CriticArchitecture) ([]byte, error) { return marshalTagged(a) }

// UnmarshalCritic reads an architecture that MarshalCritic wrote. If others contains an
// architecture of the same name, that value is returned unchanged.
//
// Errors: ErrFormat for malformed JSON and unknown names; the errors of Validate for an invalid
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
