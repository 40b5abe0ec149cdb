package network

import (
	"math/rand/v2"
	"sort"
)

// A Choice draws an index with probability proportional to its weight. It holds the cumulative
// weights.
type Choice []float64

// NewChoice returns the Choice for the given weights. They must not be negative, and one must be
// positive.
func NewChoice(weights []float64) (c Choice) {
	total := 0.0
	for _, w := range weights {
		total += w
		c = append(c, total)
	}
	return c
}

// Pick returns asked if asked is not negative. Otherwise it draws an index.
func (c Choice) Pick(rng *rand.Rand, asked int) int {
	if asked >= 0 {
		return asked
	}
	u := rng.Float64() * c[len(c)-1]
	return min(sort.Search(len(c), func(i int) bool { return u < c[i] }), len(c)-1)
}
