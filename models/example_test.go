package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// Gradients are clipped to norm 1 with norms and a weighted sum, without forming a row of
// parameters for each example.
func ExampleGradients() {
	net, err := models.PaperVAE().New(device.CPU(), models.Visible{Dim: 6}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := device.Batch{Rows: 2,
		Dense: device.HostMatrix(2, 6, []float32{1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1}),
		Keys:  []uint64{7, 8}}
	g := net.Gradients(b)
	squared := make([]float64, b.Rows)
	g.SquaredNorms(squared)
	weights := make([]float32, b.Rows)
	for i, s := range squared {
		weights[i] = float32(1 / max(1, math.Sqrt(s)))
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
	b := device.Batch{Rows: 4, Dense: device.HostMatrix(4, 2, []float32{0, 0, 0, 1, 1, 0, 1, 1}),
		Labels: []int32{0, 0, 1, 1}}
	for range 100 {
		net.Gradients(b).AddWeightedSum(net.Params(), []float32{-.5, -.5, -.5, -.5})
	}
	classes := make([]int32, 4)
	net.PredictClass(b, classes)
	fmt.Println(classes)
	// Output: [0 0 1 1]
}

func ExampleRBM() {
	net, err := models.RBM{Hidden: 200, Chains: 100}.New(device.CPU(), models.Visible{Dim: 10}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	net.(models.Stepper).BeginStep() // advances the chains
	means := device.CPU().New(3, 10)
	net.Sample(rand.New(rand.NewPCG(1, 2)), means)
	fmt.Println(means.Rows, "records of", means.Cols, "probabilities")
	// Output: 3 records of 10 probabilities
}

// A classifier for images can be trained privately like any other network.
func ExampleCNN_Classifier() {
	net, err := models.CNN{
		Height: 8, Width: 8, Channels: 1,
		Convolutions: []models.Convolution{{Maps: 4, Size: 3, Stride: 2, Pad: 1},
			{Maps: 8, Size: 3, Stride: 2, Pad: 1}},
		Hidden: []int{16},
	}.Classifier(device.CPU(), 64, 10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := device.Batch{Rows: 3, Dense: device.CPU().New(3, 64), Labels: []int32{0, 1, 2}}
	squared := make([]float64, b.Rows)
	net.Gradients(b).SquaredNorms(squared)
	fmt.Println(len(squared), "norms,", net.Params().Len(), "parameters")
	// Output: 3 norms, 1034 parameters
}

// A decoder can be trained with any loss of its images: here the loss makes them dark.
func ExampleConvDecoder() {
	be := device.CPU()
	net, err := models.ConvDecoder{Height: 8, Width: 8, Channels: 1, Hidden: []int{20},
		Maps: []int{8, 4}, Size: 3, Output: device.Sigmoid, BatchNorm: true}.NewGenerator(be, 5, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	codes, grad := be.New(32, net.Latent()), device.NewParams(be, net.Params().Shapes...)
	for range 100 {
		for i := range codes.Data {
			codes.Data[i] = float32(rng.NormFloat64())
		}
		images := net.Forward(codes)
		be.Fill(grad.Flat, 0)
		net.Backward(images, grad, device.Matrix{}) // the derivative of ½‖image‖² is the image
		be.Axpy(-0.001, grad.Flat, net.Params().Flat)
	}
	image := be.New(1, net.Dim())
	net.Generate(codes.RowRange(0, 1), image)
	black := 0
	for _, v := range image.Data {
		if v < 0.25 {
			black++
		}
	}
	fmt.Println(black, "of", net.Dim(), "pixels are dark")
	// Output: 64 of 64 pixels are dark
}

// A low-rank adapter (LoRA): a layer keeps public weights, and the product of two narrow layers,
// which starts at zero, is trained.
func ExampleValue_Frozen() {
	net, err := models.Build(device.CPU(), 64, 1, func(x models.Value) models.Loss {
		h := x.Dense(64).Frozen().Plus(x.Dense(4).Dense(64)).Apply(device.ReLU)
		return h.Dense(2).CrossEntropy()
	})
	if err != nil {
		panic(err)
	}
	public := net.Frozen().Block(0) // weights that were trained on public records
	device.CPU().Fill(public, .1)
	device.CPU().Fill(net.Params().Block(2), 0)
	fmt.Println(public.Rows*public.Cols, "public weights; trained:", net.Params().Len(), "parameters")
	// Output: 4096 public weights; trained: 710 parameters
}
