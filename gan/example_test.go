package gan_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// This example plans and runs a training. Drawing samples from the generator costs no privacy.
func ExampleConfig_Plan() {
	schema := records.Interval(2, 0, 1)
	data, err := records.FromRows(schema, [][]float32{{0.1, 0.2}, {0.8, 0.9}, {0.2, 0.1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := gan.Config{
		Schema: schema, Budget: accountant.Budget{Epsilon: 2, Delta: 1e-5},
		Critic:    models.MLP{Hidden: []int{128, 64}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{64, 128}, BatchNorm: true}, Latent: 8,
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 40,
			Optimizer: sgd.AdamWith(1e-3, 0.5, 0.9, 1e-8)},
	}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := gen.Sample(context.Background(), 100)
	fmt.Println(rows.Len(), err, gen.Guarantee().Epsilon <= 2)
	// Output: 100 <nil> true
}
