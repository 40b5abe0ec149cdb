package accountant

import "github.com/seed7ba64551/privgen/internal/param"

// Relation says which pairs of data sets a guarantee compares.
//
// An ε under one relation is a different guarantee from the same ε under the other: replacing a
// record is the same as removing one and adding another.
type Relation int

const (
	// AddOrRemoveOne compares data sets that differ by the presence of one record. The number of
	// records is private.
	AddOrRemoveOne Relation = iota
	// ReplaceOne compares data sets of equal, public size that differ in the content of one record.
	ReplaceOne
)

var relationNames = param.Names[Relation]{Type: "accountant.Relation", List: []string{
	AddOrRemoveOne: "add_or_remove_one", ReplaceOne: "replace_one",
}}

// String returns the name used in files: add_or_remove_one or replace_one.
func (r Relation) String() string { return relationNames.String(r) }

// MarshalText writes the name.
func (r Relation) MarshalText() ([]byte, error) { return relationNames.Marshal(r) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (r *Relation) UnmarshalText(text []byte) error { return relationNames.Unmarshal(text, r) }

// Meaning explains the relation between data sets of units, such as "user", to readers who do not
// know the term.
func (r Relation) Meaning(unit string) string {
	unit = param.OneLine(unit)
	switch r {
	case AddOrRemoveOne:
		return "neighbouring data sets differ by the presence of one " + unit
	case ReplaceOne:
		return "neighbouring data sets have the same size and differ in the content of one " + unit
	}
	return "unknown relation"
}

func (r Relation) validate(path string) error {
	if r != AddOrRemoveOne && r != ReplaceOne {
		return &param.Error{Path: path, Value: int(r), Want: "AddOrRemoveOne or ReplaceOne"}
	}
	return nil
}
