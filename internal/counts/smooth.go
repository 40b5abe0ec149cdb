package counts

import "math"

// Smooth estimates counts of neighbouring cells from counts with independent noise of standard
// deviation std. It returns the noisy counts without those differences between neighbouring
// intervals that noise explains. So frequent single cells stay, and regions of similar counts
// become even.
//
// It is the average, over all shifts of the cells, of Haar wavelet estimates: in each level the
// differences of adjacent intervals that are below a threshold are set to zero. The threshold is
// std·√(2·ln n) for n cells.
//
// Source: Coifman and Donoho, "Translation-Invariant De-Noising", 1995.
func Smooth(noisy []float64, std float64) []float64 {
	n := 1
	for n < len(noisy) {
		n *= 2
	}
	if len(noisy) < 2 || !(std > 0) {
		return append([]float64(nil), noisy...)
	}
	threshold := std * math.Sqrt(2*math.Log(float64(len(noisy))))
	padded := make([]float64, n) // mirrored at the end, so that no step arises there
	for i := range padded {
		padded[i] = noisy[min(i, 2*len(noisy)-1-i)]
	}
	return smooth(padded, threshold)[:len(noisy)]
}

// smooth returns the estimates for a power of two of cells that form a circle. In each level,
// details are the orthonormal differences of adjacent intervals at every shift.
func smooth(cells []float64, threshold float64) []float64 {
	n := len(cells)
	a := append([]float64(nil), cells...)
	var details [][]float64
	for width := 1; width < n; width *= 2 {
		sums, d := make([]float64, n), make([]float64, n)
		for i := range n {
			next := a[(i+width)%n]
			sums[i] = (a[i] + next) / math.Sqrt2
			if diff := (a[i] - next) / math.Sqrt2; math.Abs(diff) > threshold {
				d[i] = diff
			}
		}
		a, details = sums, append(details, d)
	}
	for level := len(details) - 1; level >= 0; level-- {
		d, width := details[level], 1<<level
		out := make([]float64, n)
		for i := range n {
			before := (i - width + n) % n // the interval that ends with this one
			out[i] = (a[i] + d[i] + a[before] - d[before]) / (2 * math.Sqrt2)
		}
		a = out
	}
	return a
}
