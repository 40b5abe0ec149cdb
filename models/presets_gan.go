package models

import "github.com/seed7ba64551/privgen/device"

// Critic28 returns a critic of 28×28 images: three convolutions of 5×5 and stride 2, leaky
// rectifiers, no normalisation. The first has the given number of maps, and each has twice as many
// as the one before. With 64 maps it is the critic of the dp-GAN experiments on MNIST, and a
// forward pass takes 48 million floating-point operations. With 16 it is fit for CPUs and takes 3
// million.
//
// Source: Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model", 2018,
// and their code.
func Critic28(maps int) CNN {
	a := CNN{Height: 28, Width: 28, Channels: 1, Activation: LeakyReLU}
	for range 3 {
		a.Convolutions = append(a.Convolutions, Convolution{Maps: maps, Size: 5, Stride: 2, Pad: 2})
		maps *= 2
	}
	return a
}

// Generator28 returns a generator of 28×28 images: a dense layer, then two transposed convolutions
// with batch normalisation, of inputs with the given numbers of maps. With 128 and 64 maps it is
// like the generator of the dp-GAN experiments. Its windows have an even side, so image sides
// double without cropping: 7, 14 and 28 pixels. With 32 and 16 it is fit for CPUs: an image takes 3
// million floating-point operations.
//
// Source: see Critic28. The generator there starts at 4 pixels and crops 8 to 7.
func Generator28(maps ...int) ConvDecoder {
	return ConvDecoder{Height: 28, Width: 28, Channels: 1, Maps: maps, Size: 4,
		Output: device.Sigmoid, BatchNorm: true}
}
