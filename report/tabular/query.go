package tabular

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// A Query counts the records in which every column of the query lies in a given range or has one of
// the given levels. A missing value is in no range and has no level.
type Query struct{ conditions []condition }

// condition restricts one column.
type condition struct {
	column int
	lo, hi float64 // of numbers, on the scale of the schema from 0 to 1
	levels []bool
}

// Queries draws counting queries of one to three columns each. A range of numbers lies between two
// uniform places on the scale of the schema's encoding. Each level is included with probability one
// half.
func (t *Table) Queries(count int, seed uint64) []Query {
	rng := rand.New(rand.NewPCG(seed, 0x7175657279))
	out := make([]Query, count)
	for i := range out {
		way := 1 + rng.IntN(min(3, len(t.columns)))
		for _, j := range compare.Subset(rng, len(t.columns), way) {
			c := condition{column: int(j)}
			if t.columns[j].number {
				c.lo, c.hi = rng.Float64(), rng.Float64()
				c.lo, c.hi = min(c.lo, c.hi), max(c.lo, c.hi)
			} else {
				c.levels = make([]bool, len(t.columns[j].levels))
				for l := range c.levels {
					c.levels[l] = rng.IntN(2) == 0
				}
			}
			out[i].conditions = append(out[i].conditions, c)
		}
	}
	return out
}

// Answer returns the fraction of the records that each query counts.
func (t *Table) Answer(queries []Query) []float64 {
	places := make([][]float64, len(t.columns))
	compare.Each(len(t.columns), func(j int) {
		c := t.columns[j]
		for _, v := range c.values {
			places[j] = append(places[j], c.place(v))
		}
	})
	out := make([]float64, len(queries))
	compare.Workers(len(queries), func() func(int) {
		in, all := make([]uint8, t.Len()), bytes.Repeat([]byte{1}, t.Len())
		return func(i int) {
			copy(in, all)
			for _, c := range queries[i].conditions {
				c.narrow(in, places[c.column], t.columns[c.column].codes)
			}
			out[i] = float64(bytes.Count(in, []byte{1})) / math.Max(float64(len(in)), 1)
		}
	})
	return out
}

// narrow keeps the records that fulfil the condition, which have 1 in in. It has no branches, which
// would be mispredicted.
func (c condition) narrow(in []uint8, places []float64, codes []int32) {
	for r, v := range places {
		var above, below uint8
		if v >= c.lo { // false for a missing value, NaN
			above = 1
		}
		if v <= c.hi {
			below = 1
		}
		in[r] &= above & below
	}
	of := make([]uint8, len(c.levels)+1) // the first is for missing values
	for l, yes := range c.levels {
		if yes {
			of[l+1] = 1
		}
	}
	for r, code := range codes {
		in[r] &= of[code+1]
	}
}
