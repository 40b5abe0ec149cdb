package marginal

import (
	"cmp"
	"math"
	"slices"
)

// leastBump is the smallest difference between two halves, in standard deviations, that is not
// taken for noise. Among a few hundred parts without differences, about one is then mistaken.
const leastBump = 3.0

// partWeights estimates the numbers of records in the parts of a cell with total records. The noisy
// counts have the given standard deviation. Counts that are clearly above those of their neighbours
// are kept. The other records are divided between the two halves of the cell, and so on: in the
// ratio of the counts if it differs clearly from that of the widths, otherwise in the ratio of the
// widths. So a smooth distribution gets less noise than the counts have.
//
// If equal is not 0, only the first parts have a width, and the others are single values among
// many. Their counts are kept if they are clearly above 0.
func partWeights(counts []float64, equal int, std, total float64) []float64 {
	least := std * max(leastBump, math.Sqrt(2*math.Log(float64(len(counts))))+0.5)
	weights, rest := make([]float64, len(counts)), total
	wide := counts[:cmp.Or(equal, len(counts))]
	var others []int
	for i, c := range counts {
		expected := 0.0
		if i < len(wide) {
			expected = max(around(wide, i), 0)
		}
		switch {
		case c-expected > least:
			weights[i] = c
			rest -= c
		case i < len(wide):
			others = append(others, i)
		}
	}
	spread(weights, counts, others, std, max(rest, 0))
	for _, w := range weights {
		if w > 0 {
			return weights
		}
	}
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

// around returns the median of the counts of up to seven neighbours of a part.
func around(counts []float64, i int) float64 {
	const block = 8
	lo := max(min(i-block/2, len(counts)-block), 0)
	near := slices.Clone(counts[lo:min(lo+block, len(counts))])
	near = slices.Delete(near, i-lo, i-lo+1)
	slices.Sort(near)
	return near[len(near)/2]
}

// spread divides records among parts.
func spread(weights, counts []float64, parts []int, std, records float64) {
	if len(parts) < 2 || records == 0 {
		for _, i := range parts {
			weights[i] = records
		}
		return
	}
	half := len(parts) / 2
	n, m := float64(half), float64(len(parts)-half)
	var left, right float64
	for k, i := range parts {
		if k < half {
			left += counts[i]
		} else {
			right += counts[i]
		}
	}
	part := n / (n + m)
	if math.Abs(left/n-right/m) > leastBump*std*math.Sqrt(1/n+1/m) {
		left, right = max(left, 0), max(right, 0)
		if left+right > 0 {
			part = left / (left + right)
		}
	}
	spread(weights, counts, parts[:half], std, part*records)
	spread(weights, counts, parts[half:], std, (1-part)*records)
}
