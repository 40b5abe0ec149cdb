package accountant_test

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

func ExampleEpsilon() {
	training := accountant.Repeated{Event: accountant.PoissonSampled{Probability: 0.01,
		Event: accountant.Gaussian{NoiseMultiplier: 1.1}}, Count: 1000}
	eps, err := accountant.Epsilon(training, 1e-5, accountant.AddOrRemoveOne)
	fmt.Printf("ε ≤ %s %v\n", accountant.FormatUpper(eps.Upper, 3), err)
	// Output: ε ≤ 1.52 <nil>
}

func ExampleCalibrateNoise() {
	target := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	sigma, achieved, err := accountant.CalibrateNoise(target, func(sigma float64) accountant.Event {
		return accountant.Composed{Events: []accountant.Event{
			accountant.Gaussian{NoiseMultiplier: 20}, // a fixed first stage
			accountant.Repeated{Event: accountant.PoissonSampled{Probability: 0.01,
				Event: accountant.Gaussian{NoiseMultiplier: sigma}}, Count: 1000},
		}}
	})
	fmt.Printf("σ = %.3f fits: %v, %v\n", sigma, achieved.Upper <= target.Epsilon, err)
	// Output: σ = 1.433 fits: true, <nil>
}

func ExampleAttackBounds() {
	attack, err := accountant.AttackBounds(accountant.Gaussian{NoiseMultiplier: 4}, 1e-5,
		accountant.AddOrRemoveOne)
	fmt.Printf("right about membership at most %.1f%% of the time, %v\n", 100*attack.BestAccuracy, err)
	// Output: right about membership at most 55.0% of the time, <nil>
}

// shuffledAtLeast returns a lower bound of ε at δ of one epoch of a shuffled data set in t batches.
// All other records move their sums against the record, which its removal leaves as zero, so that
// the sum with the record is 1 instead of 0, and all others are −1. The bound compares how likely
// it is that some sum exceeds a level. Source: Chua et al. 2024, How Private are DP-SGD
// Implementations?
func shuffledAtLeast(t int, sigma, delta float64) float64 {
	exceeds := func(level, mean float64) float64 { // one sum has this mean, and the others 0
		below := func(x float64) float64 { return math.Log1p(-math.Erfc(x/sigma/math.Sqrt2) / 2) }
		return -math.Expm1(float64(t-1)*below(level) + below(level-mean))
	}
	best := 0.0
	for level := 0.0; level < 2+9*sigma; level += 0.01 {
		p, q := exceeds(level, 2), exceeds(level, 1)
		if p > delta && q > 0 {
			best = max(best, math.Log((p-delta)/q))
		}
	}
	return best
}

// One epoch by random allocation costs less than by Poisson samples, and both cost less than an
// epoch of a shuffled data set, which no event covers.
func ExampleRandomAllocation() {
	const delta = 1e-5
	price := func(e accountant.Event) string {
		b, err := accountant.Epsilon(e, delta, accountant.AddOrRemoveOne)
		if err != nil {
			return err.Error()
		}
		return accountant.FormatUpper(b.Upper, 3)
	}
	for _, c := range []struct {
		steps int
		sigma float64
	}{{100, 1}, {1000, 1}, {1000, 0.6}, {1000, 0.4}} {
		poisson := accountant.PoissonSampled{Probability: 1 / float64(c.steps),
			Event: accountant.Gaussian{NoiseMultiplier: c.sigma}}
		fmt.Println(c.steps, c.sigma,
			price(accountant.RandomAllocation{c.steps, c.sigma, 0, false}),
			price(accountant.Repeated{Event: poisson, Count: c.steps}),
			accountant.FormatLower(shuffledAtLeast(c.steps, c.sigma, delta), 3))
	}
	// Output:
	// 100 1 0.622 0.719 4.06
	// 1000 1 0.139 0.149 2.88
	// 1000 0.6 1.39 1.43 7.98
	// 1000 0.4 6.31 7.02 13.2
}
