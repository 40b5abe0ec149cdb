package partial

import (
	"maps"

	"github.com/seed7ba64551/privgen/records"
)

// units is whose contributions are protected in what was added so far.
type units struct {
	who   string // the unit, "" before any record
	parts parts  // that the units are in
}

// note keeps the unit of the records while all of them have the same one. Where units differ, and
// where one that is more than a record may be in two pieces, they are records.UnitPart.
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

// parts are the parts of all units, users for example, that some pieces of records state: see
// records.WithPart. The zero value is that of a piece that states none.
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

// add joins the parts of two pieces, and reports whether no unit can be in both.
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
