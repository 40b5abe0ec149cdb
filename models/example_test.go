package models_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// Per-example gradients come as norms and weighted sums: clipping to norm 1
// without ever making a row of parameters for each example.
func ExampleGradients() {
	net, err := models.PaperVAE().New(device.CPU(), models.Visible{Dim: 6}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := device.Batch{Rows: 2, Dense: device.HostMatrix(2, 6, []float32{1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1}), Keys: []uint64{7, 8}}
	g := net.Gradients(b)
	squared := make([]float64, b.Rows)
	g.SquaredNorms(squared)
	weights := make([]float32, b.Rows)
	for i, s := range squared {
		weights[i] = float32(1 / max(1, s))
	}
	sum := device.NewParams(device.CPU(), net.Params().Shapes...)
	g.AddWeightedSum(sum, weights)
	fmt.Println(len(squared), "norms,", sum.Len(), "parameters")
	// Output: 2 norms, 4010 parameters
}

func ExampleMLP_Classifier() {
	net, err := models.MLP{}.Classifier(device.CPU(), 2, 2, 1) // logistic regression
	if err != nil {
		fmt.Println(err)
		return
	}
	b := device.Batch{Rows: 4, Dense: device.HostMatrix(4, 2, []float32{0, 0, 0, 1, 1, 0, 1, 1}), Labels: []int32{0, 0, 1, 1}}
	for range 100 {
		net.Gradients(b).AddWeightedSum(net.Params(), []float32{-.5, -.5, -.5, -.5})
	}
	classes := make([]int32, 4)
	net.PredictClass(b, classes)
	fmt.Println(classes)
	// Output: [0 0 1 1]
}

func ExampleRBM() {
	net, err := models.PaperRBM().New(device.CPU(), models.Visible{Dim: 10}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	net.(models.Stepper).BeginStep() // the chains advance, whatever the batch
	means := device.CPU().New(3, 10)
	net.Sample(rand.New(rand.NewPCG(1, 2)), means)
	fmt.Println(means.Rows, "records of", means.Cols, "probabilities")
	// Output: 3 records of 10 probabilities
}
