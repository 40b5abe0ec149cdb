package fidelity

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// Config describes a release. Every field is public.
type Config struct {
	Schema records.Schema // of tables
	Budget accountant.Budget
	// NoiseMultiplier is the noise's standard deviation ÷ the sensitivity of all counts together; 0
	// is for the smallest multiplier that the budget allows.
	NoiseMultiplier float64
	Bins            int // of each column of numbers, between its public bounds; 0 for 10
	// Methods lists names of classifiers, see [Methods]; nil for all of them if the schema has
	// classes, an empty list for none.
	Methods []string
	Seed    uint64 // of the training of classifiers
}

// The names of the classifiers.
const (
	logistic = "logistic regression"
	forest   = "random forest"
	boosting = "gradient boosting"
)

// Methods returns the names of the available classifiers of package report/evaluate/classify. They
// are logistic regression, a random forest of 50 trees of depth 12, and gradient boosting of 50
// stages. A release requires that each record is classified separately, so no other classifiers are
// offered.
func Methods() []string { return []string{logistic, forest, boosting} }

func method(name string, seed uint64) classify.Method {
	switch name {
	case logistic:
		return classify.LogisticRegression{}
	case forest:
		return classify.RandomForest{Trees: 50, Depth: 12, Seed: seed}
	case boosting:
		return classify.GradientBoosting{Stages: 50, Seed: seed}
	}
	return nil
}

// Limits of a Config.
const (
	defaultBins = 10
	maxBins     = 1000
)

func (c Config) withDefaults() Config {
	if c.Bins == 0 {
		c.Bins = defaultBins
	}
	if c.Methods == nil && c.Schema.Classes() > 1 {
		c.Methods = Methods()
	}
	return c
}

// Validate reports every mistake, as joined *[param.Error] values.
func (c Config) Validate() error {
	errs := []error{c.Budget.Validate()}
	bad := func(wrong bool, field string, value any, want string) {
		if wrong {
			errs = append(errs, param.New("fidelity.Config."+field, value, want))
		}
	}
	if err := c.Schema.Validate(); err != nil || c.Schema.Kind() != records.MixedTable {
		bad(true, "Schema", c.Schema.String(), "a schema of tables, made by records.NewSchema")
		return errors.Join(errs...)
	}
	bad(c.NoiseMultiplier != 0 && !mechanism.IsNoiseMultiplier(c.NoiseMultiplier), "NoiseMultiplier",
		c.NoiseMultiplier, "a positive number of at most 2^24, or 0 to calibrate it")
	bad(c.Bins < 0 || c.Bins > maxBins, "Bins", c.Bins, fmt.Sprintf("1 to %d, or 0 for 10", maxBins))
	bad(len(c.Methods) > 0 && c.Schema.Classes() < 2, "Methods", c.Methods,
		"no methods: the schema has no classes")
	for i, m := range c.Methods {
		bad(method(m, 0) == nil || slices.Contains(c.Methods[:i], m), "Methods", m,
			fmt.Sprintf("each at most once, of %q", Methods()))
	}
	return errors.Join(errs...)
}
