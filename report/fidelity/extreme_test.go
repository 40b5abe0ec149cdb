package fidelity_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/fidelity"
)

// TestExtremeNoiseIsRefused: noise that cannot be drawn is a mistake in the configuration, whether
// the caller or a tiny budget asks for it.
func TestExtremeNoiseIsRefused(t *testing.T) {
	table, err := records.NewSchema(records.Numeric("size", 0, 1),
		records.Categorical("kind", "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	large := accountant.Budget{Epsilon: 1e6, Delta: 1e-9}
	for _, c := range []struct {
		config fidelity.Config
		fine   bool
	}{
		{fidelity.Config{Budget: large, NoiseMultiplier: mechanism.MaxNoiseMultiplier}, true},
		{fidelity.Config{Budget: large, NoiseMultiplier: 2 * mechanism.MaxNoiseMultiplier}, false},
		{fidelity.Config{Budget: large, NoiseMultiplier: math.NaN()}, false},
		{fidelity.Config{Budget: accountant.Budget{Epsilon: 1e-6, Delta: 1e-9}}, true},
		{fidelity.Config{Budget: accountant.Budget{Epsilon: 1e-9, Delta: 1e-9}}, false},
	} {
		c.config.Schema = table
		_, err := c.config.Plan()
		var wrong *param.Error
		if c.fine && err != nil || !c.fine && !errors.As(err, &wrong) {
			t.Errorf("%v: %v", c.config, err)
		}
	}
}
