package mechanism

import "github.com/seed7ba64551/privgen/mechanism/internal/sampler"

// SampleWithoutReplacement draws a uniformly random subset of size Sample of the rows
// [0, Population). Sample and Population are fields of the grant's event. It appends the rows to
// index, in increasing order. For each row it appends one key to keys, as [Grant.PoissonSample]
// does.
//
// Guarantee: all subsets of that size are exactly equally likely.
// Errors: see [Grant.PoissonSample]. Source: Algorithm S of Knuth, The Art of Computer Programming
// 3.4.2. Small subsets of many rows are drawn by Floyd's algorithm (Bentley and Floyd 1987), in a
// time that does not grow with the population.
func (g *Grant) SampleWithoutReplacement(index []int32, keys []uint64) ([]int32, []uint64) {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if !g.takeSample(sampleSubset) {
		return index, keys
	}
	before := len(index)
	e := g.a.terms.subset
	index = sampler.Subset(e.Population, e.Sample, g.a.samples(), index)
	keys = g.a.rowKeys(g.step, index[before:], keys)
	g.tellSample(float64(e.Sample)/float64(e.Population), e.Population, index[before:])
	return index, keys
}
