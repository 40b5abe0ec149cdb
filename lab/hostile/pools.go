package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// poolSubjects returns a pool of two systems of tables.
func poolSubjects(tables records.Data) ([]subject, error) {
	of := func(plan func(records.Schema, accountant.Budget) (synth.Plan, error)) func(
		accountant.Budget) (synth.Plan, error) {
		return func(b accountant.Budget) (synth.Plan, error) { return plan(tables.Schema(), b) }
	}
	c, err := pool.Config{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-5},
		Shares: []float64{1, 2}}.Within(of(quickMERF), of(quickGAN))
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	p, err := c.Plan()
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	return []subject{{"pool of merf and gan of tables", p, tables}}, nil
}
