package models

// UnmarshalCritic reads an architecture that [MarshalArchitecture] wrote. If others contains an
// architecture of the same name, that value is returned unchanged.
//
// Errors: ErrFormat for malformed JSON and unknown names; the errors of Validate for an invalid
// description.
func UnmarshalCritic(data []byte, others ...CriticArchitecture) (CriticArchitecture, error) {
	return unmarshalTagged[CriticArchitecture](data, others, MLP{}, CNN{})
}
