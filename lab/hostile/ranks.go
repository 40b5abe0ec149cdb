package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// rankSubjects returns systems that are fitted to ranks of numbers of a table.
func rankSubjects(tables records.Data) (list []subject, err error) {
	for name, of := range map[string]synth.Design{"merf": quickMERF, "aim": quickAIM} {
		p, err := compose.Ranks{Of: of, Cells: 5}.PlanFor(tables.Schema(),
			accountant.Budget{Epsilon: 3, Delta: 1e-5})
		if err != nil {
			return nil, fmt.Errorf("%s on ranks: %w", name, err)
		}
		list = append(list, subject{name + " on ranks of tables", p, tables})
	}
	return list, nil
}
