package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/quantiles"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// rankSubjects returns systems that are fitted to ranks of numbers of a table.
func rankSubjects(tables records.Data) (list []subject, err error) {
	for name, plan := range map[string]func(records.Schema, accountant.Budget) (synth.Plan, error){
		"merf": quickMERF, "gan": quickGAN} {
		c, err := quantiles.Config{Schema: tables.Schema(), Cells: 5,
			Budget: accountant.Budget{Epsilon: 3, Delta: 1e-5}}.Within(plan)
		if err != nil {
			return nil, fmt.Errorf("%s on ranks: %w", name, err)
		}
		p, err := c.Plan()
		if err != nil {
			return nil, fmt.Errorf("%s on ranks: %w", name, err)
		}
		list = append(list, subject{name + " on ranks of tables", p, tables})
	}
	return list, nil
}
