package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Levels finds the levels of columns whose levels nobody can declare, such as towns or products. A
// column with open levels is a [records.Hashed] column with an other level. Levels counts its
// texts, and releases the texts with large noisy counts. The part is fitted to records whose texts
// are replaced by these levels. All other texts become the other level.
//
//	counts of texts ── large ones are released ──┐
//	records ── levels ── Of ── synthetic records of the texts that were found
//
// For a schema without such columns, the plan of Levels is the plan of the part. Otherwise the
// schema bounds the number of levels beforehand: a column of b buckets has at most b−1 levels
// besides the other one. If more texts have large counts, those with the largest noisy counts are
// the levels. Generators have the schema of the levels found.
//
// Guarantee: the counts are one accountant.SparseHistogram. A record counts for one text in each
// column, and a person with several rows for that person's most frequent text. A text of a single
// record or person is released with a small probability, which is part of δ. A record's levels
// depend on the record and on released texts only, so the part's guarantee holds for records.
//
// A run that is interrupted between the release and the next state of its checkpoint has spent the
// counts and lost the texts. If it is resumed, it goes on without levels: every text becomes the
// other level.
//
// Source: Korolova, Kenthapadi, Mishra and Ntoulas, "Releasing Search Queries and Clicks
// Privately", 2009, for the threshold.
type Levels struct {
	// Of is the system that sees the levels. It is planned for the schema of the records, so its own
	// settings may name the columns, but not levels of them.
	Of synth.Design
	// Share is the part of ε that the counts alone may cost, in (0, 1); 0 means 0.2. It is not used if
	// NoiseMultiplier is set.
	Share float64
	// NoiseMultiplier is the noise of the counts; 0 means the smallest noise that Share allows.
	NoiseMultiplier float64
}

// Defaults of Levels. The threshold is found such that the texts of a single record or person are
// released with a probability of aloneShare of δ. Half of it would raise the threshold by 3 %, and
// twice of it would leave the part 0.5 % less of its ε.
const (
	levelsShare = 0.2
	aloneShare  = 0.1
	mostFound   = 1 << 12 // levels of all columns together
)

func levelsKind() kind {
	return kind{name: "levels", config: "compose.Levels", of: "Of", level: openLevel, least: 1,
		most: 1, persons: true, design: readLevels, release: readFound}
}

// PlanFor finds the noise and the threshold of the counts and the budget of the part, and prices
// both together. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of Of;
// accountant.ErrBudgetExceeded if the counts leave too little.
func (c Levels) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Share = cmp.Or(c.Share, levelsShare)
	of := []synth.Design{c.Of}
	k := levelsKind().begin(s, b, of)
	field := levelsKind().field
	k.OK(c.Share > 0 && c.Share < 1, field("Share"), c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.NoiseMultiplier >= 0, field("NoiseMultiplier"), c.NoiseMultiplier,
		"a positive number, or 0 for the noise that Share allows")
	open, buckets := openColumns(s), 0
	for _, j := range open {
		buckets += len(s.Columns()[j].Levels())
	}
	k.OK(buckets <= mostFound, field("PlanFor.s"), fmt.Sprintf("%d buckets in open columns", buckets),
		fmt.Sprintf("at most %d, because no file may hold more levels", mostFound))
	k.OK(b.Delta > 0 || len(open) == 0, field("PlanFor.b.Delta"), b.Delta,
		"a positive number: a text of a single record may be released")
	if k.Err() != nil {
		return nil, k.Err()
	}
	if len(open) == 0 {
		return c.Of.PlanFor(s, b)
	}
	if _, err := foundSchema(s, make([][]string, len(open))); err != nil {
		return nil, fmt.Errorf("%s: constraints without the levels that are to be found: %w",
			field("PlanFor.s"), err)
	}
	c.Of = nil // a design may hold public records and scratch memory
	o := opening{c, s, b.Relation, accountant.SparseHistogram{Cells: len(open)}}
	if err := o.calibrate(b); err != nil {
		return nil, err
	}
	return planOf(o, s, b, of)
}

// An opening is a composition of levels: the settings with their noise, for records of a schema.
type opening struct {
	Levels
	schema   records.Schema
	relation accountant.Relation
	counts   accountant.SparseHistogram
}

// calibrate finds the noise and the threshold of the counts.
func (c *opening) calibrate(b accountant.Budget) error {
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateShare(b, c.Levels.Share, func(z float64) accountant.Event {
			return c.histogram(z, b.Delta)
		})
		if err != nil {
			return fmt.Errorf("levels: noise of the counts: %w", err)
		}
		c.NoiseMultiplier = z
	}
	if c.counts = c.histogram(c.NoiseMultiplier, b.Delta); !(c.counts.Sigma >= 0x1p-20 &&
		c.counts.Sigma <= 0x1p23) {
		return param.New("compose.Levels.PlanFor.b", b.String(),
			"an ε for which the noise of a count is 2^-20 to 2^23 records")
	}
	return nil
}

// histogram returns the event of counts with the given noise.
func (c *opening) histogram(noise, delta float64) accountant.SparseHistogram {
	e := c.counts
	changed := e.Cells
	if c.relation == accountant.ReplaceOne {
		changed *= 2
	}
	alone := aloneShare * delta / float64(e.Cells)
	e.Sigma = noise * math.Sqrt(float64(changed))
	e.Threshold = 1 + e.Sigma*math.Sqrt2*param.Erfcinv(2*alone)
	return e
}

func (c opening) kind() kind                                 { return levelsKind() }
func (c opening) reads(int) records.Schema                   { return c.schema }
func (c opening) view(_ int, data records.Data) records.Data { return data }
func (c opening) types() []any                               { return nil }

// purposeTexts is the purpose of the counts on the ledger.
const purposeTexts = "levels of open columns"

func (c opening) stages() (before, after []synth.Stage) {
	return []synth.Stage{{Purpose: purposeTexts, Event: c.counts, Count: 1,
		NoiseMultiplier: c.NoiseMultiplier}}, nil
}

func (c opening) title(of []string) string {
	return fmt.Sprintf("%s on levels that are found, %v", of[0], c.schema)
}

func (c opening) notes([]synth.Plan) (notes []string) {
	for _, j := range openColumns(c.schema) {
		own := c.schema.Columns()[j]
		notes = append(notes, fmt.Sprintf("levels of %s: at most %d texts whose noisy counts are at least "+
			"%.4g; all others become %q", own.Name(), len(own.Levels())-1, c.counts.Threshold, own.Other()))
	}
	return notes
}

// fit finds the levels and carries out the part on them.
func (c opening) fit(ctx context.Context, r *run) (*model, error) {
	var levels [][]string
	var j foundJSON
	err := r.keeps(&j, func() (any, []synth.Part) { return foundJSON{levels}, nil }, func() error {
		levels = j.Levels
		return nil
	})
	if err == nil && levels == nil {
		err = c.find(ctx, r, &levels)
	}
	if err != nil {
		return nil, err
	}
	own, err := foundIn(c.schema.ByPerson(0), levels)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	data, err := c.coded(r.Data, levels)
	if err != nil {
		return nil, err
	}
	if _, err := r.part(ctx, 0, data); err != nil {
		return nil, err
	}
	return r.model(own), nil
}

// find counts the texts and releases the levels, which it keeps with the state of the run.
func (c opening) find(ctx context.Context, r *run, levels *[][]string) error {
	a := r.Allowance(purposeTexts)
	open := openColumns(c.schema)
	list := make([][]string, len(open))
	if a.Remaining() == 0 { // the texts were lost
		*levels = list
		return nil
	}
	counts, err := records.OpenTexts(r.Data)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	grant, err := a.Next()
	if err != nil {
		return err
	}
	noisy, err := grant.SparseHistogram(counts)
	if err != nil {
		return err
	}
	for i, j := range open {
		list[i] = largest(noisy[i], len(c.schema.Columns()[j].Levels())-1)
	}
	*levels = list
	r.Report(purposeTexts, 1, 1)
	return r.Save()
}

type levelsJSON struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

func (c opening) settings() (any, error) { return levelsJSON{c.NoiseMultiplier}, nil }

func readLevels(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j levelsJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if err := saved.Decided(j.NoiseMultiplier); len(openColumns(saved.Schema)) == 0 {
		return nil, synth.Malformed(errors.New("levels of a schema without open columns"))
	} else if err != nil {
		return nil, err
	}
	return Levels{Of: Fixed(of[0]), NoiseMultiplier: j.NoiseMultiplier}, nil
}
