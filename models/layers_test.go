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

// walkLayers computes the output of layers with the operations that their documentation states.
func walkLayers(t *testing.T, list []Layer, x device.Matrix) device.Matrix {
	t.Helper()
	be := device.CPU()
	for i, l := range list {
		if x.Cols != l.In {
			t.Fatalf("layer %d (%v) takes %d numbers, but gets %d", i, l.Kind, l.In, x.Cols)
		}
		y := be.New(x.Rows, l.Out)
		switch l.Kind {
		case DenseLayer:
			be.Gemm(false, false, 1, x, l.Weight, 0, y)
			be.BiasApply(l.Func, y, l.Bias)
		case ConvolutionLayer:
			places := be.New(x.Rows*l.Window.Places(), l.Window.Patch())
			be.Im2Col(l.Window, places, x)
			wide := y.Reshape(places.Rows, l.Maps)
			be.Gemm(false, false, 1, places, l.Weight, 0, wide)
			be.BiasApply(l.Func, wide, l.Bias)
		case TransposedLayer:
			places := be.New(x.Rows*l.Window.Places(), l.Window.Patch())
			be.Gemm(false, false, 1, x.Reshape(places.Rows, l.Maps), l.Weight, 0, places)
			be.Col2Im(l.Window, y, places)
			be.BiasApply(l.Func, y.Reshape(len(y.Data)/l.Window.Channels, l.Window.Channels), l.Bias)
		case EnlargingLayer:
			be.UpSample(l.Image, y, x)
		case ScaleLayer:
			for j, v := range x.Data {
				c := j % l.Weight.Cols
				y.Data[j] = (v-l.Centre.Data[c])*l.Weight.Data[c] + l.Bias.Data[c]
			}
			be.Apply(l.Func, y, y)
		case FunctionLayer:
			be.Apply(l.Func, y, x)
		case HeadsLayer:
			copy(y.Data, x.Data)
			newHeadUnit(l.Heads).apply(be, y)
		default:
			t.Fatalf("layer %d has the unknown kind %v", i, l.Kind)
		}
		x = y
	}
	return x
}

func randomRows(rng *rand.Rand, rows, cols int) device.Matrix {
	m := device.HostMatrix(rows, cols, make([]float32, rows*cols))
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func near(t *testing.T, what any, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if d := math.Abs(float64(got[i] - v)); !(d <= 1e-5*max(1, math.Abs(float64(v)))) {
			t.Fatalf("%v: number %d is %v, want %v", what, i, got[i], v)
		}
	}
}

// TestLayersAreTheNetwork: for every Layered network, layers compute the same output as the
// network, with changed parameters and moments.
func TestLayersAreTheNetwork(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	be := device.CPU()
	kinds := map[LayerKind]bool{}
	check := func(what any, net any, in int, run func(x, dst device.Matrix), out int) {
		t.Helper()
		list, err := LayersOf(net)
		if err != nil {
			t.Fatalf("%v: %v", what, err)
		}
		x, dst := randomRows(rng, 7, in), be.New(7, out)
		run(x, dst)
		near(t, what, walkLayers(t, list, x).Data, dst.Data)
		for _, l := range list {
			kinds[l.Kind] = true
		}
	}
	for _, c := range append(slices.Clone(testGenerators),
		generatorCase{ConvDecoder{Height: 4, Width: 4, Channels: 2, Maps: []int{2, 3}, Size: 3,
			Activation: LeakyReLU, Output: device.Softplus}, nil}) {
		n := newTestGenerator(t, c, 3)
		n.Forward(randomRows(rng, 9, 3)) // changes the moments
		check(c.arch, n, 3, n.Generate, n.Dim())
	}
	images := CNN{Height: 5, Width: 4, Channels: 2, Hidden: []int{3}, Activation: Tanh,
		Convolutions: []Convolution{{Maps: 3, Size: 3, Stride: 2, Pad: 1}}}
	for _, a := range []interface {
		Classifier(be device.Backend, in, classes int, seed uint64) (*Classifier, error)
	}{MLP{Hidden: []int{4}}, images} {
		n := must(a.Classifier(be, 40, 3, 1))(t)
		check(a, n, 40, func(x, dst device.Matrix) {
			n.Predict(device.Batch{Rows: x.Rows, Dense: x}, dst)
		}, 3)
	}
	smooth := MLP{Hidden: []int{4}, Activation: Softplus}
	for _, a := range []CriticArchitecture{smooth, images} {
		n := must(a.Critic(be, 40, 0, 1))(t)
		check(a, n, 40, func(x, dst device.Matrix) {
			scores := make([]float64, x.Rows)
			n.ScoreGradient(be.New(x.Rows, 40), x, nil, 0, scores)
			for i, s := range scores {
				dst.Data[i] = float32(s)
			}
		}, 1)
	}
	for k := range layerNames.List {
		if !kinds[LayerKind(k)] {
			t.Errorf("no network has a layer of kind %v", LayerKind(k))
		}
	}
}

// TestLayersOfDecoders: the layers of a VAE map a draw to the record that Sample returns for this
// draw.
func TestLayersOfDecoders(t *testing.T) {
	be := device.CPU()
	for _, v := range []Visible{{Dim: 6}, {Dim: 6, Likelihood: GaussianUnit},
		{Dim: 6, Blocks: []Block{{Width: 3, OneHot: true}, {Width: 2, Missing: true}, {Width: 1}}}} {
		n := must(VAE{Hidden: []int{5, 4}, Latent: 2, Activation: Tanh}.New(be, v, 3))(t)
		list := must(LayersOf(n))(t)
		dst, x, rng := be.New(9, 6), be.New(9, 2), rand.New(rand.NewPCG(1, 1))
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		n.Sample(rand.New(rand.NewPCG(1, 1)), dst)
		near(t, v, walkLayers(t, list, x).Data, dst.Data)
	}
}

// TestLayersAreCopies: changing layers does not change the network.
func TestLayersAreCopies(t *testing.T) {
	n := must(MLP{Hidden: []int{3}, BatchNorm: true}.NewGenerator(device.CPU(), 2,
		[]Head{{1, SigmoidHead}}, 1))(t)
	before := slices.Clone(n.Params().Flat.Data)
	list := must(LayersOf(n))(t)
	for _, l := range list {
		for _, m := range []device.Matrix{l.Weight, l.Bias, l.Centre} {
			for i := range m.Data {
				m.Data[i] = 7
			}
		}
	}
	if !slices.Equal(before, n.Params().Flat.Data) {
		t.Error("a layer shares memory with the network")
	}
}

func TestNotLayered(t *testing.T) {
	n := must(RBM{Hidden: 2, Chains: 2}.New(device.CPU(), Visible{Dim: 3}, 1))(t)
	for _, net := range []any{n, nil} {
		_, err := LayersOf(net)
		if e := new(param.Error); !errors.As(err, &e) ||
			net != nil && !strings.Contains(err.Error(), "rbm") {
			t.Errorf("%T: %v", net, err)
		}
	}
}
