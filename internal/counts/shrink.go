// Package counts improves counts that were released with Gaussian noise. It reads released numbers
// only, so all of it is post-processing.
package counts

import "math"

// Shrink estimates nonnegative counts from counts with noise of standard deviation std. The
// estimate is the mean of each count given its noisy value and the distribution of all counts.
//
// If many counts are near zero, noise makes half of them negative and the largest ones too large;
// clamping them would add the mean of the clamped noise to every sum of them. The distribution is
// estimated by maximum likelihood over a grid of possible counts (Kiefer and Wolfowitz 1956;
// Robbins' empirical Bayes); noisy counts far above the noise do not change.
func Shrink(noisy []float64, std float64) []float64 {
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

// Distances are in standard deviations of the noise.
const (
	far    = 10.0     // from here on a noisy count is left unchanged
	step   = 1.0 / 16 // of the grid of possible counts
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
		Normalise(next)
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

// share adds n observations to the counts they may come from.
func share(dst, prior, likelihood []float64, n float64) {
	dst, likelihood = dst[:len(prior)], likelihood[:len(prior)]
	var sums [4]float64 // four sums, so that an addition need not wait for the one before
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

// Normalise divides v by its sum, or sets all elements equal if the sum is zero.
func Normalise(v []float64) {
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
