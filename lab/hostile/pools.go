package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// poolSubjects returns a pool of two systems of tables.
func poolSubjects(tables records.Data) ([]subject, error) {
	p, err := compose.Pool{Of: []synth.Design{quickMERF, quickAIM}, Shares: []float64{1, 2}}.PlanFor(
		tables.Schema(), accountant.Budget{Epsilon: 3, Delta: 1e-5})
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return []subject{{"pool of merf and gan of tables", p, tables}}, nil
}
