package models

import "github.com/seed7ba64551/privgen/device"

// PaperCritic28 returns the critic of the dp-GAN experiments on MNIST: three convolutions of 5×5
// and stride 2 with 64, 128 and 256 maps, leaky rectifiers, no normalisation. A forward pass
// takes 48 million floating-point operations.
//
// Source: Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model", 2018,
// and their code.
func PaperCritic28() CNN { return critic28(64) }

// SmallCritic28 returns PaperCritic28 with a quarter of the maps, for CPUs: a forward pass takes 3
// million floating-point operations.
func SmallCritic28() CNN { return critic28(16) }

func critic28(maps int) CNN {
	a := CNN{Height: 28, Width: 28, Channels: 1, Activation: LeakyReLU}
	for range 3 {
		a.Convolutions = append(a.Convolutions, Convolution{Maps: maps, Size: 5, Stride: 2, Pad: 2})
		maps *= 2
	}
	return a
}

// PaperGenerator28 returns a generator like the generator of the dp-GAN experiments on MNIST: a
// dense layer, then transposed convolutions with batch normalisation. Its windows have an even
// side, so image sides double without cropping: 7, 14 and 28 pixels.
//
// Source: see PaperCritic28. The generator there starts at 4 pixels and crops 8 to 7.
func PaperGenerator28() ConvDecoder { return generator28(128, 64) }

// SmallGenerator28 returns a smaller PaperGenerator28, for CPUs: an image takes 3 million
// floating-point operations.
func SmallGenerator28() ConvDecoder { return generator28(32, 16) }

func generator28(maps ...int) ConvDecoder {
	return ConvDecoder{Height: 28, Width: 28, Channels: 1, Maps: maps, Size: 4,
		Output: device.Sigmoid, BatchNorm: true}
}
