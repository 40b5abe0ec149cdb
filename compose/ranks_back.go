package compose

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// drawnBack is the number of synthetic records for the mapping back, if columns are few. Tests of
// what does not depend on it lower it.
var drawnBack = 1 << 16

const (
	mostBack    = 1 << 24 // numbers of these records together
	ranksOfBack = 1025    // quantiles of a column of these records
)

// drawnFor returns the number of synthetic records on which the mapping back is computed.
func drawnFor(columns int) int {
	return max(min(drawnBack, mostBack/max(columns, 1)), ranksOfBack)
}

// back maps the part's coordinates of one column to ranks. It holds quantiles of the
// coordinates, in ascending order, at equal distances of rank.
type back []float32

// backOf returns the mapping of each column. A network does not reproduce the distribution of ranks
// exactly, so ranks are taken among its own synthetic records. If the part cannot draw, the
// normal distribution is used, since the run has been paid for and its result must be released. For
// the same reason an interrupt does not stop it: it is the last step, and no state of it is saved.
//
// Errors: *param.Error for a model of a user-defined system that returns the private
// records.
func backOf(ctx context.Context, gen *synth.Generator, columns []column, private records.Data,
	seed uint64) ([]back, error) {
	drawn := make([][]float32, len(columns))
	var z records.Nonzeros
	n := drawnFor(len(columns))
	for rows, err := range gen.Stream(context.WithoutCancel(ctx), n, synth.Seed(seed),
		synth.Unconstrained()) {
		if err != nil {
			break
		}
		if records.DeclarePublic(rows).Overlaps(private) {
			return nil, param.New("compose.Ranks.Of", "a generator of the private records",
				"a generator of synthetic records")
		}
		z.Range(rows, 0, rows.Len())
		for i := range z.Rows {
			eachNumber(columns, &z, i, func(j int, x float32) { drawn[j] = append(drawn[j], x) })
		}
	}
	out := make([]back, len(columns))
	for j, list := range drawn {
		out[j] = quantilesOf(list)
	}
	return out, nil
}

// quantilesOf returns the quantiles of a list of numbers, which it sorts, and those of the normal
// distribution for an empty list.
func quantilesOf(list []float32) back {
	slices.Sort(list)
	out := make(back, ranksOfBack)
	for k := range out {
		if len(list) == 0 {
			out[k] = normal(float64(k) / (ranksOfBack - 1))
			continue
		}
		out[k] = list[min(k*len(list)/(ranksOfBack-1), len(list)-1)]
	}
	return out
}

// rank returns the rank of a coordinate. Several ranks are possible for a value that many of the
// other system's records have; then one of them is drawn.
func (b back) rank(x float32, rng *rand.Rand) float64 {
	below := sort.Search(len(b), func(k int) bool { return b[k] >= x })
	above := sort.Search(len(b), func(k int) bool { return b[k] > x })
	last := float64(len(b) - 1)
	switch {
	case above > below:
		return (float64(below) + rng.Float64()*float64(above-1-below)) / last
	case below == 0:
		return 0
	case below == len(b):
		return 1
	}
	step := float64(x-b[below-1]) / float64(b[below]-b[below-1])
	return (float64(below-1) + step) / last
}
