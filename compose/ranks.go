package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Ranks lets a system see the numbers of a table as ranks. It first releases noisy counts of the
// numbers, column by column. Then it replaces every number by its rank among these counts, on the
// scale of a normal distribution, and the part is fitted to the result. The part's synthetic
// numbers are mapped back, so that each column has the released distribution.
//
// A network learns a column easily if its values are spread as in a normal distribution. It blurs a
// value that many records share, and it misses a column of which most records lie in a small part
// of the bounds, such as amounts with a few very large values. Both disappear in ranks, and the
// mapping back restores them.
//
//	counts of numbers ── released ──┐
//	records ── ranks ── Of ── synthetic ranks ── synthetic records
//
// Numbers, whole numbers, durations, and moments without calendar parts are mapped. Levels, missing
// values and classes stay as they are.
//
// Guarantee: the counts are one Gaussian release of differences between halves of intervals
// (marginal.Halves, which states what a record changes). A record's ranks depend on the record and
// on released counts only, so the part's guarantee holds for records. The mapping back depends on
// released counts and on synthetic records of the part.
//
// Source: the transform by a column's distribution function is the probability integral transform.
// Li, Xiong and Jiang, "Differentially Private Synthesization of Multi-Dimensional Data using
// Copula Functions", 2014, release noisy marginals and model dependence on the transformed scale.
type Ranks struct {
	// Of is the system that sees ranks. It is planned for the schema RankSchema(s). The generators
	// that it passes to privgen.OnPreview are generators of ranks.
	Of synth.Design
	// Share is the part of ε that the counts alone may cost, in (0, 1); 0 means 0.3, which was chosen
	// on generated tables. It is not used if NoiseMultiplier is set.
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

const (
	leastCells   = 2
	mostCells    = 4094
	defaultCells = marginal.MostCells
	mostCodes    = 1 << 20 // counts of all columns together
	ranksShare   = 0.3
)

func ranksKind() kind {
	return kind{name: "ranks", config: "compose.Ranks", of: "Of", level: readLevel, least: 1, most: 1,
		reads: RankSchema, design: readRanks, release: readRanked}
}

// PlanFor finds the noise of the counts and the budget of the part, and prices both together. It
// reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of Of;
// accountant.ErrBudgetExceeded if the counts leave too little.
func (c Ranks) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Share, c.Cells = cmp.Or(c.Share, ranksShare), cmp.Or(c.Cells, defaultCells)
	of := []synth.Design{c.Of}
	k := ranksKind().begin(s, b, of)
	c.check(&k)
	ranks, err := RankSchema(s)
	if k.Add(err); k.Err() != nil {
		return nil, k.Err()
	}
	r := ranking{Ranks: c, schema: s, ranks: ranks, relation: b.Relation}
	if err := r.calibrate(b); err != nil {
		return nil, err
	}
	return planOf(r, s, b, of)
}

// check checks the settings.
func (c Ranks) check(k *param.Checker) {
	field := ranksKind().field
	k.OK(c.Share > 0 && c.Share < 1, field("Share"), c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.NoiseMultiplier >= 0, field("NoiseMultiplier"), c.NoiseMultiplier,
		"a positive number, or 0 for the noise that Share allows")
	k.OK(c.Cells >= leastCells && c.Cells <= mostCells, field("Cells"), c.Cells,
		fmt.Sprintf("an integer from %d to %d, or 0 for the default", leastCells, mostCells))
}

// RankSchema returns the schema of the records that the part of [Ranks] sees. Columns of numbers
// have bounds 0 and 1. The schema has no constraints, since draws enforce those of s.
//
// Errors: *param.Error for a schema that is not of tables, has no column of numbers, or has several
// rows per person.
func RankSchema(s records.Schema) (records.Schema, error) {
	var k param.Checker
	const path = "compose.RankSchema.s"
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
	if s.Dim() != ranks.Dim() || s.Classes() != ranks.Classes() ||
		!slices.Equal(s.Blocks(), ranks.Blocks()) {
		return records.Schema{}, param.New(path, s, "columns whose ranks are encoded in one number")
	}
	return ranks, nil
}

// mapped reports whether the numbers of a column are mapped to ranks.
func mapped(c records.Column) bool { return c.IsNumber() && c.Parts() == 0 }

// A ranking is a composition of ranks: the settings with their noise, for records of a schema.
type ranking struct {
	Ranks
	schema, ranks records.Schema
	relation      accountant.Relation
}

func (c ranking) kind() kind               { return ranksKind() }
func (c ranking) reads(int) records.Schema { return c.ranks }
func (c ranking) types() []any             { return nil }

// calibrate finds the noise of the counts.
func (c *ranking) calibrate(b accountant.Budget) error {
	codes := 0
	for _, a := range c.halves().Attributes {
		codes += a.Codes
	}
	if codes > mostCodes {
		return param.New("compose.Ranks.PlanFor.s",
			fmt.Sprintf("%d counts of numbers in all columns together", codes),
			fmt.Sprintf("at most %d counts; declare fewer columns or coarser steps", mostCodes))
	}
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateShare(b, c.Share, gaussian)
		if err != nil {
			return fmt.Errorf("ranks: noise of the counts: %w", err)
		}
		c.NoiseMultiplier = z
	}
	if !c.halves().Drawable(c.NoiseMultiplier) {
		return param.New("compose.Ranks.PlanFor.b", b.String(),
			"an ε for which the noise of a count is 2^-20 to 2^23 records")
	}
	return nil
}

// purposeCounts is the purpose of the counts on the ledger.
const purposeCounts = "counts of numbers"

// stages returns the stage of the counts.
func (c ranking) stages() (before, after []synth.Stage) {
	return []synth.Stage{{Purpose: purposeCounts, Event: gaussian(c.NoiseMultiplier), Count: 1,
		NoiseMultiplier: c.NoiseMultiplier, Once: true}}, nil
}

// halves returns the release of the counts.
func (c ranking) halves() marginal.Halves {
	return marginal.Halves{Attributes: attributesOf(c.schema, c.Cells), Relation: c.relation}
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

func (c ranking) title(of []string) string {
	return fmt.Sprintf("%s on ranks of numbers, %v", of[0], c.schema)
}

func (c ranking) notes([]synth.Plan) []string {
	return []string{fmt.Sprintf("numbers of %d columns are mapped to ranks by released counts, "+
		"and synthetic ranks are mapped back, at no cost", len(c.halves().Attributes)),
		fmt.Sprintf("a logarithmic column or one with more than %d values is counted in %d cells",
			mostCells+2, c.Cells)}
}

// view returns the records with the schema of ranks, before the ranks are known.
func (c ranking) view(_ int, data records.Data) records.Data {
	return ranked{Data: data, schema: c.ranks}
}

// fit releases the counts and carries out the part on ranks.
func (c ranking) fit(ctx context.Context, r *run) (*model, error) {
	parts, err := c.halves().Release(ctx, r.Run, purposeCounts, c.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	own := &rankedRelease{numbers: c.schema, cells: c.Cells, parts: parts,
		columns: columnsOf(c.halves().Attributes, parts)}
	of, err := r.part(ctx, 0, ranked{r.Data, c.ranks, own.columns})
	if err != nil {
		return nil, err
	}
	gen := synth.NewGenerator(r.frame.systems()[0], of, ledger.Guarantee{})
	own.back, err = backOf(ctx, gen, own.columns, r.Data, c.Seed)
	return r.model(own), err
}

type ranksJSON struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Cells           int     `json:"cells"`
	Seed            uint64  `json:"seed,string"`
}

func (c ranking) settings() (any, error) {
	return ranksJSON{c.NoiseMultiplier, c.Cells, c.Seed}, nil
}

func readRanks(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j ranksJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if err := saved.Decided(j.NoiseMultiplier); err != nil {
		return nil, err
	}
	if j.Cells == 0 {
		return nil, synth.Malformed(errors.New("a plan without a number of cells"))
	}
	return Ranks{Of: Fixed(of[0]), NoiseMultiplier: j.NoiseMultiplier, Cells: j.Cells,
		Seed: j.Seed}, nil
}
