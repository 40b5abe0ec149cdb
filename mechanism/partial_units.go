package mechanism

import (
	"maps"

	"github.com/seed7ba64551/privgen/records"
)

// units is the unit of the records added so far.
type units struct {
	who   string // the unit, "" before any record
	parts parts  // parts that contain the units
}

// note adds the unit of further records. The unit stays the same while all records have it. If
// units differ, or if a unit larger than a record may be in two pieces, the unit becomes
// records.UnitPart.
func (u *units) note(o units) {
	switch {
	case o.who == "":
	case u.who == "":
		u.who, u.parts = o.who, parts{o.parts.of, maps.Clone(o.parts.held)}
	case u.who == records.UnitRecord && o.who == records.UnitRecord:
	case u.who != o.who || !u.parts.add(o.parts):
		u.who = records.UnitPart
	}
}

// parts holds the parts of all units, for example of all users, that pieces of records state; see
// records.WithPart. The zero value is for a piece that states no part.
type parts struct {
	of   int
	held map[int]bool
}

func unitsOf(d records.Data) units {
	part, of := records.PartOf(d)
	if of == 0 {
		return units{who: records.UnitOf(d)}
	}
	return units{records.UnitOf(d), parts{of, map[int]bool{part: true}}}
}

// add adds the parts of another piece, and reports whether no unit can be in both.
func (p parts) add(o parts) bool {
	if p.of == 0 || p.of != o.of {
		return false
	}
	for part := range o.held {
		if p.held[part] {
			return false
		}
		p.held[part] = true
	}
	return true
}
