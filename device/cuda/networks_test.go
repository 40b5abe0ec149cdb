package cuda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// close32 is the largest allowed relative difference of the same gradient on two backends. The
// backends add up about a thousand products in different orders, in a few layers.
const close32 = 2e-5

// pair holds a value on the CPU and the corresponding value on the other backend.
type pair[T any] struct{ here, there T }

// host returns a copy of a matrix in host memory.
func host(be device.Backend, m device.Matrix) []float32 {
	out := make([]float32, m.Rows*m.Cols)
	be.Download(out, m)
	return out
}

// distance returns ‖a−b‖/‖a‖.
func distance[T float32 | float64](a, b []T) float64 {
	off, size := 0.0, 0.0
	for i, v := range a {
		d := float64(v) - float64(b[i])
		off, size = off+d*d, size+float64(v)*float64(v)
	}
	return math.Sqrt(off) / max(math.Sqrt(size), 1e-30)
}

// disturb adds noise to the initial parameters, because many of them are zero, and gives both
// networks the same parameters.
func disturb(p pair[device.Params], be pair[device.Backend], rng *rand.Rand) {
	numbers := host(be.here, p.here.Flat)
	for i := range numbers {
		numbers[i] += 0.05 * float32(rng.NormFloat64())
	}
	be.here.Upload(p.here.Flat, numbers)
	be.there.Upload(p.there.Flat, numbers)
}

// compare checks that squared norms, weighted sums and losses agree.
func compare(t *testing.T, be pair[device.Backend], shapes []device.Shape, rows int,
	g pair[models.Gradients],
	rng *rand.Rand) {
	t.Helper()
	norms := pair[[]float64]{make([]float64, rows), make([]float64, rows)}
	g.here.SquaredNorms(norms.here)
	g.there.SquaredNorms(norms.there)
	if d := distance(norms.here, norms.there); !(d < close32) {
		t.Errorf("squared norms differ by %.2g: %v and %v", d, norms.here[0], norms.there[0])
	}
	w := make([]float32, rows)
	for i := range w {
		w[i] = rng.Float32()
	}
	sum := pair[device.Params]{device.NewParams(be.here, shapes...),
		device.NewParams(be.there, shapes...)}
	g.here.AddWeightedSum(sum.here, w)
	g.there.AddWeightedSum(sum.there, w)
	if d := distance(host(be.here, sum.here.Flat), host(be.there, sum.there.Flat)); !(d < close32) {
		t.Errorf("weighted sums differ by %.2g", d)
	}
	if l, ok := g.here.(interface{ Losses([]float64) }); ok {
		l.Losses(norms.here)
		g.there.(interface{ Losses([]float64) }).Losses(norms.there)
		if d := distance(norms.here, norms.there); !(d < close32) {
			t.Errorf("losses differ by %.2g", d)
		}
	}
}

// sumsAlone checks, bit by bit, that a sum in fixed point is the sum of what its records add alone,
// for records at other positions of batches of other sizes. of returns the gradients of some
// records.
func sumsAlone(t *testing.T, be device.Backend, shapes []device.Shape, rows int,
	of func(lo, hi int) models.Gradients) {
	t.Helper()
	norm, weights := make([]float64, 1), make([]float32, rows)
	for i := range weights {
		of(i, i+1).SquaredNorms(norm)
		weights[i] = device.Odd(float32(1 / math.Sqrt(max(norm[0], 1e-30))))
	}
	sum := func(lo, hi int) []int32 {
		return fixedSum(be, shapes, of(lo, hi).(models.FixedGradients), weights[lo:hi])
	}
	own := make([][]int32, rows)
	for i := range own {
		if own[i] = sum(i, i+1); slices.Max(own[i]) == 0 && slices.Min(own[i]) == 0 {
			t.Errorf("record %d adds nothing", i)
		}
	}
	for _, lo := range []int{0, 1, rows / 2} {
		all := sum(lo, rows)
		for _, units := range own[lo:] {
			for k, v := range units {
				all[k] -= v
			}
		}
		if slices.Max(all) != 0 || slices.Min(all) != 0 {
			t.Errorf("the sum of records from %d on is not the sum of what they add alone", lo)
		}
	}
}

func fixedSum(be device.Backend, shapes []device.Shape, g models.FixedGradients,
	weights []float32) []int32 {
	if f, ok := g.(models.FixedFinisher); ok {
		f.StartFixedSum()
	}
	f, host := device.NewFixed(be, shapes...), device.NewFixed(device.CPU(), shapes...)
	f.Unit, f.Limit, f.Chain = 0x1p-18, float64(g.FixedForm().Reach), 2
	host.Unit = f.Unit
	g.AddFixedSum(f, weights)
	host.Take(f, 0, len(host.Units))
	return host.Units
}

// spoiledAlone checks that records of weight 0 change no sum, whatever numbers they hold.
func spoiledAlone(t *testing.T, be device.Backend, net models.Network, b device.Batch) {
	t.Helper()
	weights := make([]float32, b.Rows)
	for i := range weights {
		if i%3 != 0 {
			weights[i] = device.Odd(1e-3)
		}
	}
	sum := func(x float32) []int32 {
		b.Dense.Data = slices.Clone(b.Dense.Data)
		for i := 0; i < b.Rows; i += 3 {
			b.Dense.Row(i)[i%b.Dense.Cols] = x
		}
		return fixedSum(be, net.Params().Shapes, net.Gradients(b).(models.FixedGradients), weights)
	}
	want := sum(1)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 3e38} {
		if !slices.Equal(sum(float32(x)), want) {
			t.Errorf("records of weight 0 with %v change the sum", x)
		}
	}
}

func someRows(rng *rand.Rand, rows, dim, classes int) device.Batch {
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, make([]float32, rows*dim)),
		Keys: make([]uint64, rows)}
	for i := range b.Dense.Data {
		b.Dense.Data[i] = float32(rng.IntN(2))
	}
	for i := range b.Keys {
		b.Keys[i] = rng.Uint64()
		b.Labels = append(b.Labels, int32(rng.IntN(max(classes, 1))))
	}
	return b
}

func someSets(rng *rand.Rand, rows, dim int) device.Batch {
	s := &device.Sparse{Cols: dim, Offsets: []int{0}}
	for range rows {
		for range rng.IntN(5) {
			s.Items = append(s.Items, uint32(rng.IntN(dim)))
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	b := someRows(rng, rows, 0, 0)
	b.Dense, b.Sparse = device.Matrix{}, s
	return b
}

var smallCNN = models.CNN{Height: 6, Width: 5, Channels: 2, Activation: models.LeakyReLU,
	Hidden:       []int{7},
	Convolutions: []models.Convolution{{Maps: 3, Size: 3, Stride: 2, Pad: 1}, {Maps: 4, Size: 2}}}

// TestNetworksAgree checks that per-example gradients of every kind of network agree between the
// CPU and the other backend.
func TestNetworksAgree(t *testing.T) {
	be := pair[device.Backend]{device.CPU(), elsewhere(t)}
	sparse := models.Visible{Dim: 40, Sparse: true}
	blocks := models.Visible{Dim: 30, Blocks: []models.Block{{Width: 9, OneHot: true}, {Width: 4},
		{Width: 2, Missing: true}, {Width: 12, OneHot: true}, {Width: 3, Missing: true}}}
	for name, c := range map[string]struct {
		build func(device.Backend) (models.Network, error)
		batch func(*rand.Rand) device.Batch
	}{
		"vae": {func(b device.Backend) (models.Network, error) {
			arch := models.VAE{Hidden: []int{20, 9}, Latent: 3, Activation: models.Tanh}
			return arch.New(b, models.Visible{Dim: 30}, 1)
		}, func(r *rand.Rand) device.Batch { return someRows(r, 33, 30, 0) }},
		"vae of sets": {func(b device.Backend) (models.Network, error) {
			return models.VAE{Hidden: []int{20}, Latent: 2}.New(b, sparse, 1)
		}, func(r *rand.Rand) device.Batch { return someSets(r, 21, 40) }},
		"rbm": {func(b device.Backend) (models.Network, error) {
			return models.RBM{Hidden: 12, Chains: 5}.New(b, models.Visible{Dim: 30}, 1)
		}, func(r *rand.Rand) device.Batch { return someRows(r, 17, 30, 0) }},
		"rbm of sets": {func(b device.Backend) (models.Network, error) {
			return models.RBM{Hidden: 12, Chains: 5}.New(b, sparse, 1)
		}, func(r *rand.Rand) device.Batch { return someSets(r, 17, 40) }},
		"vae of tables": {func(b device.Backend) (models.Network, error) {
			return models.VAE{Hidden: []int{20}, Latent: 3}.New(b, blocks, 1)
		}, func(r *rand.Rand) device.Batch { return someRows(r, 33, 30, 0) }},
		"rbm of tables": {func(b device.Backend) (models.Network, error) {
			return models.RBM{Hidden: 12, Chains: 5}.New(b, blocks, 1)
		}, func(r *rand.Rand) device.Batch { return someRows(r, 17, 30, 0) }},
		"mlp": {func(b device.Backend) (models.Network, error) {
			return models.MLP{Hidden: []int{12}, Activation: models.Softplus}.Classifier(b, 30, 4, 1)
		}, func(r *rand.Rand) device.Batch { return someRows(r, 50, 30, 4) }},
		"built": {func(b device.Backend) (models.Network, error) {
			return models.Build(b, 30, 1, func(x models.Value) models.Loss {
				h := x.Columns(0, 20).Embed(2, 4).Shape(4, 5, 4)
				h = h.Conv(models.Convolution{Maps: 4, Size: 2}).GroupNorm(2).Apply(device.Softplus)
				h = h.MaxPool(models.Convolution{Size: 2}).Dropout(.2).LayerNorm()
				a := h.Dense(4)
				h = h.Plus(a.Attend(h.Like(a), h, 2, true)).Plus(h.Dense(4).Frozen().Times(h))
				h = h.Mean().Concat(x.Columns(20, 30).Shape(1, 5, 2).GRU(3).Mean())
				h = h.Dense(8).Latent(.1).Shape(2, 2, 1)
				h = h.ConvTransposed(models.Convolution{Maps: 2, Size: 2, Stride: 2}).Softmax()
				return h.RMSNorm().Shape(1, 1, 32).Scale(2).Dense(4).CrossEntropy()
			})
		}, func(r *rand.Rand) device.Batch { return someRows(r, 19, 30, 4) }},
		"cnn": {func(b device.Backend) (models.Network, error) {
			return smallCNN.Classifier(b, 60, 3, 1)
		},
			func(r *rand.Rand) device.Batch { return someRows(r, 19, 60, 3) }},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 1))
			var net pair[models.Network]
			var err error
			if net.here, err = c.build(be.here); err != nil {
				t.Fatal(err)
			}
			if net.there, err = c.build(be.there); err != nil {
				t.Fatal(err)
			}
			disturb(pair[device.Params]{net.here.Params(), net.there.Params()}, be, rng)
			for range 2 {
				if s, ok := net.here.(models.Stepper); ok {
					s.BeginStep()
					net.there.(models.Stepper).BeginStep()
				}
				b := c.batch(rng)
				g := pair[models.Gradients]{net.here.Gradients(b), net.there.Gradients(b)}
				compare(t, be, net.here.Params().Shapes, b.Rows, g, rng)
				sumsAlone(t, be.there, net.there.Params().Shapes, b.Rows, func(lo, hi int) models.Gradients {
					return net.there.Gradients(b.Slice(lo, hi))
				})
				if b.Sparse == nil {
					spoiledAlone(t, be.there, net.there, b)
				}
			}
			none := c.batch(rng).Slice(0, 0)
			g := pair[models.Gradients]{net.here.Gradients(none), net.there.Gradients(none)}
			compare(t, be, net.here.Params().Shapes, 0, g, rng)
		})
	}
}

// TestCriticsAgree checks that all gradients of critics agree between the CPU and the other
// backend.
func TestCriticsAgree(t *testing.T) {
	be := pair[device.Backend]{device.CPU(), elsewhere(t)}
	smooth := smallCNN
	smooth.Activation = models.Softplus
	for name, c := range map[string]struct {
		arch     models.CriticArchitecture
		dim, all int
	}{
		"mlp":         {models.MLP{Hidden: []int{16, 8}, Activation: models.LeakyReLU}, 6, 3},
		"mlp, tanh":   {models.MLP{Hidden: []int{16, 8}, Activation: models.Tanh}, 6, 0},
		"cnn":         {smallCNN, 60, 0},
		"cnn, smooth": {smooth, 60, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 1))
			var net pair[models.Critic]
			var err error
			if net.here, err = c.arch.Critic(be.here, c.dim, c.all, 3); err != nil {
				t.Fatal(err)
			}
			if net.there, err = c.arch.Critic(be.there, c.dim, c.all, 3); err != nil {
				t.Fatal(err)
			}
			disturb(pair[device.Params]{net.here.Params(), net.there.Params()}, be, rng)
			b := someRows(rng, 23, c.dim, c.all)
			fakes, mix := someRows(rng, 23, c.dim, 0).Dense, make([]float32, 23)
			for i := range mix {
				mix[i] = rng.Float32()
			}
			away := be.there.New(23, c.dim)
			be.there.Upload(away, fakes.Data)
			shapes := net.here.Params().Shapes
			g := pair[models.Gradients]{net.here.PairGradients(b, fakes, mix, 10),
				net.there.PairGradients(b, away, mix, 10)}
			compare(t, be, shapes, 23, g, rng)
			sumsAlone(t, be.there, shapes, 23, func(lo, hi int) models.Gradients {
				return net.there.PairGradients(b.Slice(lo, hi), away.RowRange(lo, hi), mix[lo:hi], 10)
			})
			scores := pair[[]float64]{make([]float64, 23), make([]float64, 23)}
			dx := pair[device.Matrix]{be.here.New(23, c.dim), be.there.New(23, c.dim)}
			net.here.ScoreGradient(dx.here, fakes, b.Labels, 0.5, scores.here)
			net.there.ScoreGradient(dx.there, away, b.Labels, 0.5, scores.there)
			if d := distance(host(be.here, dx.here), host(be.there, dx.there)); !(d < close32) {
				t.Errorf("derivatives with respect to fakes differ by %.2g", d)
			}
			if d := distance(scores.here, scores.there); !(d < close32) {
				t.Errorf("scores differ by %.2g", d)
			}
		})
	}
}

// TestDecodingsAgree compares the CPU with the other backend for generators that do not read
// records. Their outputs, gradients and samples must agree.
func TestDecodingsAgree(t *testing.T) {
	be := pair[device.Backend]{device.CPU(), elsewhere(t)}
	heads := []models.Head{
		{Width: 3, Out: models.SoftmaxHead}, {Width: 2, Out: models.SigmoidHead},
		{Width: 1, Out: models.Linear},
	}
	for name, c := range map[string]struct {
		arch  models.GeneratorArchitecture
		heads []models.Head
	}{
		"mlp":  {models.MLP{Hidden: []int{16, 8}, BatchNorm: true}, heads},
		"conv": {models.Generator28(32, 16), []models.Head{{Width: 784, Out: models.TanhHead}}},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(6, 1))
			var net pair[models.Generator]
			var err error
			if net.here, err = c.arch.NewGenerator(be.here, 5, c.heads, 3); err != nil {
				t.Fatal(err)
			}
			if net.there, err = c.arch.NewGenerator(be.there, 5, c.heads, 3); err != nil {
				t.Fatal(err)
			}
			disturb(pair[device.Params]{net.here.Params(), net.there.Params()}, be, rng)
			const rows = 20
			codes := pair[device.Matrix]{be.here.New(rows, 5), be.there.New(rows, 5)}
			delta := pair[device.Matrix]{be.here.New(rows, net.here.Dim()),
				be.there.New(rows, net.here.Dim())}
			fillBoth(be, codes, rng)
			fillBoth(be, delta, rng)
			same(t, "forwards", be,
				pair[device.Matrix]{net.here.Forward(codes.here), net.there.Forward(codes.there)})
			shapes := net.here.Params().Shapes
			grad := pair[device.Params]{device.NewParams(be.here, shapes...),
				device.NewParams(be.there, shapes...)}
			dCodes := pair[device.Matrix]{be.here.New(rows, 5), be.there.New(rows, 5)}
			net.here.Backward(delta.here, grad.here, dCodes.here)
			net.there.Backward(delta.there, grad.there, dCodes.there)
			same(t, "gradients", be, pair[device.Matrix]{grad.here.Flat, grad.there.Flat})
			same(t, "derivatives by codes", be, dCodes)
			net.here.Generate(codes.here, delta.here)
			net.there.Generate(codes.there, delta.there)
			same(t, "samples", be, delta)
		})
	}
}

func fillBoth(be pair[device.Backend], m pair[device.Matrix], rng *rand.Rand) {
	numbers := make([]float32, m.here.Rows*m.here.Cols)
	for i := range numbers {
		numbers[i] = float32(rng.NormFloat64())
	}
	be.here.Upload(m.here, numbers)
	be.there.Upload(m.there, numbers)
}

func same(t *testing.T, what string, be pair[device.Backend], m pair[device.Matrix]) {
	t.Helper()
	if d := distance(host(be.here, m.here), host(be.there, m.there)); !(d < 10*close32) {
		t.Errorf("%s differ by %.2g", what, d)
	}
}
