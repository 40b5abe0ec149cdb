package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
)

func main() {
	target := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	fmt.Println(accountant.CalibrateNoise(target, func(sigma float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: sigma}
	}))
}
