package dpgm_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// unclamped is data that returns rows without clamping them, as a user-defined records.Data may do.
type unclamped struct {
	schema records.Schema
	rows   [][]float32
}

func (u unclamped) Schema() records.Schema { return u.schema }
func (u unclamped) Len() int               { return len(u.rows) }

func (u unclamped) Gather(rows []int32, b *device.Batch) {
	dim := u.schema.Dim()
	b.Rows, b.Index, b.Sparse = len(rows), append(b.Index[:0], rows...), nil
	b.Dense = device.HostMatrix(len(rows), dim, make([]float32, len(rows)*dim))
	for i, row := range rows {
		copy(b.Dense.Row(i), u.rows[row])
	}
}

func (u unclamped) Range(lo, hi int, b *device.Batch) {
	rows := make([]int32, hi-lo)
	for i := range rows {
		rows[i] = int32(lo + i)
	}
	u.Gather(rows, b)
}

// TestNoRecordMovesASumTooFar checks that an added, removed or replaced record changes each release
// by at most its declared effect. Records may have extreme numbers or NaN, and earlier batches may
// have left any state in the networks.
func TestNoRecordMovesASumTooFar(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	wild := []float32{nan, inf, -inf, 3e38, -1e30, 7, 1e-40}
	rng := rand.New(rand.NewPCG(11, 4))
	schema := records.Binary(12)
	row := func(wildness int) []float32 {
		r := make([]float32, schema.Dim())
		for j := range r {
			r[j] = float32(rng.IntN(2))
			if rng.IntN(wildness) == 0 {
				r[j] = wild[rng.IntN(len(wild))]
			}
		}
		return r
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		all := variants(schema, r)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			c.Train.Steps, c.Train.SamplingProbability, c.Train.MicroBatch = 5, 0.7, 4
			plan := mustPlan(t, c)
			for i := range 2 {
				rows := make([][]float32, 12)
				for j := range rows {
					rows[j] = row(40)
				}
				other := slices.Clone(rows)
				other[11] = row(3)
				if r == accountant.AddOrRemoveOne {
					rows, other = other, other[:11]
				}
				t.Run(fmt.Sprintf("%v/%s/%d", r, name, i), func(t *testing.T) {
					privacytest.Replay[records.Data]{Run: everythingVisible(plan), Budget: c.Budget,
						Data: unclamped{schema, rows}, Neighbour: unclamped{schema, other}, Seeds: 1}.Check(t)
				})
			}
		}
	}
}
