package models

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestCriticChunks: a batch has more images than one chunk of a critic's convolutions. Every record
// has the same norm and the same contribution to the sum as in a batch of its own, also at the
// edges of chunks.
func TestCriticChunks(t *testing.T) {
	const images = 20
	a := CNN{Height: 28, Width: 28, Channels: 1, Activation: LeakyReLU,
		Convolutions: []Convolution{{Maps: 4, Size: 5, Pad: 2}}}
	c := must(a.Critic(device.CPU(), 784, 0, 3))(t)
	if rows := chunkRows(c.(*critic).g.nodes[1].unit.(*convUnit).window); rows >= images {
		t.Fatalf("a chunk holds %d images: the test needs several chunks", rows)
	}
	n := paired{c, 10}
	b := criticBatch(rand.New(rand.NewPCG(8, 2)), images, 784, 0)
	checkFactored(t, n, b, 1)
	norms, alone := make([]float64, images), make([]float64, 1)
	n.Gradients(b).SquaredNorms(norms)
	for i := range images {
		n.Gradients(b.Slice(i, i+1)).SquaredNorms(alone)
		if math.Abs(norms[i]-alone[0]) > 1e-9*alone[0] {
			t.Errorf("image %d: squared norm %v among others, %v alone", i, norms[i], alone[0])
		}
		sum := func(b device.Batch, w []float32) []float32 {
			p := device.NewParams(device.CPU(), n.Params().Shapes...)
			n.Gradients(b).AddWeightedSum(p, w)
			return p.Flat.Data
		}
		one := make([]float32, images)
		one[i] = 1
		got, want := sum(b, one), sum(b.Slice(i, i+1), []float32{1})
		for j := range got {
			got[j] -= want[j]
		}
		if d := squaredNorm(got); d > 1e-8*squaredNorm(want) {
			t.Errorf("image %d: its gradients alone and in the batch differ by squared norm %v of %v", i,
				d, squaredNorm(want))
		}
	}
}

// TestFactorsBeyondProductsAreRejected: if the products of a clipped row's factors could overflow
// float32, the norm is NaN, although float64 could hold it. Code that clips by norms then leaves
// out the record.
func TestFactorsBeyondProductsAreRejected(t *testing.T) {
	be := device.CPU()
	networks := map[string]Network{}
	add := func(name string, n Network, err error) {
		if err != nil {
			t.Fatal(err)
		}
		networks[name] = n
	}
	mlp, err := MLP{Hidden: []int{3}, Activation: ReLU}.Classifier(be, 16, 2, 1)
	add("dense", mlp, err)
	small := CNN{Height: 4, Width: 4, Channels: 1, Activation: LeakyReLU,
		Convolutions: []Convolution{{Maps: 2, Size: 3}}}
	cnn, err := small.Classifier(be, 16, 2, 1)
	add("convolution", cnn, err)
	// If an activation saturates, only the convolution sees the large number.
	flat := small
	flat.Activation = Tanh
	cnn, err = flat.Classifier(be, 16, 2, 1)
	add("saturated convolution", cnn, err)
	critic, err := flat.Critic(be, 16, 0, 1)
	add("saturated convolutional critic", paired{critic, 10}, err)
	rbm, err := RBM{Hidden: 3, Chains: 2}.New(be, Visible{Dim: 16}, 1)
	add("machine", rbm, err)
	c, err := small.Critic(be, 16, 0, 1)
	add("convolutional critic", paired{c, 10}, err)
	c, err = MLP{Hidden: []int{3}, Activation: LeakyReLU}.Critic(be, 16, 0, 1)
	add("critic", paired{c, 10}, err)
	for name, n := range networks {
		b := greyBatch(rand.New(rand.NewPCG(1, 1)), 3, 16, 2)
		for j := range b.Dense.Row(1) {
			b.Dense.Row(1)[j] = 0x1p60 // float32 can hold its square, but not a product with a delta
		}
		norms := make([]float64, 3)
		n.Gradients(b).SquaredNorms(norms)
		if norms[1] <= math.MaxFloat64 || !(norms[0] <= math.MaxFloat64) ||
			!(norms[2] <= math.MaxFloat64) {
			t.Errorf("%s: squared norms %v, want only the second not finite", name, norms)
		}
	}
}

// TestManyLayersAreRefused: a reader would build all of them to know their size.
func TestManyLayersAreRefused(t *testing.T) {
	many, most := make([]int, 90_000), slices.Repeat([]int{1}, 256)
	for name, a := range map[string]interface{ Validate() error }{
		"VAE": VAE{Hidden: many, Latent: 1}, "MLP": MLP{Hidden: many},
		"decoder": ConvDecoder{Hidden: many, Height: 4, Width: 4, Maps: []int{1}},
		"CNN": CNN{Height: 4, Width: 4, Convolutions: slices.Repeat([]Convolution{
			{Maps: 1, Size: 1, Stride: 1}}, 90_000)},
	} {
		var wrong *param.Error
		if err := a.Validate(); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "256 layers") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	if err := (MLP{Hidden: most}).Validate(); err != nil {
		t.Error(err)
	}
}
