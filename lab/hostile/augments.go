package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
)

// augmentSubjects returns choices among changes of images, and choices among candidates that change
// nothing for numbers.
func augmentSubjects(numbers records.Data) (list []subject, err error) {
	images, err := labelledImages()
	if err != nil {
		return nil, err
	}
	for _, of := range []struct {
		name       string
		data       records.Data
		candidates []compose.Change
	}{
		{"merf of images", images, nil},
		{"merf of numbers", numbers, make([]compose.Change, 2)},
	} {
		c := compose.Changes{Of: quickMERF, Records: 20, Candidates: of.candidates}
		p, err := c.PlanFor(of.data.Schema(), accountant.Budget{Epsilon: 3, Delta: 1e-5})
		if err != nil {
			return nil, fmt.Errorf("choice of a change of %s: %w", of.name, err)
		}
		list = append(list, subject{"choice of a change of " + of.name, p, of.data})
	}
	return list, nil
}
