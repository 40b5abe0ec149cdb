package tutorials_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// mnist classifies images of 28×28 pixels.
func mnist(x models.Value) models.Loss {
	h := x.Shape(28, 28, 1).Conv(models.Convolution{Maps: 16, Size: 8, Stride: 2, Pad: 3})
	h = h.Apply(device.ReLU).Conv(models.Convolution{Maps: 32, Size: 4, Stride: 2}).Apply(device.ReLU)
	return h.Shape(1, 1, 6*6*32).Dense(32).Apply(device.ReLU).Dense(10).CrossEntropy()
}

// names classifies names of up to 16 letters, written from the right, with 0 before the first.
func names(x models.Value) models.Loss {
	h := x.Embed(64, 32).LSTM(128).Shape(1, 1, 16*128)
	return h.Columns(15*128, 16*128).Dense(18).CrossEntropy()
}

// text classifies texts of 64 words.
func text(x models.Value) models.Loss {
	return x.Embed(10_000, 16).Mean().Dense(2).CrossEntropy()
}

// residual is a block of a deeper network: the same image, plus what two convolutions make of it.
func residual(x models.Value, maps int) models.Value {
	c := models.Convolution{Maps: maps, Size: 3, Pad: 1}
	return x.Conv(c).Apply(device.ReLU).Conv(c).Plus(x).Apply(device.ReLU)
}

func Example_opacus() {
	for _, c := range []struct {
		name    string
		dim     int
		compute func(x models.Value) models.Loss
	}{{"mnist", 784, mnist}, {"names", 16, names}, {"text", 64, text},
		{"residual", 64, func(x models.Value) models.Loss {
			return residual(x.Shape(4, 4, 4), 4).Mean().Dense(3).CrossEntropy()
		}}} {
		net, err := models.Build(device.CPU(), c.dim, 1, c.compute)
		check(err)
		fmt.Println(c.name, net.Params().Len())
	}
	// Output:
	// mnist 46490
	// names 87314
	// text 160034
	// residual 311
}
