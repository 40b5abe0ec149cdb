package sampler

import "github.com/seed7ba64551/privgen/internal/entropy"

// manyRows is the probability above which one word for every row is cheaper than one logarithm for
// every sampled row.
const manyRows = 1.0 / 8

// PoissonRows appends to index, in increasing order, a Poisson sample of the rows [0,n): each row
// is in it independently with probability exactly q.
func PoissonRows(n int, q float64, src entropy.Bits, index []int32) []int32 {
	switch {
	case !(q > 0):
		return index
	case q >= 1:
		for row := range n {
			index = append(index, int32(row))
		}
	case q > manyRows:
		threshold := FirstWord(q)
		for row := range n {
			if bernoulliWord(threshold, q, src.Uint64(), src) {
				index = append(index, int32(row))
			}
		}
	default:
		gaps := newGeometric(q)
		for row := gaps.next(n, src); row < n; row += 1 + gaps.next(n-row, src) {
			index = append(index, int32(row))
		}
	}
	return index
}
