package draft

import "math"

// Records that are spread thinly over many bins are not visible in any single bin. So counts are
// also added up over runs of 2, 4, 8, … neighbouring bins. The noise on a run of l bins is only √l
// times the noise on one bin, but the run counts the records of all l bins. The sums use the same
// noisy counts, so they cost only a slightly higher threshold.

// runs calls try for every run [lo, hi) of 1, 2, 4, … neighbours among n bins, shorter runs first.
func runs(n int, try func(lo, hi int)) {
	for length := 1; length <= n; length *= 2 {
		for lo := range n - length + 1 {
			try(lo, lo+length)
		}
	}
}

// span returns the first and the last bin that must be kept. Consider all runs that reach the
// threshold of their length. The run with the earliest end gives the first bin. The run with the
// latest beginning gives the last bin. If several runs share this end or beginning, the shortest
// counts. If no run reaches its threshold, last is less than first.
func span(counts []float64, threshold float64) (first, last int) {
	sums := make([]float64, len(counts)+1)
	for i, c := range counts {
		sums[i+1] = sums[i] + c
	}
	begin, end := -1, len(counts)+1
	first, last = 0, -1
	runs(len(counts), func(lo, hi int) {
		if sums[hi]-sums[lo] < threshold*math.Sqrt(float64(hi-lo)) {
			return
		}
		if lo > begin {
			begin, last = lo, hi-1
		}
		if hi < end {
			end, first = hi, lo
		}
	})
	return first, last
}

// tests returns the number of sums of this column that are compared with a threshold.
func (h *histogram) tests() int {
	if !h.number {
		return h.cells
	}
	n := h.cells - h.bins()
	runs(h.bins(), func(int, int) { n++ })
	return n
}
