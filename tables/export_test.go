package tables

import (
	"flag"

	"github.com/seed7ba64551/privgen/synth"
)

var Long = flag.Bool("long", false, "learn tables of 20,000 rows, and replay more fits, too")

// ModelCells returns the number of cells of the tables of a graphical model.
func ModelCells(m synth.Model) int {
	cells := 0.0
	own := m.(*model).model
	for _, c := range own.Tree.Cliques {
		cells += own.Domain.Cells(c.Attributes)
	}
	return int(cells)
}
