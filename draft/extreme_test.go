package draft_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// TestPlansRefuseNoiseThatCannotBeDrawn checks that mechanism.MaxNoiseMultiplier is accepted as a
// noise multiplier, and that larger ones, infinity and NaN are refused.
func TestPlansRefuseNoiseThatCannotBeDrawn(t *testing.T) {
	c := config(t, accountant.AddOrRemoveOne)
	c.NoiseMultiplier = mechanism.MaxNoiseMultiplier
	if _, err := c.Plan(); err != nil {
		t.Errorf("the largest noise: %v", err)
	}
	for _, z := range []float64{2 * mechanism.MaxNoiseMultiplier, 1e300, math.Inf(1), math.NaN()} {
		var wrong *param.Error
		c.NoiseMultiplier = z
		if _, err := c.Plan(); !errors.As(err, &wrong) {
			t.Errorf("noise multiplier %v: %v", z, err)
		}
	}
}

// TestTinyBudgetsAreRefused: a plan for a budget that needs more noise than a configuration may ask
// for is refused, so that its file can be read.
func TestTinyBudgetsAreRefused(t *testing.T) {
	for eps, want := range map[float64]bool{1e-6: true, 1e-9: false} {
		b := accountant.Budget{Epsilon: eps, Delta: 1e-9}
		_, err := draft.Config{Candidates: wide(t), Budget: b}.Plan()
		var wrong *param.Error
		if want && err != nil || !want && !errors.As(err, &wrong) {
			t.Errorf("ε = %v: %v", eps, err)
		}
	}
}
