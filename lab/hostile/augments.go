package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
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
		candidates []augment.Candidate
	}{
		{"merf of images", images, nil},
		{"merf of numbers", numbers, make([]augment.Candidate, 2)},
	} {
		c := augment.Config{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-5}, Records: 20,
			Candidates: of.candidates}
		c, err := c.Within(func(b accountant.Budget) (synth.Plan, error) {
			return quickMERF(of.data.Schema(), b)
		})
		if err != nil {
			return nil, fmt.Errorf("choice of a change of %s: %w", of.name, err)
		}
		p, err := c.Plan()
		if err != nil {
			return nil, fmt.Errorf("choice of a change of %s: %w", of.name, err)
		}
		list = append(list, subject{"choice of a change of " + of.name, p, of.data})
	}
	return list, nil
}
