package tabular

import (
	"math"
	"math/bits"
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
	parts := min(max(1<<30/max(t.Len()*len(t.columns), 1), 1), 128) // so sets take 128 MiB at most
	indices := make([]index, len(t.columns))
	compare.Each(len(indices), func(j int) { indices[j] = newIndex(t.columns[j], parts) })
	out := make([]float64, len(queries))
	compare.Workers(len(queries), func() func(int) {
		in, chosen := make([]uint64, (t.Len()+63)/64), make([]uint64, (t.Len()+63)/64)
		return func(i int) {
			n := t.Len()
			for k, c := range queries[i].conditions {
				indices[c.column].choose(c, chosen)
				n = 0
				for w, some := range chosen {
					if k > 0 {
						some &= in[w]
					}
					in[w], n = some, n+bits.OnesCount64(some)
				}
			}
			out[i] = float64(n) / math.Max(float64(t.Len()), 1)
		}
	})
	return out
}

// index is a column as sets of records, with a bit for each. Its parts are its levels, or equal
// parts of the scale of its numbers.
type index struct {
	column
	places []float64  // of numbers
	below  [][]uint64 // the records in the parts before each, and in all; nil for too many levels
}

func newIndex(c column, parts int) index {
	x := index{column: c}
	if !c.number && len(c.levels) > parts {
		return x
	} else if !c.number {
		parts = len(c.levels)
	}
	for range parts + 1 {
		x.below = append(x.below, make([]uint64, (c.len()+63)/64))
	}
	add := func(r, part int) { x.below[part+1][r/64] |= 1 << (r % 64) }
	for r, code := range c.codes {
		if code >= 0 {
			add(r, int(code))
		}
	}
	for r, v := range c.values {
		x.places = append(x.places, c.place(v))
		if v == v {
			add(r, x.part(x.places[r]))
		}
	}
	for k, set := range x.below[1:] {
		for w, some := range x.below[k] {
			set[w] |= some
		}
	}
	return x
}

// part returns the part of a place. It does not decrease with the place.
func (x *index) part(place float64) int {
	parts := len(x.below) - 1
	return min(max(int(place*float64(parts)), 0), parts-1)
}

// choose sets chosen to the records that fulfil the condition. Of numbers, it looks only at those
// in the parts where the range begins and ends.
func (x *index) choose(c condition, chosen []uint64) {
	clear(chosen)
	add := func(from, to int) {
		for w, some := range x.below[to] {
			chosen[w] |= some &^ x.below[from][w]
		}
	}
	switch {
	case x.number:
		first, last := x.part(c.lo), x.part(c.hi)
		add(first+1, last)
		for w := range chosen {
			edge := x.below[first+1][w]&^x.below[first][w] | x.below[last+1][w]&^x.below[last][w]
			for ; edge != 0; edge &= edge - 1 {
				k := bits.TrailingZeros64(edge)
				if v := x.places[w*64+k]; v >= c.lo && v <= c.hi {
					chosen[w] |= 1 << k
				}
			}
		}
	case x.below == nil:
		for r, code := range x.codes {
			if code >= 0 && c.levels[code] {
				chosen[r/64] |= 1 << (r % 64)
			}
		}
	default:
		for l, yes := range c.levels {
			if yes {
				add(l, l+1)
			}
		}
	}
}
