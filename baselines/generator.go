package baselines

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Generator is what a fit releases. It is safe for concurrent use.
type Generator struct {
	schema    records.Schema
	sampler   sampler
	guarantee accountant.Guarantee
}

// sampler draws n sets, each item once, in any order. Sets within the schema may be the sampler's own.
type sampler interface {
	draw(rng *rand.Rand, n int) [][]uint32
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (g *Generator) Guarantee() accountant.Guarantee { return g.guarantee }

// Schema is the schema of the synthetic records.
func (g *Generator) Schema() records.Schema { return g.schema }

// Draw says which synthetic records are wanted; of its fields only the seed matters here.
type Draw = release.Draw

// All draws from a fresh seed.
func All() Draw { return release.All() }

// chunkRows bounds the memory of a draw.
const chunkRows = 1 << 13

// Chunks generates n records in pieces of bounded size.
//
// Errors: ctx.Err(); *param.Error for a negative n.
func (g *Generator) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		if n < 0 {
			yield(nil, &param.Error{Path: "n", Value: n, Want: "the number of records, zero or more"})
			return
		}
		rng := rand.New(rand.NewPCG(d.Seed, 0x62617365))
		for lo := 0; lo < n; lo += chunkRows {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			chunk, err := records.FromItems(g.schema, g.draw(rng, min(chunkRows, n-lo)))
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// draw cuts sets to what the schema allows; those are left that reading such a set leaves.
func (g *Generator) draw(rng *rand.Rand, n int) [][]uint32 {
	rows := g.sampler.draw(rng, n)
	for i, row := range rows {
		if len(row) > g.schema.MaxItems() {
			slices.Sort(row)
			rows[i] = records.CutSet(row, g.schema.MaxItems())
		}
	}
	return rows
}

// Sample generates n records from a seed: post-processing, so any will do.
//
// Errors: those of [Generator.Chunks].
func (g *Generator) Sample(ctx context.Context, n int, seed uint64) (records.Data, error) {
	var parts []records.Data
	for chunk, err := range g.Chunks(ctx, n, Draw{Cluster: -1, Class: -1, Seed: seed}) {
		if err != nil {
			return nil, err
		}
		parts = append(parts, chunk)
	}
	return records.Concat(g.schema, parts...)
}
