package draft

import (
	"context"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// NewPartial returns empty counts for one shard of the records. The shard may be counted by another
// process; see mechanism.Partial.
//
// Errors: *param.Error for a plan not made by Config.Plan.
func (p *Plan) NewPartial() (*mechanism.Partial, error) {
	if p == nil || p.Event == nil {
		return nil, param.New("draft.Plan.NewPartial", nil, "a plan, made by Config.Plan")
	}
	if p.Open > 0 {
		return nil, param.New("draft.Plan.NewPartial", p.Config.Candidates.String(),
			"candidates without open levels: their texts are not counted in shards")
	}
	c := p.Config
	pass, err := mechanism.NewPassID("draft", c.Candidates, c.Budget, c.NoiseMultiplier,
		c.BinsPerDoubling)
	if err != nil {
		return nil, err
	}
	return mechanism.NewPartial(pass, c.Candidates, frames{newCounter(p)}, false), nil
}

// frames counts the records of tables.
type frames struct{ *counter }

// Add counts every record.
//
// Errors: *param.Error for data that are not a table; ctx.Err().
func (c frames) Add(ctx context.Context, data records.Data) error {
	rows, shares := records.RowsOf(data)
	f, ok := records.AsFrame(rows)
	if !ok {
		return param.New("mechanism.Partial.Add", "data that are not a table",
			"a table, *records.Frame")
	}
	return c.add(ctx, f, shares)
}

// Sums returns the counts.
func (c frames) Sums() []*mechanism.FixedSum { return []*mechanism.FixedSum{c.sum} }

// Release is Fit for records that are already counted in shards. It empties the shards.
//
// Guarantee: as for Fit, for the records of all shards together. Each record must be in exactly one
// shard. Errors: all errors of Fit; *param.Error for no shards, for shards of another plan, for
// shards whose Add has failed, and for a ledger with a unit that the shards do not support.
func Release(ctx context.Context, p *Plan, shards []*mechanism.Partial,
	ledger *ledger.Ledger) (*Draft, error) {
	const call = "draft.Release"
	if err := p.check(call, ledger); err != nil {
		return nil, err
	}
	all, err := p.merged(call+".shards", ledger, shards)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, ledger, func(c *counter) error {
		c.sum.Merge(all.Sums()[0])
		return nil
	})
}

// FitPasses is Fit for records that other processes hold. The function read returns the counts of
// all records, merged from shards as mechanism.Partial describes. The plan's event is reserved on
// the ledger before read is called.
//
// Guarantee: see Release. Errors: all errors of Release and of read.
func FitPasses(ctx context.Context, p *Plan, read func(context.Context) (*mechanism.Partial, error),
	ledger *ledger.Ledger) (*Draft, error) {
	const call = "draft.FitPasses"
	if err := p.check(call, ledger); err != nil {
		return nil, err
	}
	if read == nil {
		return nil, param.New(call+".read", nil, "a function that counts records")
	}
	if _, err := p.NewPartial(); err != nil { // before anything is reserved
		return nil, err
	}
	return p.run(ctx, ledger, func(c *counter) error {
		s, err := read(ctx)
		if err != nil {
			return err
		}
		all, err := p.merged(call+".read", ledger, []*mechanism.Partial{s})
		if err != nil {
			return err
		}
		c.sum.Merge(all.Sums()[0])
		return nil
	})
}

// merged returns the sum of all shards, or an error if they may not be released together. The path
// names the argument in errors.
func (p *Plan) merged(path string, ledger *ledger.Ledger,
	shards []*mechanism.Partial) (*mechanism.Partial, error) {
	all, err := p.NewPartial()
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		return nil, param.New(path, 0, "the counts of at least one shard")
	}
	if err := mechanism.CheckPartials(path, all.ID(), ledger.Unit(), shards...); err != nil {
		return nil, err
	}
	for _, s := range shards {
		if err := all.Merge(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}
