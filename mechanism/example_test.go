package mechanism_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// The example releases a noisy sum of clipped records. A second release with the same grant is
// refused.
func ExampleGrant_Release() {
	l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	run := mechanism.Begin(context.Background(), l)

	const clip, noiseMultiplier = 1.0, 5.0
	std := noiseMultiplier * mechanism.SumSensitivity(run.Relation(), clip)
	sum := mechanism.NewFixedSum(2, mechanism.GridFor(std))
	for _, row := range [][]float32{{0.5, 0.5}, {3, 4}} {
		squared := float64(row[0])*float64(row[0]) + float64(row[1])*float64(row[1])
		sum.AddRow(row, mechanism.ClipFactor(squared, clip))
	}

	grant, err := run.Spend("sum of records", accountant.Gaussian{NoiseMultiplier: noiseMultiplier})
	if err != nil {
		fmt.Println(err)
		return
	}
	noisy := make([]float64, 2)
	if err := grant.Release(1/noiseMultiplier, mechanism.Part{Sum: sum, Std: std, Out: noisy}); err !=
		nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(noisy), "noisy coordinates")

	err = grant.Release(1/noiseMultiplier, mechanism.Part{Sum: sum, Std: std, Out: noisy})
	fmt.Println("the same again:", errors.Is(err, mechanism.ErrNotCovered))
	// Output:
	// 2 noisy coordinates
	// the same again: true
}

// The example runs ten steps of DP-SGD. A Poisson sample and a noisy gradient sum are one event.
func ExampleGrant_ReleaseGradient() {
	l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
	run := mechanism.Begin(context.Background(), l)
	const steps, rate, noiseMultiplier, clip = 10, 0.01, 1.1, 1.0
	step := accountant.PoissonSampled{Probability: rate,
		Event: accountant.Gaussian{NoiseMultiplier: noiseMultiplier}}
	allowance, err := run.Reserve("training", step, steps)
	if err != nil {
		fmt.Println(err)
		return
	}
	records := 60000 // private under add-or-remove-one: only the sampler gets this number
	weights := make([]float64, 100)
	for allowance.Remaining() > 0 {
		grant, err := allowance.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		index, _ := grant.PoissonSample(records, nil, nil)
		sum := make([]float32, len(weights))
		for range index {
			// clip each record's gradient to norm 1 and add it here
		}
		gradient := mechanism.Gradient{
			Sum:             sum,
			Sensitivity:     mechanism.SumSensitivity(run.Relation(), clip),
			NoiseMultiplier: noiseMultiplier,
			Workers:         2,
		}
		err = grant.ReleaseGradient(gradient, func(offset int, noisy []float64) {
			for i, v := range noisy {
				weights[offset+i] -= 0.1 * v / 600 // divide by a public batch size, never by len(index)
			}
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	_, err = allowance.Next()
	fmt.Println(errors.Is(err, ledger.ErrReservationExhausted))
	// Output: true
}
