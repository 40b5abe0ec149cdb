package tutorials_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// mnist classifies images of 28×28 pixels.
func mnist(x models.Value) models.Loss {
	pool := models.Convolution{Size: 2}
	h := x.Shape(28, 28, 1).Conv(models.Convolution{Maps: 16, Size: 8, Stride: 2, Pad: 3})
	h = h.Apply(device.ReLU).MaxPool(pool)
	h = h.Conv(models.Convolution{Maps: 32, Size: 4, Stride: 2}).Apply(device.ReLU).MaxPool(pool)
	return h.Shape(1, 1, 32*4*4).Dense(32).Apply(device.ReLU).Dense(10).CrossEntropy()
}

// names classifies names of up to 16 letters, written from the right, with 0 before the first.
func names(x models.Value) models.Loss {
	h := x.Embed(27, 64).LSTM(128).Shape(1, 1, 16*128)
	return h.Columns(15*128, 16*128).Dense(18).CrossEntropy()
}

// text classifies texts of 64 words, which are numbered by a hash.
func text(x models.Value) models.Loss {
	return x.Embed(10_000, 16).Mean().Dense(16).Apply(device.ReLU).Dense(5).CrossEntropy()
}

// letters predicts the letter after 32 letters, the first half of a record. The second half numbers
// them.
func letters(x models.Value) models.Loss {
	h := x.Columns(0, 32).Embed(27, 32).Plus(x.Columns(32, 64).Embed(32, 32))
	for range 2 {
		h = block(h)
	}
	h = h.LayerNorm().Shape(1, 1, 32*32)
	return h.Columns(31*32, 32*32).Dense(27).CrossEntropy()
}

// block is a block of a transformer.
func block(h models.Value) models.Value {
	n := h.LayerNorm()
	h = h.Plus(n.Dense(32).Attend(n.Dense(32), n.Dense(32), 4, true).Dense(32))
	return h.Plus(h.LayerNorm().Dense(64).Apply(device.ReLU).Dense(32))
}

// pictures classifies images of 32×32 pixels in colour.
func pictures(x models.Value) models.Loss {
	h := x.Shape(32, 32, 3)
	for i, maps := range []int{32, 64, 64, 128} {
		h = h.Conv(models.Convolution{Maps: maps, Size: 3, Pad: 1}).GroupNorm(8).Apply(device.ReLU)
		if i < 3 {
			h = h.MeanPool(models.Convolution{Size: 2, Stride: 2})
		}
	}
	return h.Mean().Dense(10).CrossEntropy()
}

// residual is a block of a deeper network: the same image, plus what two convolutions make of it.
func residual(x models.Value, maps int) models.Value {
	c := models.Convolution{Maps: maps, Size: 3, Pad: 1}
	return x.Conv(c).Apply(device.ReLU).Conv(c).Plus(x).Apply(device.ReLU)
}

// adapted trains a low-rank adapter (LoRA) beside a layer that is public, and the last layer.
func adapted(x models.Value) models.Loss {
	h := x.Dense(100).Frozen().Plus(x.Dense(4).Dense(100))
	return h.Apply(device.ReLU).Dense(10).CrossEntropy()
}

func Example_opacus() {
	for _, c := range []struct {
		name    string
		dim     int
		compute func(x models.Value) models.Loss
	}{{"mnist", 784, mnist}, {"names", 16, names}, {"text", 64, text},
		{"letters", 64, letters}, {"pictures", 32 * 32 * 3, pictures},
		{"residual", 64, func(x models.Value) models.Loss {
			return residual(x.Shape(4, 4, 4), 4).Mean().Dense(3).CrossEntropy()
		}}, {"adapted", 64, adapted}} {
		net, err := models.Build(device.CPU(), c.dim, 1, c.compute)
		check(err)
		fmt.Println(c.name, net.Params().Len())
	}
	// Output:
	// mnist 26010
	// names 103378
	// text 160357
	// letters 19931
	// pictures 132042
	// residual 311
	// adapted 1770
}
