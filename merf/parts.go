package merf

import "github.com/seed7ba64551/privgen/records"

// parts holds the parts of all units, such as users, that pieces of records state; see
// records.WithPart. The zero value stands for a piece that states none.
type parts struct {
	of   int
	held map[int]bool
}

func partOf(d records.Data) parts {
	part, of := records.PartOf(d)
	if of == 0 {
		return parts{}
	}
	return parts{of, map[int]bool{part: true}}
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
