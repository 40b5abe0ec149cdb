package accountant_test

import (
	"fmt"

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
