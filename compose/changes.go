package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Changes chooses by a private measurement how synthetic images are changed after they are drawn,
// such as by small distortions or a stretch of the contrast.
//
// Classifiers that learn from distorted digits recognise real digits better. With other images the
// same distortion does harm. The right change cannot be found from synthetic images alone, and no
// guarantee would cover a choice by plain results on private images. So the choice is private:
//
//   - The part, for example of package merf or [Labels], releases its generator.
//   - For every candidate, a classifier learns from changed synthetic images. It costs no privacy.
//   - The number of private records that a classifier recognises is its utility, and the
//     exponential mechanism chooses a candidate. This is one event on the ledger.
//
// Guarantee: the choice is ε·Share-differentially private. One record changes every utility by at
// most 1 under both relations: its presence adds at most 1 to the number of recognised records, and
// its replacement changes the number by at most 1. The classifiers and the candidates are computed
// from released and public values. A classifier scores every record by itself, on the CPU, which
// promises that a record's scores do not depend on other records. Only the index of the chosen
// candidate is released; the counts are not.
//
// A run that is interrupted between the choice and its release has spent the choice and lost its
// result. If it is resumed, it uses the first candidate. If the generator of the part fails to draw
// records, the run fails before the choice, but the part's stages are spent. If the context is
// cancelled while a classifier learns, the run ends when this classifier is complete, and nothing
// is chosen.
//
// Source: McSherry and Talwar 2007 for the choice.
type Changes struct {
	// Of is the system whose records are changed. Its synthetic records must have labels.
	Of synth.Design
	// Candidates are the possible changes; nil means defaults for grey images and
	// images in colour. If a run loses its choice, it uses the first candidate.
	Candidates []Change
	// Share is the part of ε that the choice costs, in (0, 1); 0 means 0.03.
	Share float64
	// Records is the number of synthetic records that every classifier learns from; 0 means
	// 10,000.
	Records int
	// Seed is the seed of these records, of the classifiers and of the distortions.
	Seed uint64
}

// Defaults of Changes. At ε = 1 and 50,000 records, a candidate is e^7.5 times as likely to be
// chosen as another one if its classifier recognises 500 records more, which is one in a hundred.
const (
	changesShare   = 0.03
	changesRecords = 10_000
)

// Bounds on the work and the memory of a run.
const (
	mostChanges = 1000
	mostLearned = 1 << 24 // synthetic records
	mostNumbers = 1 << 28 // of all synthetic records
	mostWeights = 1 << 26 // of a classifier
	mostSide    = 1 << 14 // of an image
)

func changesKind() kind {
	return kind{name: "changes", config: "compose.Changes", of: "Of", level: changeLevel, least: 1,
		most: 1, networks: 1, design: readChanges, release: readChanged}
}

// PlanFor plans the part for the budget that the choice leaves, and prices both together. It reads
// no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of Of;
// accountant.ErrBudgetExceeded if the choice leaves too little.
func (c Changes) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Share, c.Records = cmp.Or(c.Share, changesShare), cmp.Or(c.Records, changesRecords)
	if c.Candidates == nil {
		c.Candidates = defaultChanges(s)
	}
	c.Candidates = slices.Clone(c.Candidates)
	of := []synth.Design{c.Of}
	k := changesKind().begin(s, b, of)
	if c.check(&k, s); k.Err() != nil {
		return nil, k.Err()
	}
	c.Of = nil // a design may hold public records and scratch memory
	return planOf(changing{c, s, b.Epsilon * c.Share}, s, b, of)
}

// check checks the settings for records of a schema.
func (c Changes) check(k *param.Checker, s records.Schema) {
	k.OK(c.Share > 0 && c.Share < 1, "compose.Changes.Share", c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.Records > 0 && c.Records <= mostLearned, "compose.Changes.Records", c.Records,
		fmt.Sprintf("a number of records up to %d, or 0 for the default", mostLearned))
	k.OK(s.Classes() > 1, "compose.Changes.PlanFor.s", described(s), "records of two classes or more")
	if k.Err() != nil {
		return
	}
	c.checkSizes(k, s)
	k.OK(len(c.Candidates) > 1 && len(c.Candidates) <= mostChanges, "compose.Changes.Candidates",
		len(c.Candidates), fmt.Sprintf("2 to %d candidates", mostChanges))
	for i, candidate := range c.Candidates {
		candidate.check(k, fmt.Sprintf("compose.Changes.Candidates[%d]", i), s)
	}
}

// checkSizes refuses plans whose classifiers could not be trained after the part has been paid
// for.
func (c Changes) checkSizes(k *param.Checker, s records.Schema) {
	width := s.Dim()
	if s.Sparse() {
		width = s.MaxItems()
	}
	width = max(width, s.Classes(), 1)
	k.OK(c.Records <= mostNumbers/width, "compose.Changes.Records", c.Records,
		fmt.Sprintf("at most %d of this schema", mostNumbers/width))
	k.OK(s.Height() <= mostSide && s.Width() <= mostSide && weights(s) <= mostWeights,
		"compose.Changes.PlanFor.s", s,
		fmt.Sprintf("records whose classifier has at most %d parameters", mostWeights))
}

// A changing is a composition of changes, for records of a schema.
type changing struct {
	Changes // without Of
	schema  records.Schema
	epsilon float64 // of the choice
}

func (c changing) kind() kind                                 { return changesKind() }
func (c changing) reads(int) records.Schema                   { return c.schema }
func (c changing) view(_ int, data records.Data) records.Data { return data }
func (c changing) types() []any                               { return nil }

// purposeChoice is the purpose of the choice on the ledger.
const purposeChoice = "choice of a change"

// stages returns the stage of the choice, which follows the part.
func (c changing) stages() (before, after []synth.Stage) {
	return nil, []synth.Stage{{Purpose: purposeChoice, Count: 1,
		Event: accountant.ExponentialMechanism{Epsilon: c.epsilon}}}
}

func (c changing) title(of []string) string {
	return fmt.Sprintf("records of %s, changed by a private choice, %v", of[0], c.schema)
}

func (c changing) notes([]synth.Plan) []string {
	notes := []string{fmt.Sprintf("one of %d changes of the synthetic records is chosen by the "+
		"number of records that a classifier recognises; each classifier learns from %d changed "+
		"synthetic records, at no cost", len(c.Candidates), c.Records)}
	for i, candidate := range c.Candidates {
		notes = append(notes, fmt.Sprintf("change %d: %v", i, candidate))
	}
	return notes
}

// fit carries out the part, and then chooses.
func (c changing) fit(ctx context.Context, r *run) (*model, error) {
	own := &changed{candidates: c.Candidates, seed: c.Seed}
	var j changingJSON
	state := func() (any, []synth.Part) { return changingJSON{own.index}, nil }
	err := r.keeps(&j, state, func() error {
		own.index = j.Chosen
		return own.check()
	})
	if err != nil {
		return nil, err
	}
	of, err := r.part(ctx, 0, r.Data)
	if err != nil {
		return nil, err
	}
	gen := synth.NewGenerator(r.frame.systems()[0], of, ledger.Guarantee{})
	if err := c.choose(ctx, r.Run, gen, own); err != nil {
		return nil, err
	}
	return r.model(own), r.Save()
}

// changingJSON is the state of a run: the chosen candidate, which is the first before the choice.
type changingJSON struct {
	Chosen int `json:"chosen"`
}

// choose chooses a candidate, unless the run has spent the choice already. The number of recognised
// records is computed before the choice is spent, so an error loses nothing.
func (c changing) choose(ctx context.Context, r *synth.Run, gen *synth.Generator,
	own *changed) error {
	a := r.Allowance(purposeChoice)
	if a.Remaining() == 0 {
		return nil // own has the choice; if it was lost, own has the first candidate
	}
	utilities, err := c.recognised(ctx, r, gen)
	if err != nil {
		return err
	}
	grant, err := a.Next()
	if err != nil {
		return err
	}
	if own.index, err = grant.Exponential(utilities); err != nil {
		return err
	}
	r.Report(purposeChoice, 1, 1)
	return nil
}

// recognised returns the utilities of the candidates: the numbers of private records whose class
// their classifiers predict. The result is private.
func (c changing) recognised(ctx context.Context, r *synth.Run,
	gen *synth.Generator) ([]int64, error) {
	drawn, err := c.drawn(ctx, r, gen)
	if err != nil {
		return nil, err
	}
	by, err := c.classifiers(ctx, drawn)
	if err != nil {
		return nil, err
	}
	counts, err := recognisedBy(ctx, by, r.Data)
	if err == nil && records.Failed(r.Data) {
		err = synth.ErrData
	}
	return counts, err
}

// classifiers returns a classifier for every candidate. It is nil for a candidate from whose
// records no classifier can learn: such a candidate recognises nothing. This depends on released
// and public values only.
//
// Errors: ctx.Err(), also if the context ends while the last classifier learns.
func (c changing) classifiers(ctx context.Context, drawn records.Data) ([]*classifier, error) {
	by := make([]*classifier, len(c.Candidates))
	for i, candidate := range c.Candidates {
		learned, err := learn(ctx, drawn, candidate, c.Seed)
		if ended := ctx.Err(); ended != nil { // err says nothing about the candidate
			return nil, ended
		}
		if err == nil {
			by[i] = learned
		}
	}
	return by, nil
}

// drawn returns unchanged records of the other model for the classifiers. Images with levels have
// their mean levels.
//
// Errors: *param.Error for a model of a user-defined system that returns the private records, or
// records of another schema than it states.
func (c changing) drawn(ctx context.Context, r *synth.Run,
	gen *synth.Generator) (records.Data, error) {
	opts := []synth.DrawOption{synth.Seed(c.Seed), synth.Unconstrained()}
	if levels(gen.Schema()) {
		opts = append(opts, synth.Means())
	}
	var chunks []records.Data
	for chunk, err := range gen.Stream(ctx, c.Records, opts...) {
		if err != nil {
			return nil, fmt.Errorf("changes: records of %s: %w", gen.System(), err)
		}
		if records.DeclarePublic(chunk).Overlaps(r.Data) { // before it is copied
			return nil, param.New("compose.Changes.Of", "a generator of the private records",
				"a generator of synthetic records")
		}
		chunks = append(chunks, chunk)
	}
	out, err := records.Concat(gen.Schema(), chunks...)
	if err == nil && out.Len() != c.Records {
		err = fmt.Errorf("the generator returned %d, want %d", out.Len(), c.Records)
	}
	if err != nil {
		return nil, fmt.Errorf("changes: records of %s: %w", gen.System(), err)
	}
	return out, nil
}

type changesJSON struct {
	Candidates []Change `json:"candidates"`
	Share      float64  `json:"share"`
	Records    int      `json:"records"`
	Seed       uint64   `json:"seed,string"`
}

func (c changing) settings() (any, error) {
	return changesJSON{c.Candidates, c.Share, c.Records, c.Seed}, nil
}

func readChanges(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j changesJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Candidates) == 0 || j.Share == 0 || j.Records == 0 {
		return nil, synth.Malformed(errors.New("a plan without candidates, share or records"))
	}
	return Changes{Of: Fixed(of[0]), Candidates: j.Candidates, Share: j.Share, Records: j.Records,
		Seed: j.Seed}, saved.Network("the classifier", weights(saved.Schema))
}

// changed is what changes release beside the part's model: the chosen change.
type changed struct {
	candidates []Change
	index      int
	seed       uint64
}

// check returns an error for an index that is not of a candidate.
func (c *changed) check() error {
	if c.index < 0 || c.index >= len(c.candidates) || len(c.candidates) > mostChanges {
		return fmt.Errorf("candidate %d of %d", c.index, len(c.candidates))
	}
	return nil
}

// Chosen returns the change that a generator of [Changes] has chosen.
//
// Errors: *param.Error for another generator.
func Chosen(g *synth.Generator) (Change, error) {
	_, c, err := releasedBy[*changed](g, "compose.Chosen.g", changesKind())
	if err != nil {
		return Change{}, err
	}
	return c.candidates[c.index], nil
}

// sampler starts a draw of changed records.
func (c *changed) sampler(m *model, d synth.Draw) (synth.Sampler, error) {
	of, err := m.of[0].Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	chunk := uint64(0)
	next := func(n int) (records.Data, error) {
		rows, err := of.Next(n)
		if err != nil {
			return nil, err
		}
		chunk++
		return c.candidates[c.index].Apply(rows, (c.seed+d.Seed)*0x9e3779b97f4a7c15+chunk)
	}
	return synth.Sampler{Schema: of.Schema, Next: next, Unaccepted: of.Unaccepted}, nil
}

type changedJSON struct {
	Candidates []Change `json:"candidates"`
	Chosen     int      `json:"chosen"`
	Seed       uint64   `json:"seed,string"`
}

func (c *changed) header() (any, error) {
	return changedJSON{c.candidates, c.index, c.seed}, nil
}

func (c *changed) sections() []synth.Part { return nil }

func readChanged(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j changedJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	out := &changed{slices.Clone(j.Candidates), j.Chosen, j.Seed}
	if err := out.check(); err != nil {
		return nil, synth.Malformed(err)
	}
	var k param.Checker
	for i, c := range out.candidates {
		c.check(&k, fmt.Sprintf("compose.Changes.Candidates[%d]", i), of[0].Schema())
	}
	if err := k.Err(); err != nil {
		return nil, synth.Malformed(err)
	}
	return out, nil
}
