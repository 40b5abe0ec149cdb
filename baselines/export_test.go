package baselines

import "github.com/seed7ba64551/privgen/synth"

// ModelCells is how many cells the tables of a graphical model have.
func ModelCells(m synth.Model) int {
	cells := 0.0
	own := m.(*tableModel).model
	for _, c := range own.Tree.Cliques {
		cells += own.Domain.Cells(c.Attributes)
	}
	return int(cells)
}
