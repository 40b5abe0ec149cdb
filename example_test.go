package privgen_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Plan makes all decisions and reads no records, so the price can be approved before any record is
// read.
func ExampleDPGM_plan() {
	plan, err := privgen.DPGM(records.BinaryImage(28, 28), accountant.Budget{Epsilon: 4, Delta: 1e-5}).
		Features(rff.RBF{Dim: 200, Bandwidth: 8}).
		Cluster(kmeans.Config{K: 10, Iterations: 8, Share: 0.15}).
		Model(models.PaperVAE()).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 500, Optimizer: sgd.Adam(1e-3)}).
		Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("within the budget:", plan.Total().Upper <= 4)
	for _, s := range plan.Stages() {
		fmt.Println(s.Purpose, s.Count)
	}
	// Output:
	// within the budget: true
	// k-means 8
	// training 500
}

// From records to synthetic records in one chain.
func ExampleDPGM() {
	ctx := context.Background()
	shopping, err := records.FromItems(records.Sets(50, 5),
		[][]uint32{{1, 2}, {2, 3, 7}, {1}, {40, 41}, {40, 42}, {7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := privgen.DPGM(shopping.Schema(), accountant.Budget{Epsilon: 1, Delta: 1e-6}).
		Cluster(kmeans.Config{K: 1}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 20, Optimizer: sgd.Adam(1e-2)}).
		Fit(ctx, shopping)
	if err != nil {
		fmt.Println(err)
		return
	}
	baskets, err := gen.Sample(ctx, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(baskets.Len(), "synthetic baskets,", gen.Guarantee().Relation)
	// Output: 1000 synthetic baskets, add_or_remove_one
}
