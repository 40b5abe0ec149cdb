package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/models/modelstest"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

// A netCase is a network's computation, the number of coordinates of a record, and the number of
// levels if its coordinates are levels.
type netCase struct {
	dim, levels int
	compute     func(x models.Value) models.Loss
}

func netCases() map[string]netCase {
	image := func(x models.Value) models.Value {
		return x.Shape(6, 6, 2).Conv(models.Convolution{Maps: 4, Size: 3, Stride: 2, Pad: 1})
	}
	return map[string]netCase{
		"perceptron": {7, 0, func(x models.Value) models.Loss {
			return x.Dense(5).Apply(device.Tanh).Dense(3).CrossEntropy()
		}},
		"convolutions": {72, 0, func(x models.Value) models.Loss {
			h := image(x).Apply(device.Softplus).Conv(models.Convolution{Maps: 3, Size: 2})
			return h.Shape(1, 1, 12).Dense(3).CrossEntropy()
		}},
		"residual": {72, 0, func(x models.Value) models.Loss {
			h := image(x)
			h = h.Plus(h.Conv(models.Convolution{Maps: 4, Size: 3, Pad: 1}).Apply(device.Sigmoid))
			return h.Mean().Dense(3).CrossEntropy()
		}},
		"gated": {6, 0, func(x models.Value) models.Loss {
			h := x.Shape(1, 3, 2).Dense(4)
			return h.Times(h.Apply(device.Sigmoid)).Dense(2).Mean().CrossEntropy()
		}},
		"embedding": {9, 6, func(x models.Value) models.Loss {
			return x.Embed(6, 4).Mean().Dense(3).CrossEntropy()
		}},
		"lstm": {6, 6, func(x models.Value) models.Loss {
			return x.Embed(6, 3).LSTM(4).Shape(1, 1, 24).Columns(20, 24).Dense(3).CrossEntropy()
		}},
		"gru": {15, 0, func(x models.Value) models.Loss {
			return x.Shape(1, 5, 3).GRU(3).Mean().Dense(3).CrossEntropy()
		}},
		"autoencoder": {8, 0, func(x models.Value) models.Loss {
			z := x.Dense(5).Apply(device.Tanh).Dense(4).Latent(.5)
			return z.Dense(5).Apply(device.Softplus).Dense(8).Likelihood(models.Bernoulli, x)
		}},
		"shared": {6, 0, func(x models.Value) models.Loss {
			y := x.Dense(6).Apply(device.Tanh).Dense(6)
			z := y.Apply(device.Tanh).Like(y)
			w := z.Apply(device.Sigmoid).Like(y).Concat(y)
			return w.Dense(6).Likelihood(models.GaussianUnit, x)
		}},
		"pools and norms": {72, 0, func(x models.Value) models.Loss {
			h := x.Shape(6, 6, 2).Conv(models.Convolution{Maps: 4, Size: 3, Pad: 1}).GroupNorm(2)
			h = h.Apply(device.Tanh).MeanPool(models.Convolution{Size: 2, Stride: 2})
			h = h.MaxPool(models.Convolution{Size: 2}).Dropout(.3)
			return h.Shape(1, 1, 16).Dense(3).CrossEntropy()
		}},
		"transformer": {6, 5, func(x models.Value) models.Loss {
			h := x.Embed(5, 4)
			n := h.LayerNorm()
			h = h.Plus(n.Dense(4).Attend(n.Dense(4), n.Dense(4), 2, true).Dense(4))
			n = h.RMSNorm().Dense(6)
			h = h.Plus(n.Times(n.Apply(device.Sigmoid)).Dense(4))
			return h.Shape(1, 1, 24).Dense(3).CrossEntropy()
		}},
		"transposed and frozen": {4, 0, func(x models.Value) models.Loss {
			h := x.Shape(2, 2, 1).Conv(models.Convolution{Maps: 3, Size: 1}).Apply(device.Tanh)
			h = h.ConvTransposed(models.Convolution{Maps: 2, Size: 2, Stride: 2}).Softmax().Mean()
			return h.Dense(4).Frozen().Plus(h.Dense(2).Dense(4)).CrossEntropy()
		}},
		"with itself": {4, 0, func(x models.Value) models.Loss {
			h := x.Dense(3)
			h = h.Times(h).Concat(h, h).Plus(x.Dense(9)).Dense(3).Scale(.5)
			return h.Do(crossed{}, h, x).Plus(h.Plus(h)).Dense(2).CrossEntropy()
		}},
		"padding and frozen layers": {10, 5, func(x models.Value) models.Loss {
			mask := x.Columns(5, 10).Apply(device.Tanh)
			h := x.Columns(0, 5).Embed(5, 4).Frozen().Dense(4)
			h = h.Attend(h, h, 1, false, mask).Plus(h.Attend(h, h, 2, true, mask))
			a := h.Dense(4).Frozen()
			h = a.Plus(h.LayerNorm().Frozen().Like(a)).Plus(h.Dense(1).Dense(4))
			return h.Mean().Dense(3).CrossEntropy()
		}},
		"shared transposed convolution": {8, 0, func(x models.Value) models.Loss {
			h := x.Dense(8).Apply(device.Tanh).Shape(2, 2, 2)
			y := h.ConvTransposed(models.Convolution{Maps: 2, Size: 2, Stride: 2})
			z := y.MeanPool(models.Convolution{Size: 2, Stride: 2}).Like(y)
			return y.Times(z).Mean().Latent(.1).Dense(8).Likelihood(models.Bernoulli, x)
		}},
		"shared convolution": {16, 0, func(x models.Value) models.Loss {
			c := models.Convolution{Maps: 1, Size: 3, Pad: 1}
			h := x.Shape(4, 4, 1).Conv(c)
			return h.Apply(device.Tanh).Like(h).Mean().Concat(h.Mean()).Dense(2).CrossEntropy()
		}},
	}
}

func build(t testing.TB, c netCase, seed uint64) *models.Classifier {
	t.Helper()
	net, err := models.Build(device.CPU(), c.dim, seed, c.compute)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func batchFor(c netCase, rows int, seed uint64) device.Batch {
	rng := rand.New(rand.NewPCG(seed, 4))
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, c.dim, make([]float32, rows*c.dim))}
	for i := range b.Dense.Data {
		b.Dense.Data[i] = rng.Float32()
		if c.levels > 0 {
			b.Dense.Data[i] = float32(rng.IntN(c.levels))
		}
	}
	for range rows {
		b.Keys = append(b.Keys, rng.Uint64())
		b.Labels = append(b.Labels, int32(rng.IntN(2)))
	}
	return b
}

// TestBuiltNetworks: every network of ten keeps the contract of private training.
func TestBuiltNetworks(t *testing.T) {
	for name, c := range netCases() {
		for _, seed := range seeds() {
			t.Run(name, func(t *testing.T) {
				modelstest.Network(t, build(t, c, seed), batchFor(c, 9, seed))
			})
		}
	}
}

// TestBuiltNetworksOfSets: the contract holds for records that are sets, also if the layer that
// reads them has the parameters of another layer.
func TestBuiltNetworksOfSets(t *testing.T) {
	for name, compute := range map[string]func(x models.Value) models.Loss{
		"alone": func(x models.Value) models.Loss {
			return x.Dense(4).Apply(device.Tanh).Dense(8).Likelihood(models.Bernoulli, x)
		},
		"shared": func(x models.Value) models.Loss {
			h := x.Dense(8)
			return h.Apply(device.Tanh).Like(h).Likelihood(models.Bernoulli, x)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := batchFor(netCase{dim: 8, levels: 2}, 9, 3)
			b.Sparse = &device.Sparse{Cols: 8, Offsets: []int{0}}
			for i := range b.Rows {
				for j, v := range b.Dense.Row(i) {
					if v > 0 {
						b.Sparse.Items = append(b.Sparse.Items, uint32(j))
					}
				}
				b.Sparse.Offsets = append(b.Sparse.Offsets, len(b.Sparse.Items))
			}
			b.Dense = device.Matrix{}
			modelstest.Network(t, build(t, netCase{8, 0, compute}, 5), b)
		})
	}
}

// TestBuildErrors: mistakes in a computation are errors.
func TestBuildErrors(t *testing.T) {
	for name, compute := range map[string]func(x models.Value) models.Loss{
		"no loss": func(x models.Value) models.Loss { return models.Loss{} },
		"width":   func(x models.Value) models.Loss { return x.Dense(0).CrossEntropy() },
		"shape":   func(x models.Value) models.Loss { return x.Shape(2, 2, 1).CrossEntropy() },
		"window": func(x models.Value) models.Loss {
			return x.Conv(models.Convolution{Maps: 1, Size: 2}).CrossEntropy()
		},
		"sum":         func(x models.Value) models.Loss { return x.Plus(x.Dense(2)).CrossEntropy() },
		"columns":     func(x models.Value) models.Loss { return x.Columns(1, 4).CrossEntropy() },
		"other layer": func(x models.Value) models.Loss { return x.Like(x).CrossEntropy() },
		"unused layer": func(x models.Value) models.Loss {
			x.Dense(2)
			return x.Dense(3).CrossEntropy()
		},
		"no computation": nil,
		"many places": func(x models.Value) models.Loss {
			return x.Shape(1, 3, 1).Dense(2).CrossEntropy()
		},
		"no function":   func(x models.Value) models.Loss { return x.Dense(2).Apply(99).CrossEntropy() },
		"no parameters": func(x models.Value) models.Loss { return x.CrossEntropy() },
		"all frozen": func(x models.Value) models.Loss {
			return x.Dense(2).Frozen().CrossEntropy()
		},
		"target with parameters": func(x models.Value) models.Loss {
			h := x.Dense(2)
			return h.Dense(2).Likelihood(models.GaussianUnit, h)
		},
		"no value": func(x models.Value) models.Loss {
			return x.Dense(2).Plus(models.Value{}).CrossEntropy()
		},
		"latent of nothing": func(x models.Value) models.Loss {
			return models.Value{}.Latent(1).CrossEntropy()
		},
		"odd latent": func(x models.Value) models.Loss { return x.Latent(1).CrossEntropy() },
		"latent without a weight": func(x models.Value) models.Loss {
			return x.Dense(4).Latent(math.NaN()).Dense(2).CrossEntropy()
		},
		"frozen function": func(x models.Value) models.Loss {
			return x.Dense(2).Apply(device.ReLU).Frozen().Dense(2).CrossEntropy()
		},
		"frozen after use": func(x models.Value) models.Loss {
			h := x.Dense(3)
			h.Dense(2)
			return h.Frozen().Dense(2).CrossEntropy()
		},
		"frozen after Like": func(x models.Value) models.Loss {
			h := x.Columns(0, 2).Dense(2)
			z := x.Columns(1, 3).Like(h)
			return z.Plus(h.Frozen()).Dense(2).CrossEntropy()
		},
		"frozen by Like": func(x models.Value) models.Loss {
			h := x.Columns(0, 2).Dense(2)
			return h.Plus(x.Columns(1, 3).Like(h).Frozen()).CrossEntropy()
		},
		"like a norm": func(x models.Value) models.Loss {
			h := x.LayerNorm()
			return h.Like(h).CrossEntropy()
		},
		"like an embedding": func(x models.Value) models.Loss {
			h := x.Columns(0, 1).Embed(4, 1)
			return h.Like(h).CrossEntropy()
		},
		"like a narrower layer": func(x models.Value) models.Loss {
			h := x.Dense(2)
			return h.Dense(2).Like(h).CrossEntropy()
		},
		"embedded parameters": func(x models.Value) models.Loss {
			return x.Dense(2).Embed(3, 2).Mean().CrossEntropy()
		},
		"no operation": func(x models.Value) models.Loss { return x.Do(nil).CrossEntropy() },
		"operation without results": func(x models.Value) models.Loss {
			return x.Dense(2).Do(results(0)).CrossEntropy()
		},
		"operation with too many results": func(x models.Value) models.Loss {
			return x.Dense(2).Do(results(math.MaxInt)).Dense(2).CrossEntropy()
		},
		"wide": func(x models.Value) models.Loss { return x.Dense(math.MaxInt).Dense(2).CrossEntropy() },
		"many parameters": func(x models.Value) models.Loss {
			return x.Dense(1 << 30).Dense(1 << 30).Dense(2).CrossEntropy()
		},
		"overflow": func(x models.Value) models.Loss {
			return x.Shape(1, 3, 1).Dense((math.MaxInt - 1) / 3 * 2).Dense(2).CrossEntropy()
		},
		"window without a stride": func(x models.Value) models.Loss {
			return x.Shape(1, 3, 1).MaxPool(models.Convolution{Size: 1, Stride: -1}).CrossEntropy()
		},
		"transposed": func(x models.Value) models.Loss {
			h := x.Shape(1, 3, 1)
			return h.ConvTransposed(models.Convolution{Maps: 1, Size: 1, Pad: 3}).CrossEntropy()
		},
		"mask with parameters": func(x models.Value) models.Loss {
			h := x.Shape(1, 3, 1).Dense(2)
			return h.Attend(h, h, 1, false, x.Dense(3)).Mean().CrossEntropy()
		},
		"short mask": func(x models.Value) models.Loss {
			h := x.Shape(1, 3, 1).Dense(2)
			return h.Attend(h, h, 1, false, x.Columns(0, 2)).Mean().CrossEntropy()
		},
		"three heads": func(x models.Value) models.Loss {
			h := x.Shape(1, 3, 1).Dense(2)
			return h.Attend(h, h, 3, false).Mean().CrossEntropy()
		},
		"infinite factor": func(x models.Value) models.Loss {
			return x.Dense(2).Scale(math.Inf(1)).CrossEntropy()
		},
		"certain dropout": func(x models.Value) models.Loss {
			return x.Dense(2).Dropout(1).CrossEntropy()
		},
		"Build in a Build": func(x models.Value) models.Loss {
			_, err := models.Build(device.CPU(), 3, 1, func(y models.Value) models.Loss {
				return y.Plus(x).Dense(2).CrossEntropy()
			})
			if !errors.As(err, new(*param.Error)) {
				return x.Dense(2).CrossEntropy()
			}
			return models.Loss{}
		},
		"value of an earlier Build": func(x models.Value) models.Loss {
			return earlier(x).Dense(2).CrossEntropy()
		},
		"loss of an earlier Build": func(x models.Value) models.Loss {
			var loss models.Loss
			_, _ = models.Build(device.CPU(), 3, 1, func(y models.Value) models.Loss {
				loss = y.Dense(2).CrossEntropy()
				return loss
			})
			x.Dense(2).CrossEntropy()
			return loss
		},
		"earlier loss": func(x models.Value) models.Loss {
			l := x.Dense(2).CrossEntropy()
			x.Dense(2).CrossEntropy()
			return l
		},
	} {
		var bad *param.Error
		if _, err := models.Build(device.CPU(), 3, 1, compute); !errors.As(err, &bad) {
			t.Errorf("%s: %v, want a *param.Error", name, err)
		}
	}
}

// crossed is x∘y + sin(key)·Σz for operands x, y and z.
type crossed struct{}

func (crossed) Out(widths ...int) int { return widths[0] }

func (crossed) Forward(y []float32, key uint64, x ...[]float32) {
	sum := float32(0)
	for _, v := range x[2] {
		sum += v
	}
	for i := range y {
		y[i] = x[0][i]*x[1][i] + sum*float32(math.Sin(float64(key>>40)))
	}
}

func (crossed) Backward(dx [][]float32, dy, _ []float32, key uint64, x ...[]float32) {
	for i, d := range dy {
		dx[0][i] += d * x[1][i]
		dx[1][i] += d * x[0][i]
		for j := range dx[2] {
			dx[2][j] += d * float32(math.Sin(float64(key>>40)))
		}
	}
}

// results is an operation with a number of results.
type results int

func (r results) Out(...int) int                                                 { return int(r) }
func (results) Forward([]float32, uint64, ...[]float32)                          {}
func (results) Backward(_ [][]float32, _, _ []float32, _ uint64, _ ...[]float32) {}

// earlier returns a value of a Build that has returned.
func earlier(models.Value) (v models.Value) {
	_, _ = models.Build(device.CPU(), 3, 1, func(x models.Value) models.Loss {
		v = x.Dense(3)
		return v.CrossEntropy()
	})
	return v
}

// TestValuesOfEarlierBuilds: a value cannot change the network of a Build that has returned.
func TestValuesOfEarlierBuilds(t *testing.T) {
	defer func() {
		if p, ok := recover().(*param.Error); !ok {
			t.Errorf("%v, want a *param.Error", p)
		}
	}()
	earlier(models.Value{}).Dense(2)
}

// TestPanicsOfCallers: a panic of the computation itself passes through Build.
func TestPanicsOfCallers(t *testing.T) {
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("%v, want the panic of the computation", p)
		}
	}()
	_, _ = models.Build(device.CPU(), 3, 1, func(models.Value) models.Loss { panic("mine") })
}

// TestBuiltPredictions: a built network predicts what its computation states.
func TestBuiltPredictions(t *testing.T) {
	c := netCases()["gated"]
	net, b := build(t, c, 5), batchFor(c, 5, 3)
	if net.Dim() != 6 || net.Classes() != 2 {
		t.Fatalf("%d coordinates and %d classes, want 6 and 2", net.Dim(), net.Classes())
	}
	p := device.HostMatrix(5, 2, make([]float32, 10))
	net.Predict(b, p)
	w := net.Params()
	for i := range 5 {
		var sums [2]float64
		for position := range 3 {
			x := b.Dense.Row(i)[2*position:]
			for j := range 4 {
				h := float64(w.Block(1).Data[j])
				for k := range 2 {
					h += float64(x[k]) * float64(w.Block(0).Data[4*k+j])
				}
				for k := range sums {
					sums[k] += h / (1 + math.Exp(-h)) * float64(w.Block(2).Data[2*j+k]) / 3
				}
			}
		}
		for k := range sums {
			sums[k] += float64(w.Block(3).Data[k])
		}
		if want := 1 / (1 + math.Exp(sums[1]-sums[0])); math.Abs(want-float64(p.Row(i)[0])) > 1e-5 {
			t.Errorf("record %d: probability %v, want %v", i, p.Row(i)[0], want)
		}
	}
}

// TestPredictionsDrawNothing: a prediction depends on neither a key nor a place in the batch.
func TestPredictionsDrawNothing(t *testing.T) {
	c := netCase{4, 0, func(x models.Value) models.Loss {
		return x.Dense(6).Dropout(.5).Dense(4).Latent(1).Dense(3).CrossEntropy()
	}}
	net, b := build(t, c, 5), batchFor(c, 8, 3)
	for i := range 8 {
		copy(b.Dense.Row(i), b.Dense.Row(0))
	}
	p := device.HostMatrix(8, 3, make([]float32, 24))
	net.Predict(b, p)
	for i := range 8 {
		if !slices.Equal(p.Row(i), p.Row(0)) {
			t.Fatalf("equal records are predicted as %v and %v", p.Row(0), p.Row(i))
		}
	}
}

// rarely is an operation that sets its result only for a large operand.
type rarely struct{ crossed }

func (rarely) Forward(y []float32, _ uint64, x ...[]float32) {
	if x[0][0] > .5 {
		copy(y, x[0])
	}
}

// TestOpThatSetsNothing: a result that an operation does not set is 0, and not that of a record of
// the batch before.
func TestOpThatSetsNothing(t *testing.T) {
	c := netCase{3, 0, func(x models.Value) models.Loss {
		return x.Do(rarely{}, x, x).Dense(2).CrossEntropy()
	}}
	net, b := build(t, c, 5), batchFor(c, 8, 3)
	copy(b.Dense.Row(0), []float32{0, 1, 1})
	copy(b.Dense.Row(1), []float32{1, 1, 1})
	var first, second [1]float64
	net.Gradients(b.Slice(0, 1)).SquaredNorms(first[:])
	net.Gradients(b.Slice(1, 2)).SquaredNorms(second[:])
	net.Gradients(b.Slice(0, 1)).SquaredNorms(second[:])
	if first != second {
		t.Errorf("the norm is %v, and %v after another record", first, second)
	}
}

// TestBuiltNetworksElsewhere: on a device with its own memory, norms and sums have the same bits as
// on the host, for the same kernels.
func TestBuiltNetworksElsewhere(t *testing.T) {
	cases := netCases()
	for _, name := range []string{"transformer", "transposed and frozen",
		"padding and frozen layers"} {
		delete(cases, name) // the derivative of a softmax has another order of sums on the host
	}
	for name, c := range cases {
		b := batchFor(c, 7, 3)
		weights := []float32{1, .5, 0, -2, 3, 1, .25}
		run := func(be device.Backend) ([]float64, []float32) {
			net, err := models.Build(be, c.dim, 5, c.compute)
			if err != nil {
				t.Fatal(err)
			}
			norms, sum := make([]float64, 7), device.NewParams(be, net.Params().Shapes...)
			g := net.Gradients(b)
			g.SquaredNorms(norms)
			g.AddWeightedSum(sum, weights)
			host := make([]float32, sum.Len())
			be.Download(host, sum.Flat)
			return norms, host
		}
		norms, sum := run(device.CPU())
		others, there := run(devicetest.SeparateMemory(device.CPU()))
		if !slices.Equal(norms, others) || !slices.Equal(sum, there) {
			t.Errorf("%s: other norms or sums", name)
		}
	}
}

// TestLayersOfBuiltNetworks: a sequence of layers can be exported, frozen or not. Other networks
// are refused.
func TestLayersOfBuiltNetworks(t *testing.T) {
	net := build(t, netCase{16, 0, func(x models.Value) models.Loss {
		h := x.Shape(4, 4, 1).Conv(models.Convolution{Maps: 2, Size: 3}).Apply(device.ReLU)
		h = h.ConvTransposed(models.Convolution{Maps: 1, Size: 2, Stride: 2}).Softmax()
		return h.Shape(1, 1, 16).Dense(4).Frozen().Apply(device.Tanh).Dense(2).CrossEntropy()
	}}, 1)
	list, err := models.LayersOf(net)
	if err != nil || len(list) != 6 {
		t.Fatalf("%d layers and error %v, want 6 and none", len(list), err)
	}
	if p := net.Frozen(); !slices.Equal(list[3].Weight.Data, p.Block(0).Data) || p.Len() != 68 {
		t.Errorf("%d frozen parameters, and layer 3 has the weights %v", p.Len(), list[3].Weight.Data)
	}
	for name, c := range netCases() {
		_, err := models.LayersOf(build(t, c, 1))
		if bad := new(param.Error); (name == "perceptron" || name == "convolutions") != (err == nil) ||
			err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
