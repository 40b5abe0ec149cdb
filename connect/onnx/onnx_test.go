package onnx_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/onnx"
	pb "github.com/seed7ba64551/privgen/connect/onnx/internal/onnxpb"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"google.golang.org/protobuf/proto"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func written(t *testing.T, n onnx.Network) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func randomRows(rng *rand.Rand, rows, cols int) device.Matrix {
	m := device.HostMatrix(rows, cols, make([]float32, rows*cols))
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func input(m device.Matrix) tensor {
	in := made(m.Rows, m.Cols)
	for i, v := range m.Data {
		in.v[i] = float64(v)
	}
	return in
}

// same compares a file's output with the library's numbers, with a tolerance of 1e-5.
func same(t *testing.T, what any, file []byte, x device.Matrix, want []float32) {
	t.Helper()
	got := run(t, file, input(x))
	if len(got.v) != len(want) || len(got.sides) != 2 || got.sides[0] != x.Rows {
		t.Fatalf("%v: the output has the shape %v, want %d numbers", what, got.sides, len(want))
	}
	for i, v := range want {
		if d := math.Abs(got.v[i] - float64(v)); !(d <= 1e-5*max(1, math.Abs(float64(v)))) {
			t.Fatalf("%v: number %d is %v, want %v", what, i, got.v[i], v)
		}
	}
}

// generators have every kind of layer that generators have, with every function and every head.
var generators = []struct {
	arch  models.GeneratorArchitecture
	heads []models.Head
}{
	{models.MLP{Hidden: []int{5, 4}, Activation: models.Tanh, BatchNorm: true}, []models.Head{
		{Width: 2, Out: models.SigmoidHead}, {Width: 3, Out: models.SoftmaxHead}, {Width: 2},
		{Width: 1, Out: models.TanhHead}, {Width: 2, Out: models.SoftmaxHead}}},
	{models.MLP{Hidden: []int{4}, Activation: models.Softplus},
		[]models.Head{{Width: 3, Out: models.TanhHead}}},
	{models.MLP{Hidden: []int{6}}, []models.Head{{Width: 3}}},
	{models.MLP{Hidden: []int{6}, Activation: models.Sigmoid}, []models.Head{{Width: 3}}},
	{models.ConvDecoder{Height: 4, Width: 8, Channels: 3, Maps: []int{2, 3}, Size: 3,
		Activation: models.LeakyReLU, BatchNorm: true, Output: device.Sigmoid}, nil},
	{models.ConvDecoder{Height: 6, Width: 4, Channels: 3, Maps: []int{2}, Size: 5,
		Output: device.Softplus}, nil},
	{models.ConvDecoder{Height: 8, Width: 4, Channels: 1, Hidden: []int{3}, Maps: []int{2, 3}, Size: 4,
		BatchNorm: true, Output: device.Tanh}, nil},
	{models.Generator28(32, 16), nil},
}

func TestGeneratorsStateTheSame(t *testing.T) {
	rng, be := rand.New(rand.NewPCG(1, 2)), device.CPU()
	for _, c := range generators {
		n := must(c.arch.NewGenerator(be, 3, c.heads, 7))(t)
		for i := range n.Params().Flat.Data {
			n.Params().Flat.Data[i] += float32(0.05 * rng.NormFloat64())
		}
		rows := 9
		if n.Dim() > 1000 {
			rows = 2
		}
		n.Forward(randomRows(rng, rows, 3)) // sets the means and variances of batch norm
		x, want := randomRows(rng, rows, 3), be.New(rows, n.Dim())
		n.Generate(x, want)
		layers := must(models.LayersOf(n))(t)
		same(t, c.arch, written(t, onnx.Network{Layers: layers}), x, want.Data)
	}
}

func TestCriticsStateTheSame(t *testing.T) {
	rng, be := rand.New(rand.NewPCG(3, 4)), device.CPU()
	for _, a := range []models.CriticArchitecture{
		models.MLP{Hidden: []int{4}, Activation: models.Softplus},
		models.CNN{Height: 5, Width: 4, Channels: 2, Hidden: []int{3},
			Convolutions: []models.Convolution{{Maps: 3, Size: 3, Stride: 2, Pad: 1}}},
	} {
		n := must(a.Critic(be, 40, 0, 1))(t)
		x, scores, want := randomRows(rng, 6, 40), make([]float64, 6), make([]float32, 6)
		n.ScoreGradient(be.New(6, 40), x, nil, 0, scores)
		for i, s := range scores {
			want[i] = float32(s)
		}
		same(t, a, written(t, onnx.Network{Layers: must(models.LayersOf(n))(t)}), x, want)
	}
}

// labelled returns records of three classes with different distributions.
func labelled(t *testing.T, s records.Schema) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	const n = 60
	lo, hi := s.Bounds()
	flat, labels := make([]float32, n*s.Dim()), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % s.Classes())
		for j := range s.Dim() {
			flat[i*s.Dim()+j] = float32(lo + (hi-lo)*rng.Float64()*float64(labels[i]+1)/3)
		}
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// TestReleasedGenerators checks the files of every system whose model consists of networks. Each
// file must contain the guarantee.
func TestReleasedGenerators(t *testing.T) {
	budget := accountant.Budget{Epsilon: 5, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 3, Optimizer: sgd.Adam(1e-3)}
	vector := labelled(t, records.Interval(9, -1, 3).WithLabels("a", "b", "c"))
	pixels := labelled(t, records.BinaryImage(4, 4).WithLabels("a", "b"))
	ctx, rng := t.Context(), rand.New(rand.NewPCG(6, 6))
	net := models.MLP{Hidden: []int{6}, BatchNorm: true}
	for _, c := range []struct {
		networks, in int
		gen          *privgen.Generator
	}{
		{1, 4 + 3, must(privgen.MERF(vector.Schema(), budget).Train(merf.GeneratorConfig{
			Architecture: net, Latent: 4, Steps: 3, Batch: 20}).
			Embed(merf.Config{Kernel: rff.RBF{Dim: 20, Bandwidth: 1}}).Fit(ctx, vector))(t)},
		{1, 5 + 3, must(privgen.GAN(vector.Schema(), budget).Critic(models.MLP{Hidden: []int{4}}).
			Generator(net, 5).Train(gan.Config{Train: train, CriticSteps: 1}).Fit(ctx, vector))(t)},
		{2, 2, must(privgen.DPGM(pixels.Schema(), budget).Features(rff.RBF{Dim: 20, Bandwidth: 1}).
			Cluster(kmeans.Config{K: 2, Iterations: 2, Share: 0.2}).
			Model(models.VAE{Hidden: []int{5}, Latent: 2}).Train(train).Fit(ctx, pixels))(t)},
	} {
		list := must(onnx.Networks(c.gen))(t)
		if len(list) != c.networks {
			t.Errorf("%s: got the wrong number of networks: %d", c.gen.System(), len(list))
		}
		for _, n := range list {
			file := written(t, n)
			var m pb.ModelProto
			if err := proto.Unmarshal(file, &m); err != nil {
				t.Fatal(err)
			}
			if m.GetDocString() != c.gen.Guarantee().String() || m.GetIrVersion() != 8 ||
				m.GetOpsetImport()[0].GetVersion() != onnx.Opset || n.Layers[0].In != c.in {
				t.Errorf("%s with %d inputs: the file's description or versions are wrong: %v",
					c.gen.System(), n.Layers[0].In, m.GetDocString())
			}
			if g, ok := c.gen.Model().(*gan.Model); ok {
				x, want := randomRows(rng, 6, 5), device.HostMatrix(6, 9, make([]float32, 54))
				labels := []int32{0, 1, 2, 0, 1, 2}
				if err := g.Generate(x, labels, want); err != nil {
					t.Fatal(err)
				}
				codes := device.HostMatrix(6, 8, make([]float32, 48))
				for i, l := range labels {
					copy(codes.Row(i), x.Row(i))
					codes.Row(i)[5+l] = 1
				}
				same(t, c.gen.System(), file, codes, want.Data)
			}
		}
	}
}

// TestRefusals: models without an ONNX form are refused with an error that names the model.
func TestRefusals(t *testing.T) {
	refused := func(says string, err error) {
		t.Helper()
		if e := new(param.Error); !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	rbm := must(models.RBM{Hidden: 2, Chains: 2}.New(device.CPU(), models.Visible{Dim: 3}, 1))(t)
	_, err := models.LayersOf(rbm)
	refused("rbm", err)
	_, err = onnx.Networks(nil)
	refused("merf, gan or dpgm", err)
	good := must(models.LayersOf(must(models.MLP{Hidden: []int{2}}.NewGenerator(device.CPU(), 3,
		[]models.Head{{Width: 2, Out: models.SoftmaxHead}}, 1))(t)))(t)
	const chained = "the size of the previous layer's output"
	for says, change := range map[string]func(l []models.Layer) []models.Layer{
		"at least one":     func([]models.Layer) []models.Layer { return nil },
		"a known kind":     func(l []models.Layer) []models.Layer { l[1].Kind = 99; return l },
		"a known function": func(l []models.Layer) []models.Layer { l[0].Func = 99; return l },
		chained:            func(l []models.Layer) []models.Layer { return l[1:2:2] },
		"positive widths":  func(l []models.Layer) []models.Layer { l[0].In = -1; return l },
		"parameters and sizes": func(l []models.Layer) []models.Layer {
			l[0].Weight.Cols--
			return l
		},
		"on the host": func(l []models.Layer) []models.Layer { l[0].Bias.Data = nil; return l },
	} {
		layers := change(append([]models.Layer(nil), good...))
		if says == chained {
			layers = []models.Layer{good[0], good[0]}
		}
		refused(says, onnx.Write(io.Discard, onnx.Network{Layers: layers}))
	}
	refused("another name", onnx.Write(io.Discard, onnx.Network{Layers: good, Input: "x",
		Output: "x"}))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterFails(t *testing.T) {
	layers := []models.Layer{{Kind: models.FunctionLayer, In: 1, Out: 1, Func: device.Tanh}}
	if err := onnx.Write(full{}, onnx.Network{Layers: layers}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}
