package privacytest

import "gonum.org/v1/gonum/mathext"

// binomialAtLeast returns the probability of k or more successes in n trials.
func binomialAtLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	case p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// lowerRate returns the one-sided lower bound of Clopper and Pearson (1934): at the returned
// rate, k or more successes in n trials have probability alpha.
func lowerRate(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	return bisect(0, float64(k)/float64(n), func(p float64) bool {
		return binomialAtLeast(k, n, p) >= alpha
	})
}

// upperRate returns the one-sided upper bound of Clopper and Pearson.
func upperRate(k, n int, alpha float64) float64 { return 1 - lowerRate(n-k, n, alpha) }
