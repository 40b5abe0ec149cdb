package dpgm_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// This example plans and trains two clusters with one network each. The price of training does not
// depend on the number of clusters.
func ExampleConfig_Plan() {
	rows := make([][]float32, 400)
	for i := range rows {
		rows[i] = []float32{1, 1, 0, 0}
		if i%2 == 0 {
			rows[i] = []float32{0, 0, 1, 1}
		}
	}
	data, err := records.FromRows(records.Binary(4), rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := dpgm.Config{
		Schema:  data.Schema(),
		Budget:  accountant.Budget{Epsilon: 4, Delta: 1e-5},
		Cluster: kmeans.Config{K: 2, Iterations: 4, Share: 0.3},
		Model:   models.VAE{Hidden: []int{8}, Latent: 1},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.2, Steps: 20,
			Optimizer: sgd.Adam(1e-2)},
	}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range plan.Stages() {
		fmt.Println(s.Count, "×", s.Purpose)
	}
	gen, err := plan.Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Clusters(), "clusters, within the budget:", gen.Guarantee().Epsilon <= 4)
	// Output:
	// 4 × k-means
	// 20 × training
	// 2 clusters, within the budget: true
}
