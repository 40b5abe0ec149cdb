package mechanism

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// SampleWithoutReplacement draws the event's uniformly random subset of exactly
// its Sample of the rows [0, Population), appending rows in rising order and
// keys as [Grant.PoissonSample] does.
//
// Guarantee: every subset of that size is equally likely, exactly.
// Errors: as for PoissonSample.
// Source: Knuth, The Art of Computer Programming 3.4.2, Algorithm S; for small
// subsets of many rows Floyd's algorithm (Bentley and Floyd 1987), whose time does
// not grow with the population.
func (g *Grant) SampleWithoutReplacement(index []int32, keys []uint64) ([]int32, []uint64) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !g.takeSample(sampleSubset) {
		return index, keys
	}
	before := len(index)
	e := g.a.terms.subset
	if e.Sample <= fewRows && e.Sample < e.Population/8 {
		index = floyd(e.Population, e.Sample, g.a.samples(), index)
	} else {
		index = scan(e.Population, e.Sample, g.a.samples(), index)
	}
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(float64(e.Sample)/float64(e.Population), index[before:])
	return index, keys
}

// fewRows is how many rows may be kept in order by insertion at no cost worth mention.
const fewRows = 1 << 11

// scan passes over all rows and takes each with the probability that it still has.
func scan(population, sample int, src entropy.Bits, index []int32) []int32 {
	for row, wanted := 0, sample; wanted > 0 && row < population; row++ {
		if uniformBelow(uint64(population-row), src) < uint64(wanted) {
			index = append(index, int32(row))
			wanted--
		}
	}
	return index
}

// floyd draws one of the first j+1 rows for j = population−sample, …, population−1, and
// takes row j in its place if it has been taken already.
func floyd(population, sample int, src entropy.Bits, index []int32) []int32 {
	before := len(index)
	for j := population - sample; j < population; j++ {
		row := int32(uniformBelow(uint64(j+1), src))
		at, taken := slices.BinarySearch(index[before:], row)
		if taken {
			index = append(index, int32(j)) // above all others
			continue
		}
		index = slices.Insert(index, before+at, row)
	}
	return index
}
