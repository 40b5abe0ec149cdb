package main

import "testing"

// TestTheorem1 checks that the standard deviations of the noise on means that Theorem 1 gives, with
// ranges (Δ² = 794/σ²) and with norms of 9.2 (Δ² = 171.28/σ²), give the target ε, up to a change of
// their last digit, or of 1 %. n = T = 60,000 and δ = 1/n.
func TestTheorem1(t *testing.T) {
	const n = 60000
	for _, row := range []struct {
		epsilon         float64
		degree          int
		ranges, clipped float64 // 0 if there is no value
	}{
		{20, 64, .215, .100}, {10, 64, .270, .125}, {10, 16, .871, 0}, {10, 128, .172, 0},
		{10, 256, .150, 0}, {2, 128, .586, .272}, {1, 64, 1.149, .534}, {1, 128, 1.117, .519},
	} {
		for _, c := range []struct{ sigma, square float64 }{
			{row.ranges, 784 + 10}, {row.clipped, 2*9.2*9.2 + 2}} {
			if c.sigma == 0 {
				continue
			}
			epsilon := func(sigma float64) float64 {
				return epsilonOfTheorem1(n, row.degree, n, c.square/sigma/sigma, 1.0/n)
			}
			slack := max(0.0006, 0.01*c.sigma)
			if less, more := epsilon(c.sigma-slack),
				epsilon(c.sigma+slack); !(less > row.epsilon && more < row.epsilon) {
				t.Errorf("degree %d, σ = %g: ε is between %.4g and %.4g, want %g", row.degree, c.sigma, more,
					less, row.epsilon)
			}
		}
	}
}
