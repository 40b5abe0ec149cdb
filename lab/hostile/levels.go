package main

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
)

// levelSubjects returns a plan that finds the levels of an open column, with records of which it
// finds some.
func levelSubjects() ([]subject, error) {
	s, err1 := records.NewSchema(records.Hashed("town", 5).WithOther("other").WithMissing(),
		records.Flag("f", "no", "yes"))
	var rows [][]any
	for i := range 90 {
		rows = append(rows, []any{[]any{"a", "b", nil}[i%3], []string{"no", "yes"}[i%2]})
	}
	data, err2 := records.FromValues(s, rows...)
	p, err3 := compose.Levels{Of: quickMERF}.PlanFor(s, accountant.Budget{Epsilon: 9, Delta: 1e-5})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("levels: %w", err)
	}
	return []subject{{"levels of merf of tables", p, data}}, nil
}
