package sgd_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// A user-defined training loop: calibrate the noise to a budget, reserve it on a
// ledger and train.
func Example() {
	data, err := records.FromRows(records.Binary(4),
		[][]float32{{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	net, err := models.VAE{Hidden: []int{16}, Latent: 2}.New(device.CPU(), models.Visible{Dim: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 20, Optimizer: sgd.Adam(1e-2)}
	if cfg, err = cfg.Calibrate(budget); err != nil {
		fmt.Println(err)
		return
	}
	l := ledger.New(budget)
	trainer, err := sgd.New(cfg, net, l)
	if err != nil {
		fmt.Println(err)
		return
	}
	for step, err := range trainer.Steps(context.Background(), data) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if step.Number%10 == 0 {
			fmt.Printf("step %d of %d\n", step.Number, step.Of)
		}
	}
	fmt.Println("within budget:", l.Epsilon().Upper <= budget.Epsilon)
	// Output:
	// step 10 of 20
	// step 20 of 20
	// within budget: true
}

// All mistakes are reported together, each with its path.
func ExampleConfig_Validate() {
	err := sgd.Config{SamplingProbability: 1.5, Steps: 100, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-3)}.Validate()
	fmt.Println(err)
	var p *param.Error
	fmt.Println(errors.As(err, &p))
	// Output:
	// sgd.Config.ClipNorm: 0: want a positive number in [2^-60, 2^60]
	// sgd.Config.SamplingProbability: 1.5: want a probability in (0, 1]
	// true
}

// The clip norm of every step is chosen privately. The histogram and the gradient are one event.
func ExampleDPNorm() {
	cfg := sgd.Config{
		Clip:                sgd.DPNorm{MaxNorm: 10, Bins: 100, NoiseMultiplier: 4},
		SamplingProbability: 0.01, Steps: 1000, NoiseMultiplier: 3, Optimizer: sgd.Adam(1e-3),
	}
	e := cfg.Event(accountant.AddOrRemoveOne).(accountant.PoissonSampled)
	fmt.Printf("q = %v, joint noise multiplier %.3g\n", e.Probability,
		e.Event.(accountant.Gaussian).NoiseMultiplier)
	// Output: q = 0.01, joint noise multiplier 2.4
}
