package merf_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// someSets returns three sets of at most three of six items, a plan for them and its budget.
func someSets(t *testing.T) (*merf.Plan, records.Data, accountant.Budget) {
	t.Helper()
	s := records.Sets(6, 3)
	data := must(records.FromItems(s, [][]uint32{{1}, {2, 3}, {0, 4, 5}}))(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	c := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 8, Bandwidth: 1}}
	return mustPlan(t, c), data, b
}

// TestMistakesReserveNothing passes nil and zero plans, sums, models and embeddings, and other
// wrong arguments. They must be refused, and nothing may be reserved on the ledger.
func TestMistakesReserveNothing(t *testing.T) {
	p, data, b := someSets(t)
	ctx, l := context.Background(), ledger.New(b)
	other := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5,
		Relation: accountant.ReplaceOne})
	second := func(_ any, err error) error { return err }
	part := p.NewPartial(nil, synth.On(nil))
	c := p.Config
	c.Batches = merf.Batches{Probability: 0.1, Steps: 2}
	c.NoiseMultiplier = 0
	batches := mustPlan(t, c)
	stream := func(func(records.Data, error) bool) {}
	kept := synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	e := mustEmbed(t, p, data)
	mistakes := map[string]error{
		"train on nothing":          second(merf.Train(ctx, nil, merf.GeneratorConfig{})),
		"train on no embedding":     second(merf.Train(ctx, new(merf.Embedding), merf.GeneratorConfig{})),
		"train with a checkpoint":   second(merf.Train(ctx, e, quick, kept)),
		"embed nothing":             second(p.Embed(ctx, l, nil)),
		"embed on no ledger":        second(p.Embed(ctx, nil, data)),
		"embed on another relation": second(p.Embed(ctx, other, data)),
		"stream nothing":            second(p.EmbedStream(ctx, l, nil)),
		"fit to a stream of none":   second(p.FitStream(ctx, l, nil)),
		"samples of a stream":       second(batches.EmbedStream(ctx, l, stream)),
		"a fit to such samples":     second(batches.FitStream(ctx, l, stream)),
		"samples of shards":         second(batches.Release(ctx, l, nil)),
		"release no sum":            second(p.Release(ctx, l, []*mechanism.Partial{nil})),
		"release a sum of no plan": second(p.Release(ctx, l,
			[]*mechanism.Partial{new(mechanism.Partial)})),
		"add to no sum":           (*mechanism.Partial)(nil).Add(ctx, data),
		"add to a sum of no plan": new(mechanism.Partial).Add(ctx, data),
		"add to a kept sum":       p.NewPartial(kept).Add(ctx, data),
		"merge into no sum":       (*mechanism.Partial)(nil).Merge(part),
		"merge no sum":            part.Merge(nil),
		"merge sums of no plan":   new(mechanism.Partial).Merge(new(mechanism.Partial)),
		"draw from no model":      second(new(merf.Model).Sampler(synth.Draw{})),
		"write no model":          second(new(merf.Model).Encode()),
	}
	for name, none := range map[string]*merf.Plan{"nil": nil, "zero": {}} {
		mistakes["embed "+name] = second(none.Embed(ctx, l, data))
		mistakes["stream "+name] = second(none.EmbedStream(ctx, l, stream))
		mistakes["fit "+name] = second(none.FitStream(ctx, l, stream))
		mistakes["release "+name] = second(none.Release(ctx, l, nil))
		mistakes["train "+name] = second(none.Refit(ctx, e))
		mistakes["add to a sum of "+name] = none.NewPartial().Add(ctx, data)
		if none.Features() != 0 {
			t.Errorf("%s plan: %d features", name, none.Features())
		}
	}
	for name, err := range mistakes {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	if e := l.Entries(); len(e) != 0 {
		t.Errorf("the ledger has reservations: %v", e)
	}
	var file bytes.Buffer
	none := new(merf.Embedding)
	if none.String() == "" || none.Sum(0) != nil || e.Sum(1) != nil || e.Sum(-1) != nil ||
		none.Save(&file) == nil && file.Len() == 0 {
		t.Error("the zero embedding has sums or was saved, or Sum returned the sum of an unknown class")
	}
}

// TestBackendsThatCannotBuildTheGenerator checks that a run on such a backend fails before anything
// is reserved.
func TestBackendsThatCannotBuildTheGenerator(t *testing.T) {
	p, data, _ := someSets(t)
	c := p.Config
	c.Generator.Architecture = not{workers: 7}
	p = mustPlan(t, c)
	l := ledger.New(c.Budget)
	if _, err := p.FitOn(t.Context(), l, data, synth.On(device.CPUWith(7))); err == nil ||
		len(l.Entries()) > 0 {
		t.Errorf("got error %v and reservations %v, want an error and no reservation", err,
			l.Entries())
	}
}

// not is an architecture that returns an error on backends with the given number of workers.
type not struct {
	models.MLP
	workers int
}

func (a not) NewGenerator(be device.Backend, latent int, heads []models.Head,
	seed uint64) (models.Generator, error) {
	if be.Workers() == a.workers {
		return nil, errors.New("no such network")
	}
	return a.MLP.NewGenerator(be, latent, heads, seed)
}

// TestSetsAreNoLongerThanTheSchemaAllows checks that drawn sets have at most the schema's number of
// items.
func TestSetsAreNoLongerThanTheSchemaAllows(t *testing.T) {
	s := records.Sets(9, 1)
	data := must(records.FromItems(s, [][]uint32{{1}, {2}}))(t)
	p := mustPlan(t, small(s, accountant.AddOrRemoveOne, rff.RBF{Dim: 8, Bandwidth: 1}))
	g := must(p.Fit(t.Context(), data))(t)
	drawn := must(g.Sample(t.Context(), 50))(t)
	if err := records.Check(drawn); err != nil {
		t.Error(err)
	}
}

// TestHugeGenerators checks that networks and batches too large for any memory, and networks of a
// wrong width, are reported as errors and do not panic.
func TestHugeGenerators(t *testing.T) {
	p, data, _ := someSets(t)
	e := mustEmbed(t, p, data)
	for _, g := range []merf.GeneratorConfig{
		{Batch: math.MaxInt},
		{Architecture: models.MLP{Hidden: []int{math.MaxInt}}},
		{Architecture: wider{}},
	} {
		g.Steps = 1
		var wrong *param.Error
		if _, err := merf.Train(t.Context(), e, g); !errors.As(err, &wrong) {
			t.Errorf("%+v: got %v, want *param.Error", g, err)
		}
		c := p.Config
		if c.Generator = g; !errors.As(second(c.Plan()), &wrong) {
			t.Errorf("Plan accepts a plan with %+v", g)
		}
	}
}

// wider is a user-defined architecture whose records have one coordinate too many.
type wider struct{ models.MLP }

func (a wider) NewGenerator(be device.Backend, latent int, heads []models.Head,
	seed uint64) (models.Generator, error) {
	heads = append(heads, models.Head{Width: 1, Out: models.Linear})
	return a.MLP.NewGenerator(be, latent, heads, seed)
}

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }

// TestPassesOfOtherPlans: a plan makes one pass, and no sums of another one.
func TestPassesOfOtherPlans(t *testing.T) {
	p, _, _ := someSets(t)
	for _, pass := range []synth.Pass{{}, {Purpose: "another"},
		{Purpose: merf.PurposeEmbed, State: []byte{1}}} {
		if _, err := p.Partial(pass); err == nil {
			t.Errorf("the plan has sums for the pass %+v", pass)
		}
	}
	if _, err := p.Partial(synth.Pass{Purpose: merf.PurposeEmbed}); err != nil {
		t.Error(err)
	}
	if g := (*merf.Embedding)(nil).Guarantee(); g.NotPrivate == "" {
		t.Error("an embedding of nothing has a guarantee")
	}
}
