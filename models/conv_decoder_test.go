package models

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

var testDecoders = []ConvDecoder{
	{Height: 8, Width: 4, Channels: 1, Maps: []int{3, 2}, Size: 3, Activation: Tanh,
		Output: device.Sigmoid},
	{Height: 4, Width: 6, Channels: 3, Hidden: []int{5}, Maps: []int{4}, Size: 3,
		Activation: Softplus, Output: device.Tanh, BatchNorm: true},
	{Height: 8, Width: 8, Channels: 2, Maps: []int{4, 3}, Size: 4,
		Activation: LeakyReLU, BatchNorm: true},
	{Height: 4, Width: 4, Channels: 1, Hidden: []int{4, 3}, Maps: []int{2, 3}, Size: 1,
		Activation: Tanh, Output: device.Softplus, BatchNorm: true},
	{Height: 4, Width: 2, Channels: 1, Maps: []int{3}, Size: 2,
		Activation: Tanh, Output: device.Sigmoid},
}

func newTestDecoder(t testing.TB, a ConvDecoder, latent int) *decoder {
	t.Helper()
	g := must(a.NewGenerator(device.CPU(), latent, nil, 23))(t)
	n := g.(*decoder)
	rng := rand.New(rand.NewPCG(3, 2))
	for i := range n.params.Flat.Data {
		n.params.Flat.Data[i] += float32(0.1 * rng.NormFloat64())
	}
	return n
}

func normalMatrix(rng *rand.Rand, rows, cols int) device.Matrix {
	m := device.CPU().New(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

// TestDecoderGradient: the loss is a fixed linear form of the images. Its derivatives with respect
// to parameters and codes are compared with central differences in float64. The loss covers the
// whole batch, since batch norm mixes images.
func TestDecoderGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for k, a := range testDecoders {
		n := newTestDecoder(t, a, 3)
		const rows = 5
		codes, form := normalMatrix(rng, rows, 3), normalMatrix(rng, rows, n.Dim())
		images := n.Forward(codes)
		x := make([][]float64, rows)
		for i := range x {
			x[i] = wide64(codes.Row(i))
		}
		p := wide64(n.params.Flat.Data)
		loss := func() float64 {
			sum := 0.0
			for i, y := range chain64(unitsOf(n.g), p, x) {
				for j, v := range y {
					sum += v * float64(form.Row(i)[j])
				}
			}
			return sum
		}
		for i, y := range chain64(unitsOf(n.g), p, x) {
			for j, v := range y {
				if math.Abs(v-float64(images.Row(i)[j])) > 1e-4 {
					t.Fatalf("decoder %d: image %d is %v at %d, want %v", k, i, images.Row(i)[j], j, v)
				}
			}
		}
		grad, dCodes := device.NewParams(device.CPU(), n.Params().Shapes...), device.CPU().New(rows, 3)
		grad.Flat.Data[0] = 1 // Backward must add to grad
		n.Backward(form, grad, dCodes)
		grad.Flat.Data[0]--
		slope := func(at *float64) float64 {
			const h = 1e-5
			save := *at
			*at = save + h
			up := loss()
			*at = save - h
			down := loss()
			*at = save
			return (up - down) / (2 * h)
		}
		for range 150 {
			j := rng.IntN(len(p))
			if want, got := slope(&p[j]),
				float64(grad.Flat.Data[j]); math.Abs(got-want) > 2e-4*(1+math.Abs(want)) {
				t.Fatalf("decoder %d, parameter %d: gradient %v, difference quotient %v", k, j, got, want)
			}
		}
		for i := range rows {
			for j := range 3 {
				if want, got := slope(&x[i][j]),
					float64(dCodes.Row(i)[j]); math.Abs(got-want) > 2e-4*(1+math.Abs(want)) {
					t.Fatalf("decoder %d, code %d: derivative %v, difference quotient %v", k, i, got, want)
				}
			}
		}
	}
}

// TestDecoderUnitsAreFactored: the units of a decoder without batch norm have correct per-example
// gradients.
func TestDecoderUnitsAreFactored(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	be := device.CPU()
	for _, a := range testDecoders {
		a.BatchNorm = false
		g := a.sketch(6)
		g.end(crossEntropy{}, g.dense(g.last(), device.Identity, 3))
		n := newClassifier(be, g.done(), 3, rng)
		checkFactored(t, n, greyBatch(rng, 6, 6, 3), slackCNN)
		checkTotal(t, n, greyBatch(rng, 6, 6, 3))
		checkEmpty(t, n, 6)
	}
}

// TestDecoderIsNoNetwork: a decoder does not implement Network, since it cannot be trained
// privately.
func TestDecoderIsNoNetwork(t *testing.T) {
	if _, yes := any(&decoder{}).(Network); yes {
		t.Error("a decoder implements Network, although it may mix records")
	}
}

// TestDecoderGenerate: a generated image depends on its own code and on saved state, not on the
// other codes of the batch.
func TestDecoderGenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	for _, a := range testDecoders {
		n := newTestDecoder(t, a, 3)
		for range 30 {
			n.Forward(normalMatrix(rng, 64, 3))
		}
		codes := normalMatrix(rng, sampleRows+40, 3)
		want, again := device.CPU().New(codes.Rows, n.Dim()), device.CPU().New(1, n.Dim())
		n.Generate(codes, want)
		m := newTestDecoder(t, a, 3)
		if err := m.SetState(n.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, i := range []int{0, 100, codes.Rows - 1} {
			m.Generate(codes.RowRange(i, i+1), again)
			if !reflect.DeepEqual(again.Data, want.Row(i)[:n.Dim():n.Dim()]) {
				t.Errorf("image %d differs if it is generated alone", i)
			}
			wg.Go(func() { n.Generate(codes, device.CPU().New(codes.Rows, n.Dim())) })
		}
		wg.Wait()
		if err := n.SetState([]byte{1, 2, 3}); err == nil {
			t.Error("a state of the wrong length is accepted")
		}
	}
}

// TestBatchNormAverages: the running moments average over many batches of codes, not only the last
// batch.
func TestBatchNormAverages(t *testing.T) {
	n := newTestDecoder(t, testDecoders[1], 3)
	rng := rand.New(rand.NewPCG(8, 3))
	for range 200 {
		n.Forward(normalMatrix(rng, 200, 3))
	}
	codes := normalMatrix(rng, 20000, 3)
	large := n.Forward(codes).Slice(0, 100, 0, n.Dim())
	got := device.CPU().New(100, n.Dim())
	n.Generate(codes.RowRange(0, 100), got)
	for i := range 100 {
		for j, v := range got.Row(i) {
			if math.Abs(float64(v-large.Row(i)[j])) > 0.1 {
				t.Fatalf("a pixel is %v with the average moments and %v with those of a large batch", v,
					large.Row(i)[j])
			}
		}
	}
}

func TestDecoderBindAndEmpty(t *testing.T) {
	n := newTestDecoder(t, testDecoders[2], 3)
	codes := normalMatrix(rand.New(rand.NewPCG(9, 3)), 4, 3)
	before := append([]float32(nil), n.Forward(codes).Data...)
	n.Bind(device.NewParams(device.CPU(), n.Params().Shapes...))
	if !reflect.DeepEqual(before, n.Forward(codes).Data) {
		t.Error("moving the parameters changed the images")
	}
	n.Forward(device.Matrix{Cols: 3, Stride: 3})
	n.Backward(device.Matrix{Cols: n.Dim()}, n.Params(), device.Matrix{})
	n.Generate(device.Matrix{Cols: 3}, device.Matrix{Cols: n.Dim()})
}

func TestDecoderConfig(t *testing.T) {
	_, err := ConvDecoder{Height: 6, Width: 0, Maps: []int{1, 0}, Size: 0, Activation: -1,
		Output: device.Log, Hidden: []int{-1}}.NewGenerator(nil, 0, nil, 0)
	for _, path := range []string{"models.ConvDecoder.Height", "models.ConvDecoder.Width",
		"models.ConvDecoder.Channels", "models.ConvDecoder.Maps[1]", "models.ConvDecoder.Size",
		"models.ConvDecoder.Activation", "models.ConvDecoder.Output",
		"models.ConvDecoder.Hidden[0]", "models.ConvDecoder.NewGenerator: latent",
		"models.ConvDecoder.NewGenerator"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
	for _, a := range testDecoders {
		text, err := json.Marshal(a)
		var back ConvDecoder
		if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(a, back) {
			t.Errorf("%s was read back as %+v", text, back)
		}
	}
}

// digitsDecoder has the form of the generator of Harder et al. 2021 (DP-MERF) for 28×28 digits.
var digitsDecoder = ConvDecoder{Height: 28, Width: 28, Channels: 1, Hidden: []int{200},
	Maps: []int{16, 8}, Size: 5, Activation: ReLU, Output: device.Sigmoid, BatchNorm: true}

func BenchmarkDecoder(b *testing.B) {
	n := newTestDecoder(b, digitsDecoder, 15)
	rng := rand.New(rand.NewPCG(1, 2))
	codes, delta, grad := normalMatrix(rng, 256, 15), normalMatrix(rng, 256, 784),
		device.NewParams(device.CPU(), n.Params().Shapes...)
	run := func(name string, step func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				step()
			}
			b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
	run("generate", func() { n.Generate(codes, delta) })
	run("forward", func() { n.Forward(codes) })
	run("forward+backward", func() {
		n.Forward(codes)
		n.Backward(delta, grad, device.Matrix{})
	})
}
