package network

import (
	"math/rand/v2"
	"sort"
)

// A Choice draws an index by weight. It holds the cumulative weights.
type Choice []float64

// NewChoice returns the choice for weights that are not negative and not all zero.
func NewChoice(weights []float64) (c Choice) {
	total := 0.0
	for _, w := range weights {
		total += w
		c = append(c, total)
	}
	return c
}

// Pick draws an index, or returns asked if it is not negative.
func (c Choice) Pick(rng *rand.Rand, asked int) int {
	if asked >= 0 {
		return asked
	}
	u := rng.Float64() * c[len(c)-1]
	return min(sort.Search(len(c), func(i int) bool { return u < c[i] }), len(c)-1)
}
