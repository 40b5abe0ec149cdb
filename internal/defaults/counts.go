package defaults

import "math"

// ShrinkCounts estimates nonnegative counts from counts with noise of standard deviation std. The
// estimate is the mean of each count given its noisy value and the distribution of all counts.
//
// If many counts are near zero, noise makes half of them negative and the largest counts too large.
// Clamping would bias sums of counts upwards, since the mean of clamped noise is positive.
// ShrinkCounts estimates the distribution by maximum likelihood over a grid of possible counts
// (Kiefer and Wolfowitz 1956; Robbins' empirical Bayes). Noisy counts far above the noise do not
// change.
func ShrinkCounts(noisy []float64, std float64) []float64 {
	out := make([]float64, len(noisy))
	if !(std > 0) {
		for i, v := range noisy {
			out[i] = max(v, 0)
		}
		return out
	}
	prior := fit(noisy, std)
	for i, v := range noisy {
		if z := v / std; z < far {
			out[i] = std * posterior(prior, z)
		} else {
			out[i] = v
		}
	}
	return out
}

// Counts and distances are in units of the noise's standard deviation.
const (
	far    = 10.0     // noisy counts from this value on do not change
	step   = 1.0 / 16 // distance of the points in the grid of possible counts
	points = (far+4)/step + 1
	bin    = 1.0 / 16 // width of bins of noisy counts, while the distribution is fitted
	lowest = -8.0
	bins   = int((far - lowest) / bin)
	rounds = 300
)

// fit returns the distribution of the counts over the grid, by expectation maximisation.
func fit(noisy []float64, std float64) []float64 {
	histogram := make([]float64, bins)
	for _, v := range noisy {
		if z := v / std; z < far {
			histogram[min(max(int((z-lowest)/bin), 0), bins-1)]++
		}
	}
	likelihood := make([][]float64, bins)
	for b := range likelihood {
		if histogram[b] > 0 {
			likelihood[b] = densities(lowest + (float64(b)+0.5)*bin)
		}
	}
	prior := make([]float64, int(points))
	for j := range prior {
		prior[j] = 1 / points
	}
	next := make([]float64, len(prior))
	for range rounds {
		clear(next)
		for b, n := range histogram {
			if n > 0 {
				share(next, prior, likelihood[b], n)
			}
		}
		NormaliseCounts(next)
		prior, next = next, prior
	}
	return prior
}

// densities returns the densities of a noisy count z under each possible count.
func densities(z float64) []float64 {
	out := make([]float64, int(points))
	for j := range out {
		d := z - float64(j)*step
		out[j] = math.Exp(-d*d/2) + math.SmallestNonzeroFloat64
	}
	return out
}

// share divides n observations among the counts from which they may come, in proportion to the
// posterior probabilities.
func share(dst, prior, likelihood []float64, n float64) {
	dst, likelihood = dst[:len(prior)], likelihood[:len(prior)]
	var sums [4]float64 // four sums, so that an addition does not wait for the previous one
	whole := len(prior) &^ 3
	for j := 0; j < whole; j += 4 {
		p, l := prior[j:j+4:j+4], likelihood[j:j+4:j+4]
		sums[0] += p[0] * l[0]
		sums[1] += p[1] * l[1]
		sums[2] += p[2] * l[2]
		sums[3] += p[3] * l[3]
	}
	for j := whole; j < len(prior); j++ {
		sums[0] += prior[j] * likelihood[j]
	}
	total := sums[0] + sums[1] + (sums[2] + sums[3])
	if scale := n / total; total > 0 && !math.IsInf(scale, 1) {
		for j, p := range prior {
			dst[j] += scale * p * likelihood[j]
		}
	}
}

// NormaliseCounts divides v by its sum, or sets all elements equal if the sum is zero.
func NormaliseCounts(v []float64) {
	total := 0.0
	for _, x := range v {
		total += x
	}
	for i := range v {
		if total > 0 {
			v[i] /= total
		} else {
			v[i] = 1 / float64(len(v)) // nothing was observed
		}
	}
}

func posterior(prior []float64, z float64) float64 {
	var mass, mean float64
	for j, l := range densities(max(z, lowest)) {
		mass += prior[j] * l
		mean += prior[j] * l * float64(j) * step
	}
	if !(mass > 0) {
		return max(z, 0)
	}
	return mean / mass
}
