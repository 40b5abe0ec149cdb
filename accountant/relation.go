package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// Relation says which pairs of data sets a guarantee compares.
//
// An ε under one relation is a different promise from the same ε under the other: replacing a record is
// removing one and adding another.
type Relation int

const (
	// AddOrRemoveOne compares data sets that differ by the presence of one record. The number of records is private.
	AddOrRemoveOne Relation = iota
	// ReplaceOne compares data sets of one public size that differ in the content of one record.
	ReplaceOne
)

// String names the relation as it is written in files: add_or_remove_one, replace_one.
func (r Relation) String() string {
	switch r {
	case AddOrRemoveOne:
		return "add_or_remove_one"
	case ReplaceOne:
		return "replace_one"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

// Meaning spells the relation out for a reader who does not know the term.
func (r Relation) Meaning() string {
	switch r {
	case AddOrRemoveOne:
		return "neighbouring data sets differ by the presence of one record"
	case ReplaceOne:
		return "neighbouring data sets have the same size and differ in the content of one record"
	}
	return "unknown relation"
}

// MarshalText writes the name of a known relation.
func (r Relation) MarshalText() ([]byte, error) {
	if err := r.validate("accountant.Relation"); err != nil {
		return nil, err
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads a name written by MarshalText.
func (r *Relation) UnmarshalText(text []byte) error {
	switch string(text) {
	case "add_or_remove_one":
		*r = AddOrRemoveOne
	case "replace_one":
		*r = ReplaceOne
	default:
		return &param.Error{Path: "accountant.Relation", Value: string(text), Want: "add_or_remove_one or replace_one"}
	}
	return nil
}

func (r Relation) validate(path string) error {
	if r != AddOrRemoveOne && r != ReplaceOne {
		return &param.Error{Path: path, Value: int(r), Want: "AddOrRemoveOne or ReplaceOne"}
	}
	return nil
}
