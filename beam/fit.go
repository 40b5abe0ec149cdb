package beam

import (
	"context"
	"encoding/json"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// reader makes the passes of a work on the job.
func reader[P any](j Job, w Work, s records.Schema) func(context.Context, P) (*partial.Partial,
	error) {
	return func(ctx context.Context, pass P) (*partial.Partial, error) {
		return j.sums(ctx, w, s, pass)
	}
}

// Fit carries a plan out: every pass over the records is a pipeline, and what follows a release,
// such as training a generator, runs in this process.
//
// Guarantee: that of the plan for the records of all shards: see synth.FitPasses. The ledger, which
// may be that of a store, has the same lines as for the same records in memory.
// Errors: those of the plan's FitOn; *param.Error for a job that makes no sense, before anything is
// reserved; the runner's, where what was reserved stays so.
func Fit(ctx context.Context, j Job, p synth.PassPlan, ledger *accountant.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	if p == nil {
		return nil, param.New("beam.Fit.p", nil, "a plan")
	}
	if err := j.check(p.Schema()); err != nil {
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
func MERF(ctx context.Context, j Job, p *merf.Plan, ledger *accountant.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	return Fit(ctx, j, p, ledger, opts...)
}

// Mix is [Fit] of a plan of mix whose samples are Poisson's. Records are counted in a first pass,
// together with the mean records where the plan has these; every later pass makes the sums of as
// many mixtures as 64 MiB hold. Which records a mixture holds is decided by their positions, under
// a key that travels sealed and is drawn for each pass.
//
// A source must yield the same records in the same order in every pass.
//
// Guarantee and Errors: those of [Fit]; *param.Error for a shard whose number of records changes.
func Mix(ctx context.Context, j Job, p *mix.Plan, ledger *accountant.Ledger,
	opts ...synth.Option) (*synth.Generator, error) {
	return Fit(ctx, j, p, ledger, opts...)
}

// Embed releases the embedding of a plan of merf and trains nothing. With a kernel of rff.Pairs it
// is the noisy marginals of a table, of columns or of their pairs.
//
// Guarantee and Errors: those of [Fit].
func Embed(ctx context.Context, j Job, p *merf.Plan, ledger *accountant.Ledger,
	opts ...synth.Option) (*merf.Embedding, error) {
	if err := j.check(p.Schema()); err != nil {
		return nil, err
	}
	w, err := PlanWork(p)
	if err != nil {
		return nil, err
	}
	return p.EmbedPasses(ctx, ledger, reader[synth.Pass](j, w, p.Schema()), opts...)
}

// Marginals is [Embed] of a table's marginals: order 1 for columns alone, 2 for pairs of them too.
//
// Guarantee and Errors: those of [Embed]; *param.Error for a schema that has none, or too many.
func Marginals(ctx context.Context, j Job, s records.Schema, b accountant.Budget, order int,
	ledger *accountant.Ledger, opts ...synth.Option) (*merf.Embedding, error) {
	p, err := merf.Config{Schema: s, Budget: b, Kernel: rff.Pairs{Order: order}}.Plan()
	if err != nil {
		return nil, err
	}
	return Embed(ctx, j, p, ledger, opts...)
}

// KMeans clusters records in the space of a feature map, or of their own coordinates where that is
// nil: one pipeline an iteration, of which the centres are a side input.
//
// Guarantee and Errors: those of kmeans.FitPasses and [Fit].
func KMeans(ctx context.Context, j Job, c kmeans.Config, features *rff.Map, s records.Schema,
	ledger *accountant.Ledger, opts ...kmeans.Option) (*kmeans.Model, error) {
	if err := j.check(s); err != nil {
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
// Guarantee and Errors: those of draft.FitPasses and [Fit].
func Draft(ctx context.Context, j Job, p *draft.Plan, ledger *accountant.Ledger) (*draft.Draft,
	error) {
	if p == nil {
		return nil, param.New("beam.Draft.p", nil, "a plan, made by draft.Config.Plan")
	}
	s := p.Config.Candidates
	if err := j.check(s); err != nil {
		return nil, err
	}
	w, err := DraftWork(p)
	if err != nil {
		return nil, err
	}
	read := reader[struct{}](j, w, s)
	return draft.FitPasses(ctx, p, func(ctx context.Context) (*partial.Partial, error) {
		return read(ctx, struct{}{})
	}, ledger)
}
