package models

import "github.com/seed7ba64551/privgen/device"

// VectorCritic returns a critic for vectors and tables: two hidden layers of leaky rectifiers,
// without normalisation.
func VectorCritic() MLP { return MLP{Hidden: []int{128, 64}, Activation: LeakyReLU} }

// VectorGenerator returns the generator for VectorCritic.
func VectorGenerator() MLP { return MLP{Hidden: []int{64, 128}, BatchNorm: true} }

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

func critic28(maps int) CNN { return criticOf(28, 1, maps, 2*maps, 4*maps) }

func criticOf(side, channels int, maps ...int) CNN {
	a := CNN{Height: side, Width: side, Channels: channels, Activation: LeakyReLU}
	for _, m := range maps {
		a.Convolutions = append(a.Convolutions, Convolution{Maps: m, Size: 5, Stride: 2, Pad: 2})
	}
	return a
}

// PaperGenerator28 returns a generator like the generator of the dp-GAN experiments on MNIST: a
// dense layer, then transposed convolutions with batch normalisation. Its windows have an even
// side, so image sides double without cropping: 7, 14 and 28 pixels.
//
// Source: see PaperCritic28. The generator there starts at 4 pixels and crops 8 to 7.
func PaperGenerator28() ConvDecoder { return generatorOf(28, 1, 128, 64) }

// SmallGenerator28 returns a smaller PaperGenerator28, for CPUs: an image takes 3 million
// floating-point operations.
func SmallGenerator28() ConvDecoder { return generatorOf(28, 1, 32, 16) }

func generatorOf(side, channels int, maps ...int) ConvDecoder {
	return ConvDecoder{Height: side, Width: side, Channels: channels, Maps: maps, Size: 4,
		Enlarge: TransposedUp, Output: device.Sigmoid, BatchNorm: true}
}

// Critic32 returns a critic for images of 32×32 pixels: the critic of DCGAN, without normalisation.
// Channels is 1 for grey and 3 for colours.
func Critic32(channels int) CNN { return criticOf(32, channels, 64, 128, 256) }

// Critic48 returns a critic for images of 48×48 pixels; see Critic32.
func Critic48(channels int) CNN { return criticOf(48, channels, 64, 128, 256, 512) }

// Critic64 returns a critic for images of 64×64 pixels; see Critic32.
func Critic64(channels int) CNN { return criticOf(64, channels, 64, 128, 256, 512) }

// Generator32 returns the generator for Critic32.
func Generator32(channels int) ConvDecoder { return generatorOf(32, channels, 256, 128, 64) }

// Generator48 returns the generator for Critic48.
func Generator48(channels int) ConvDecoder { return generatorOf(48, channels, 256, 128, 64, 32) }

// Generator64 returns the generator for Critic64.
func Generator64(channels int) ConvDecoder { return generatorOf(64, channels, 512, 256, 128, 64) }
