package draft

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Config describes an estimate. Every field is public.
type Config struct {
	// Candidates is a schema of tables wide enough for every possible record. Its numbers,
	// targets, ordered levels and categories are estimated; its flags, labels, moments,
	// lengths of time, hashed texts and identifiers cost nothing and are not changed. Columns with
	// open levels, which are hashed texts with an other level, get the texts of large noisy counts
	// as levels.
	Candidates records.Schema
	Budget     accountant.Budget
	// NoiseMultiplier is the standard deviation of the noise divided by the sensitivity of all counts
	// together; 0 means the smallest value that meets the budget.
	NoiseMultiplier float64
	// FalseAlarm bounds the probability that noise alone keeps any level, or run of bins, without
	// records; 0 means 1e-3. With a smaller bound, a level or run needs more records to be kept.
	FalseAlarm float64
	// BinsPerDoubling is the resolution of bounds: numbers in one bin differ by a factor of at most
	// 2^(1/BinsPerDoubling); 0 means 4.
	BinsPerDoubling int
}

// Defaults of a Config.
const (
	defaultFalseAlarm = 1e-3
	defaultBins       = 4
	maxBins           = 64
)

func (c Config) withDefaults() Config {
	c.FalseAlarm = cmp.Or(c.FalseAlarm, defaultFalseAlarm)
	c.BinsPerDoubling = cmp.Or(c.BinsPerDoubling, defaultBins)
	return c
}

// validate reports every mistake, as joined *param.Error values.
func (c Config) validate() error {
	errs := []error{c.Budget.Validate()}
	bad := func(field string, value any, want string) {
		errs = append(errs, &param.Error{Path: "draft.Config." + field, Value: value, Want: want})
	}
	if err := c.Candidates.Validate(); err != nil || c.Candidates.Kind() != records.MixedTable {
		bad("Candidates", c.Candidates.String(), "a schema of tables, made by records.NewSchema")
	} else if len(estimated(c.Candidates)) == 0 && len(open(c.Candidates)) == 0 {
		bad("Candidates", c.Candidates.String(), "a column whose bounds or levels are to be estimated")
	}
	if len(open(c.Candidates)) > 0 && c.Budget.Delta == 0 {
		bad("Budget.Delta", c.Budget.Delta, "a positive number for columns with open levels")
	}
	if c.NoiseMultiplier != 0 && !mechanism.IsNoiseMultiplier(c.NoiseMultiplier) {
		bad("NoiseMultiplier", c.NoiseMultiplier, "a positive number of at most 2^24, or 0 to find it")
	}
	c = c.withDefaults()
	if !(c.FalseAlarm > 0 && c.FalseAlarm < 1) {
		bad("FalseAlarm", c.FalseAlarm, "a probability between 0 and 1")
	}
	if c.BinsPerDoubling < 1 || c.BinsPerDoubling > maxBins {
		bad("BinsPerDoubling", c.BinsPerDoubling, fmt.Sprintf("1 to %d", maxBins))
	}
	return errors.Join(errs...)
}

// estimated returns the columns that a release estimates.
func estimated(s records.Schema) []int {
	var columns []int
	for j, c := range s.Columns() {
		switch c.Kind() {
		case records.FlagColumn, records.LabelColumn, records.DatetimeColumn, records.DurationColumn,
			records.HashedColumn, records.IdentifierColumn:
		default:
			columns = append(columns, j)
		}
	}
	return columns
}
