package quantiles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a run of another system on ranks.
type Config struct {
	// Schema describes the records: a table with at least one column of numbers.
	Schema records.Schema
	// Budget is the budget of the counts and the other system together.
	Budget accountant.Budget
	// Of is the other system's plan with its own budget. Its schema is Ranks(Schema). Within finds
	// the plan. The generators that it passes to privgen.OnPreview are generators of ranks.
	Of synth.Plan
	// Share is the part of ε that the counts alone may cost, in (0, 1); 0 means DefaultShare. It is
	// not used if NoiseMultiplier is set.
	Share float64
	// NoiseMultiplier is the noise of the counts; 0 means the smallest noise that Share allows.
	NoiseMultiplier float64
	// Cells is the number of cells of equal width into which a column of numbers is divided, from 2
	// to 4094; 0 means 126. A column with a step and at most 4096 values has a count for each value
	// instead, unless it is logarithmic.
	Cells int
	// Seed is the seed of the synthetic records on which the mapping back is computed.
	Seed uint64
}

// DefaultShare was chosen on generated tables.
const DefaultShare = 0.3

const (
	leastCells   = 2
	mostCells    = 4094
	defaultCells = marginal.MostCells
	mostCodes    = 1 << 20 // counts of all columns together
)

// Ranks returns the schema of the records that the other system sees. Columns of numbers have
// bounds 0 and 1. The schema has no constraints, since draws enforce those of s.
//
// Errors: *param.Error for a schema that is not of tables, has no column of numbers, or has several
// rows per person.
func Ranks(s records.Schema) (records.Schema, error) {
	var k param.Checker
	const path = "quantiles.Config.Schema"
	k.OK(s.Kind() == records.MixedTable, path, s, "a table")
	k.Add(records.RefusePersons(path, s))
	if err := k.Err(); err != nil {
		return records.Schema{}, err
	}
	columns, some := s.Columns(), false
	for i, c := range columns {
		if !mapped(c) {
			continue
		}
		some = true
		rank := records.Numeric(c.Name(), 0, 1)
		if c.Kind() == records.TargetColumn {
			rank = records.Target(c.Name(), 0, 1)
		}
		if c.HasMissing() {
			rank = rank.WithMissing()
		}
		columns[i] = rank
	}
	if !some {
		return records.Schema{}, param.New(path, s, "at least one column of numbers")
	}
	ranks, err := records.NewSchema(columns...)
	if err != nil {
		return records.Schema{}, err
	}
	if !sameLayout(s, ranks) {
		return records.Schema{}, param.New(path, s, "columns whose ranks are encoded in one number")
	}
	return ranks, nil
}

// mapped reports whether the numbers of a column are mapped to ranks.
func mapped(c records.Column) bool { return c.IsNumber() && c.Parts() == 0 }

// sameLayout reports whether the encoded records of two schemas have the same blocks.
func sameLayout(a, b records.Schema) bool {
	return a.Dim() == b.Dim() && a.Classes() == b.Classes() && slices.Equal(a.Blocks(), b.Blocks())
}

func (c Config) withDefaults() Config {
	c.Share, c.Cells = cmp.Or(c.Share, DefaultShare), cmp.Or(c.Cells, defaultCells)
	return c
}

// Validate reports every mistake, as joined *param.Error values.
func (c Config) Validate() error {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return err
	}
	var k param.Checker
	const path = "quantiles.Config.Of"
	k.OK(synth.WorkOf(c.Of) != nil, path, nil,
		"a plan that embeds a synth.Program, as plans of all systems do")
	if err := k.Err(); err != nil {
		return err
	}
	others := []string{systemName, "labelling", "augment", "pool", "tune"}
	k.OK(!slices.Contains(others, c.Of.System()), path, c.Of.System(),
		"a plan of one system, such as merf or gan")
	ranks, err := Ranks(c.Schema)
	k.Add(err)
	k.OK(c.Of.Schema().Equal(ranks), path+".Schema", c.Of.Schema(), "the schema Ranks(Schema)")
	released := synth.Inner{Plan: c.Of}.Releases()
	k.OK(released.Equal(c.Of.Schema()), path, released,
		"a system whose synthetic records have its own schema, labels included")
	k.OK(c.Of.Budget().Relation == c.Budget.Relation, path+".Budget.Relation",
		c.Of.Budget().Relation, "the relation "+c.Budget.Relation.String())
	return k.Err()
}

// check makes the checks that need no plan.
func (c Config) check() error {
	var k param.Checker
	k.Add(c.Budget.Validate())
	k.OK(c.Share > 0 && c.Share < 1, "quantiles.Config.Share", c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.NoiseMultiplier >= 0, "quantiles.Config.NoiseMultiplier", c.NoiseMultiplier,
		"a positive number, or 0 for the noise that Share allows")
	k.OK(c.Cells >= leastCells && c.Cells <= mostCells, "quantiles.Config.Cells", c.Cells,
		fmt.Sprintf("an integer from %d to %d, or 0 for the default", leastCells, mostCells))
	if err := errors.Join(k.Err(), second(Ranks(c.Schema))); err != nil {
		return err
	}
	codes := 0
	for _, a := range attributesOf(c.Schema, c.Cells) {
		codes += a.Codes
	}
	k.OK(codes <= mostCodes, "quantiles.Config.Schema",
		fmt.Sprintf("%d counts of numbers in all columns together", codes),
		fmt.Sprintf("at most %d counts; declare fewer columns or coarser steps", mostCodes))
	return k.Err()
}

func second[T any](_ T, err error) error { return err }

// Within returns the configuration with Of planned for the largest budget that the counts leave, to
// within half a per cent of the whole budget. The function plan returns the other system's plan for
// the schema of ranks and a budget with the same δ and relation.
//
// Errors: all errors of plan and of Validate; accountant.ErrBudgetExceeded if the counts leave less
// than a hundredth of the budget, measured as in synth.Within.
func (c Config) Within(plan func(records.Schema, accountant.Budget) (synth.Plan, error)) (Config,
	error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return c, err
	}
	if plan == nil {
		return c, param.New("quantiles.Config.Within.plan", nil, "a function")
	}
	ranks, err := Ranks(c.Schema)
	if err != nil {
		return c, err
	}
	if c, err = c.calibrated(); err != nil {
		return c, err
	}
	c.Of, err = synth.Within(c.Budget, c.stage().Whole(),
		func(b accountant.Budget) (synth.Plan, error) {
			p, err := plan(ranks, b)
			if err != nil {
				return nil, err
			}
			own := c
			own.Of = p
			return p, own.Validate()
		})
	if err != nil {
		return c, fmt.Errorf("quantiles: beside the counts: %w", err)
	}
	return c, nil
}

// calibrated returns the configuration with the noise of the counts.
func (c Config) calibrated() (Config, error) {
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateShare(c.Budget, c.Share, func(z float64) accountant.Event {
			return accountant.Gaussian{NoiseMultiplier: z}
		})
		if err != nil {
			return c, fmt.Errorf("quantiles: noise of the counts: %w", err)
		}
		c.NoiseMultiplier = z
	}
	if !c.halves().Drawable(c.NoiseMultiplier) {
		return c, param.New("quantiles.Config.Budget", c.Budget.String(),
			"an ε for which the noise of a count is 2^-20 to 2^23 records")
	}
	return c, nil
}

// PurposeCounts is the purpose of the counts on the ledger.
const PurposeCounts = "counts of numbers"

// stage returns the stage of the counts.
func (c Config) stage() synth.Stage {
	return synth.Stage{Purpose: PurposeCounts,
		Event: accountant.Gaussian{NoiseMultiplier: c.NoiseMultiplier}, Count: 1,
		NoiseMultiplier: c.NoiseMultiplier, Once: true}
}

// halves returns the release of the counts.
func (c Config) halves() marginal.Halves {
	return marginal.Halves{Attributes: attributesOf(c.Schema, c.Cells), Relation: c.Budget.Relation}
}

// attributesOf returns the columns whose numbers are mapped.
func attributesOf(s records.Schema, cells int) (list []marginal.Attribute) {
	columns := s.Columns()
	all, exact := marginal.AttributesIn(s, cells), marginal.AttributesIn(s, mostCells)
	for i, b := range s.Blocks() {
		switch {
		case !mapped(columns[b.Column]):
		case exact[i].Cells == 0: // every value has a code
			list = append(list, exact[i])
		default:
			list = append(list, all[i])
		}
	}
	return list
}

// inner returns the other system as a part of the run.
func (c Config) inner() synth.Inner {
	return synth.Inner{Plan: c.Of, Prefix: c.Of.System() + ": "}
}

// stages returns the stages of the counts and of the other system.
func (c Config) stages() []synth.Stage {
	return append([]synth.Stage{c.stage()}, c.inner().Stages()...)
}
