package beam

import (
	"context"
	"encoding/json"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// reader returns a function that runs a pass of the work as a pipeline.
func reader[P any](j Job, w Work, s records.Schema) func(context.Context, P) (*mechanism.Partial,
	error) {
	return func(ctx context.Context, pass P) (*mechanism.Partial, error) {
		return j.sums(ctx, w, s, pass)
	}
}

// Fit runs a plan. Every pass over the records is a pipeline. Work after a release, such as
// training a generator, runs in this process.
//
// Guarantee: the plan's guarantee for the records of all shards; see synth.FitPasses. The ledger,
// which may belong to a store, has the same lines as for the same records in memory.
//
// Errors: all errors of the plan's FitOn; *param.Error for an invalid job, before anything is
// reserved; errors of the runner, after which the reservation remains.
func Fit(ctx context.Context, j Job, p synth.PassPlan, ledger *ledger.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	if p == nil {
		return nil, param.New("beam.Fit.p", nil, "a plan")
	}
	if err := j.check(p.Schema(), ledger); err != nil {
		return nil, err
	}
	w, err := PlanWork(p)
	if err != nil {
		return nil, err
	}
	opts = append([]synth.Option{synth.Shards(j.names()...)}, opts...)
	return p.FitPasses(ctx, ledger, reader[synth.Pass](j, w, p.Schema()), opts...)
}

// MERF is [Fit] of a plan of merf.
func MERF(ctx context.Context, j Job, p *merf.Plan, ledger *ledger.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	if p == nil { // not a nil interface
		return Fit(ctx, j, nil, ledger, opts...)
	}
	return Fit(ctx, j, p, ledger, opts...)
}

// Mix is [Fit] of a plan of mix with Poisson samples. The first pass counts the records, and adds
// up the mean records if the plan releases these. Every later pass makes the sums of as many
// mixtures as fit into 64 MiB. A record's position decides which mixtures include it, under a key
// that is drawn for the pass and sent encrypted. A public number of records is checked by a pass of
// its own before anything is reserved.
//
// Guarantee: as for [Fit]. Errors: all errors of [Fit]; *param.Error for a shard whose number of
// records changes between passes, before noise of the later pass is drawn.
func Mix(ctx context.Context, j Job, p *mix.Plan, ledger *ledger.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	if p == nil { // not a nil interface
		return Fit(ctx, j, nil, ledger, opts...)
	}
	return Fit(ctx, j, p, ledger, opts...)
}

// Embed releases the embedding of a plan of merf and trains nothing. With the kernel rff.Pairs, the
// embedding consists of the noisy marginals of a table's columns or of their pairs.
//
// Guarantee and Errors: see [Fit].
func Embed(ctx context.Context, j Job, p *merf.Plan, ledger *ledger.Ledger,
	opts ...synth.Option) (*merf.Embedding, error) {
	if p == nil {
		return nil, param.New("beam.Embed.p", nil, "a plan made by merf.Config.Plan")
	}
	if err := j.check(p.Schema(), ledger); err != nil {
		return nil, err
	}
	w, err := PlanWork(p)
	if err != nil {
		return nil, err
	}
	return p.EmbedPasses(ctx, ledger, reader[synth.Pass](j, w, p.Schema()), opts...)
}

// Marginals releases a table's noisy marginals by [Embed]: of columns if order is 1, and of their
// pairs too if it is 2.
//
// Guarantee and Errors: see [Embed]; also *param.Error for a schema without columns, or with too
// many marginals.
func Marginals(ctx context.Context, j Job, s records.Schema, b accountant.Budget, order int,
	ledger *ledger.Ledger, opts ...synth.Option) (*merf.Embedding, error) {
	p, err := merf.Config{Schema: s, Budget: b, Kernel: rff.Pairs{Order: order}}.Plan()
	if err != nil {
		return nil, err
	}
	return Embed(ctx, j, p, ledger, opts...)
}

// KMeans clusters records in the space of a feature map, or of their own coordinates if the map is
// nil. Each iteration is one pipeline, whose side input is the centres.
//
// Guarantee and Errors: see kmeans.FitPasses and [Fit].
func KMeans(ctx context.Context, j Job, c kmeans.Config, features *rff.Map, s records.Schema,
	ledger *ledger.Ledger, opts ...kmeans.Option) (*kmeans.Model, error) {
	if err := j.check(s, ledger); err != nil {
		return nil, err
	}
	f, name := kmeans.Raw(s), rawFeatures
	if features != nil {
		text, err := json.Marshal(features)
		if err != nil {
			return nil, err
		}
		f, name = features, string(text)
	}
	return kmeans.FitPasses(ctx, c, f, name, s, ledger, reader[kmeans.Pass](j, KMeansWork(), s),
		opts...)
}

// Draft estimates bounds and levels of a table.
//
// Guarantee and Errors: see draft.FitPasses and [Fit].
func Draft(ctx context.Context, j Job, p *draft.Plan, ledger *ledger.Ledger) (*draft.Draft,
	error) {
	if p == nil {
		return nil, param.New("beam.Draft.p", nil, "a plan made by draft.Config.Plan")
	}
	s := p.Config.Candidates
	if err := j.check(s, ledger); err != nil {
		return nil, err
	}
	w, err := DraftWork(p)
	if err != nil {
		return nil, err
	}
	read := reader[struct{}](j, w, s)
	return draft.FitPasses(ctx, p, func(ctx context.Context) (*mechanism.Partial, error) {
		return read(ctx, struct{}{})
	}, ledger)
}
