package draft

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
)

// NewPartial returns empty counts for one shard of the records. Another process may do the
// counting; see package partial.
//
// Errors: *param.Error for a plan not made by Config.Plan.
func (p *Plan) NewPartial() (*partial.Partial, error) {
	if p == nil || p.Event == nil {
		return nil, refused("p", nil, "a plan, made by Config.Plan")
	}
	c := p.Config
	pass, err := partial.NewPass("draft", c.Candidates, c.Budget, c.NoiseMultiplier,
		c.BinsPerDoubling)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, c.Candidates, frames{newCounter(p)}, false), nil
}

// frames counts tables.
type frames struct{ *counter }

// Add counts every record.
//
// Errors: *param.Error for data that are not a table.
func (c frames) Add(ctx context.Context, data records.Data) error {
	rows, shares := records.RowsOf(data)
	f, ok := records.AsFrame(rows)
	if !ok {
		return refused("data", "data that are not a table", "a table, *records.Frame")
	}
	return c.add(ctx, f, shares)
}

// Sums returns the counts.
func (c frames) Sums() []*mechanism.FixedSum { return []*mechanism.FixedSum{c.sum} }

// Release is like Fit for records that were already counted in shards. It empties the shards.
//
// Guarantee: that of Fit for the records of all shards, if each record is in exactly one shard.
// Errors: those of Fit; *param.Error for shards of another plan, for shards whose Add has failed,
// and for shards whose records do not support the ledger's unit.
func Release(ctx context.Context, p *Plan, shards []*partial.Partial,
	ledger *accountant.Ledger) (*Draft, error) {
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	all, err := p.merged(ledger, shards)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, ledger, func(c *counter) error {
		c.sum.Merge(all.Sums()[0])
		return nil
	})
}

// FitPasses is like Fit for records that other processes hold: read returns the counts of all
// records, merged from shards as package partial describes. The event is reserved before read is
// called.
//
// Guarantee: that of Release. Errors: those of Release, and those of read.
func FitPasses(ctx context.Context, p *Plan, read func(context.Context) (*partial.Partial, error),
	ledger *accountant.Ledger) (*Draft, error) {
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	if read == nil {
		return nil, refused("read", nil, "a function that counts records")
	}
	return p.run(ctx, ledger, func(c *counter) error {
		s, err := read(ctx)
		if err != nil {
			return err
		}
		all, err := p.merged(ledger, []*partial.Partial{s})
		if err != nil {
			return err
		}
		c.sum.Merge(all.Sums()[0])
		return nil
	})
}

// merged returns the sum of all shards if they may be released together.
func (p *Plan) merged(ledger *accountant.Ledger, shards []*partial.Partial) (*partial.Partial,
	error) {
	all, err := p.NewPartial()
	if err != nil {
		return nil, err
	}
	if len(shards) == 0 {
		return nil, param.New("draft.Release.shards", 0, "the counts of at least one shard")
	}
	if err := partial.Check("draft.Release.shards", all.Pass(), ledger.Unit(), shards...); err != nil {
		return nil, err
	}
	for _, s := range shards {
		if err := all.Merge(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}
