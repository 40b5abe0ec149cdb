package compose

import "github.com/seed7ba64551/privgen/internal/param"

// Rule is how the classifier is used.
type Rule int

const (
	// Keep keeps the records to which the classifier gives their own label, and replaces the other
	// records by newly generated ones. The class proportions of the part apply.
	Keep Rule = iota
	// Relabel gives every record the label that the classifier finds most probable. The class
	// proportions of the classifier's labels apply. This improves the records if the part's
	// labels are much worse than the classifier's, and makes them worse otherwise.
	Relabel
)

var ruleNames = param.Names[Rule]{Type: "compose.Rule", List: []string{Keep: "keep",
	Relabel: "relabel"}}

// String returns the name.
func (r Rule) String() string { return ruleNames.String(r) }

// MarshalText writes the name.
func (r Rule) MarshalText() ([]byte, error) { return ruleNames.Marshal(r) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }
