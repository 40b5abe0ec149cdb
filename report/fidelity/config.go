package fidelity

import (
	"context"
	"errors"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// Config describes a release. Every field is public.
type Config struct {
	Schema records.Schema // of tables
	Budget accountant.Budget
	// NoiseMultiplier is the noise's standard deviation ÷ the sensitivity of all counts together; 0
	// for the least that fits the budget.
	NoiseMultiplier float64
	Bins            int // of a column of numbers, between its public bounds; 0 for 10
	// Methods are classifiers, by the names that Methods lists; nil for all of them where the schema
	// has classes.
	Methods []string
	Seed    uint64 // of the training of classifiers
}

// A Plan is a Config with the noise decided, and the bill.
type Plan struct {
	Config Config
}

// Plan decides what the configuration leaves open and adds up the bill.
func (c Config) Plan() (*Plan, error) { return nil, errors.New("fidelity: not ready") }

// Release carries out a plan on private records.
func Release(ctx context.Context, p *Plan, real, synthetic records.Data,
	ledger *accountant.Ledger) (*Released, error) {
	return nil, errors.New("fidelity: not ready")
}
