package records

import "github.com/seed7ba64551/privgen/param"

// The units that one record can be.
const (
	UnitRecord = "record" // a row as it was read: a person may have several
	UnitUser   = "user"   // all that one person contributes
)

// UnitOf says whose presence a guarantee about these records protects: UnitRecord where
// nothing says otherwise, UnitUser where every row holds all that one person contributes,
// bounded by the schema. Data of any type may state it by a method Unit() string.
func UnitOf(d Data) string {
	if u, ok := d.(interface{ Unit() string }); ok && u.Unit() != "" {
		return u.Unit()
	}
	return UnitRecord
}

// WithUnit returns the same records with the statement that each is all that one such unit
// contributes: the caller's to answer for. No records stay none.
func WithUnit(d Data, unit string) Data {
	if d == nil {
		return nil
	}
	return stated{d, unit}
}

// given refuses data that are missing.
func given(path string, d Data) error {
	if d == nil {
		return param.New(path, nil, "records")
	}
	return nil
}

type stated struct {
	Data
	unit string
}

func (s stated) Unit() string { return s.unit }
