package sampler

import (
	"math"
	"testing"
)

// negativeBinomial returns the probabilities of 1, 2, … up to limit.
func negativeBinomial(eta, gamma float64, limit int) []float64 {
	p, total := make([]float64, limit+1), 0.0
	for k, w := 1, 1.0; k <= limit; k++ {
		p[k] = w
		total += w
		w *= (float64(k) + eta) / float64(k+1) * (1 - gamma)
	}
	for k := range p {
		p[k] /= total
	}
	return p
}

func poisson(mean float64, most int) []float64 {
	p := make([]float64, most+1)
	p[0] = math.Exp(-mean)
	for k := 1; k <= most; k++ {
		p[k] = p[k-1] * mean / float64(k)
	}
	return p
}

// frequencies returns how often each number is drawn.
func frequencies(draw func() int, n int) map[int]float64 {
	counts := map[int]float64{}
	for range n {
		counts[draw()]++
	}
	return counts
}

// farthest returns the largest deviation of a number's frequency, in standard deviations. It
// considers all numbers that are expected 20 times or more.
func farthest(counts map[int]float64, p []float64, n int) float64 {
	most := 0.0
	for k, x := range p {
		if e := x * float64(n); e >= 20 {
			most = max(most, math.Abs(counts[k]-e)/math.Sqrt(e*(1-x)+1e-9))
		}
	}
	return most
}

// TestNumbersOfRuns compares frequencies with the probabilities. A false alarm means that one of
// 400 binomial counts is beyond six standard deviations. Every count is expected to be 20 or more.
// The probability of a false alarm is below 1e-5. The test must also detect another shape, and a γ
// that is more than ten per cent too large.
func TestNumbersOfRuns(t *testing.T) {
	src := secureBits(t)
	const n = 200000
	for _, c := range []struct {
		eta, gamma float64
		limit      int
	}{{1, 0.1, 400}, {0, 0.05, 400}, {-0.25, 0.02, 400}, {0.25, 0.3, 400}, {0, 0.02, 10},
		{1, 0.5, 1}} {
		counts := frequencies(func() int { return NegativeBinomial(c.eta, 1-c.gamma, c.limit, src) }, n)
		if s := farthest(counts, negativeBinomial(c.eta, c.gamma, c.limit), n); s > 6 {
			t.Errorf("%+v: a frequency deviates by %.1fσ, want at most 6σ", c, s)
		}
		if c.limit == 1 {
			continue
		}
		for what, p := range map[string][]float64{
			"another shape": negativeBinomial(c.eta+0.2, c.gamma, c.limit),
			"another γ":     negativeBinomial(c.eta, c.gamma*1.1+0.02, c.limit),
		} {
			if s := farthest(counts, p, n); s < 6 {
				t.Errorf("%+v: %s is not detected: %.1fσ, want 6σ or more", c, what, s)
			}
		}
	}
	for _, mean := range []int{1, 7} {
		counts := frequencies(func() int { return Poisson(mean, src) }, n)
		if s := farthest(counts, poisson(float64(mean), 40), n); s > 6 {
			t.Errorf("mean %d: a frequency deviates by %.1fσ, want at most 6σ", mean, s)
		}
		if s := farthest(counts, poisson(float64(mean)*1.05, 40), n); s < 6 {
			t.Errorf("mean %d: another mean is not detected: %.1fσ, want 6σ or more", mean, s)
		}
	}
}
