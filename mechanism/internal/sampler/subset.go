package sampler

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// fewRows is the largest number of rows for which insertion into a sorted list costs little.
const fewRows = 1 << 11

// Subset appends to index, in increasing order, a subset of the given size of the rows [0,
// population). All such subsets are exactly equally likely.
func Subset(population, sample int, src entropy.Bits, index []int32) []int32 {
	if sample <= fewRows && sample < population/8 {
		return floyd(population, sample, src, index)
	}
	return scan(population, sample, src, index)
}

// scan passes over all rows and takes each with its conditional probability, given the rows
// before it.
func scan(population, sample int, src entropy.Bits, index []int32) []int32 {
	for row, wanted := 0, sample; wanted > 0 && row < population; row++ {
		if UniformBelow(uint64(population-row), src) < uint64(wanted) {
			index = append(index, int32(row))
			wanted--
		}
	}
	return index
}

// floyd draws one of the first j+1 rows for j = population−sample, …, population−1. If the drawn
// row is already in the subset, floyd takes row j instead.
func floyd(population, sample int, src entropy.Bits, index []int32) []int32 {
	before := len(index)
	for j := population - sample; j < population; j++ {
		row := int32(UniformBelow(uint64(j+1), src))
		at, taken := slices.BinarySearch(index[before:], row)
		if taken {
			index = append(index, int32(j)) // larger than all rows in the subset
			continue
		}
		index = slices.Insert(index, before+at, row)
	}
	return index
}
