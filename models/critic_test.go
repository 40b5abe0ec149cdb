package models

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// paired is a critic as a Network: each record has a fake and a mix that depend on the record's
// key.
type paired struct {
	Critic
	lambda float64
}

func (n paired) fake(key uint64) []float32 {
	f := make([]float32, n.Dim())
	KeyedCode(f, key)
	for j := range f {
		f[j] = 0.5 + 0.2*f[j]
	}
	return f
}

func (n paired) Gradients(b device.Batch) Gradients {
	fakes := device.CPU().New(b.Rows, n.Dim())
	var mix []float32
	for i := range b.Rows {
		copy(fakes.Row(i), n.fake(b.Keys[i]))
		mix = append(mix, KeyedShare(b.Keys[i]))
	}
	return n.PairGradients(b, fakes, mix, n.lambda)
}

// slow is a reference critic in float64 that computes one record at a time. Its numbers are
// complex: an imaginary step of 1e-30 along a coordinate gives the derivative without cancellation.
type slow struct {
	units   []unit
	classes int
}

// forward returns the last unit's output.
func (s slow) forward(p []float64, x []complex128) []complex128 {
	next := func(n int) []float64 {
		block := p[:n]
		p = p[n:]
		return block
	}
	for _, u := range s.units {
		y := make([]complex128, u.out())
		switch u := u.(type) {
		case *denseUnit:
			w, b := next(u.width*u.wide), next(u.wide)
			for k := range y {
				y[k] = complex(b[k], 0)
				for j, v := range x {
					y[k] += v * complex(w[j*u.wide+k], 0)
				}
				y[k] = slowFunc(u.f, y[k])
			}
		case *convUnit:
			w, b := next(u.window.Patch()*u.maps), next(u.maps)
			for k := range y {
				y[k] = complex(b[k%u.maps], 0)
			}
			slowVisit(u.window, func(place, k, pixel int) {
				for m := range u.maps {
					y[place*u.maps+m] += x[pixel] * complex(w[k*u.maps+m], 0)
				}
			})
			for k := range y {
				y[k] = slowFunc(u.f, y[k])
			}
		case *funcUnit:
			for k := range y {
				y[k] = slowFunc(u.f, x[k])
			}
		}
		x = y
	}
	return x
}

// slowVisit calls f for every number of every patch that lies in the image.
func slowVisit(w device.Window, f func(place, k, pixel int)) {
	down, across := w.Grid()
	for place := range down * across {
		for r := range w.Size {
			for c := range w.Size {
				y, x := place/across*w.Stride-w.Pad+r, place%across*w.Stride-w.Pad+c
				if y < 0 || x < 0 || y >= w.Height || x >= w.Width {
					continue
				}
				for ch := range w.Channels {
					f(place, (r*w.Size+c)*w.Channels+ch, (y*w.Width+x)*w.Channels+ch)
				}
			}
		}
	}
}

func slowFunc(f device.Func, x complex128) complex128 {
	switch f {
	case device.Identity:
		return x
	case device.ReLU:
		if real(x) > 0 {
			return x
		}
		return 0
	case device.LeakyReLU:
		if real(x) > 0 {
			return x
		}
		return device.LeakySlope * x
	case device.Tanh:
		e := cmplx.Exp(2 * x)
		return (e - 1) / (e + 1)
	case device.Sigmoid:
		return 1 / (1 + cmplx.Exp(-x))
	case device.Softplus:
		return cmplx.Log(1 + cmplx.Exp(x))
	}
	panic("no critic of these tests has this function")
}

func (s slow) complexScore(p []float64, x []complex128, label int32) complex128 {
	out := s.forward(p, x)
	if s.classes == 0 {
		return out[0]
	}
	return out[0] + out[1+label]
}

func (s slow) score(p, x []float64, label int32) float64 {
	return real(s.complexScore(p, complexes(x), label))
}

func complexes(x []float64) []complex128 {
	out := make([]complex128, len(x))
	for j, v := range x {
		out[j] = complex(v, 0)
	}
	return out
}

// slope returns ‖∇D(x)‖.
func (s slow) slope(p, x []float64, label int32) float64 {
	const h = 1e-30
	sum, at := 0.0, complexes(x)
	for j := range at {
		at[j] += complex(0, h)
		d := imag(s.complexScore(p, at, label)) / h
		at[j] = complex(x[j], 0)
		sum += d * d
	}
	return math.Sqrt(sum)
}

func (n paired) reference() slow { return slow{unitsOf(n.Critic.(*critic).g), n.Classes()} }

// slowLoss returns a function that computes the loss of record i of b from the definition.
func (n paired) slowLoss(b device.Batch) func(p []float64, i int) float64 {
	s := n.reference()
	return func(p []float64, i int) float64 {
		x, label := wide(b.Dense.Row(i)), int32(0)
		if b.Labels != nil {
			label = b.Labels[i]
		}
		return s.pairLoss(p, x, wide(n.fake(b.Keys[i])), float64(KeyedShare(b.Keys[i])), label, n.lambda)
	}
}

func (s slow) pairLoss(p, x, fake []float64, mix float64, label int32, lambda float64) float64 {
	between := make([]float64, len(x))
	for j := range x {
		between[j] = mix*x[j] + (1-mix)*fake[j]
	}
	g := s.slope(p, between, label)
	return s.score(p, fake, label) - s.score(p, x, label) + lambda*(g-1)*(g-1)
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func criticBatch(rng *rand.Rand, rows, dim, classes int) device.Batch {
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, make([]float32, rows*dim)),
		Keys: make([]uint64, rows)}
	for i := range b.Dense.Data {
		b.Dense.Data[i] = rng.Float32()
	}
	for i := range b.Keys {
		b.Keys[i] = rng.Uint64()
		if classes > 0 {
			b.Labels = append(b.Labels, int32(rng.IntN(classes)))
		}
	}
	return b
}

type criticCase struct {
	arch    CriticArchitecture
	dim     int
	classes int
}

func criticCases() map[string]criticCase {
	image := CNN{Height: 6, Width: 5, Channels: 2,
		Convolutions: []Convolution{{Maps: 3, Size: 3, Stride: 2, Pad: 1}, {Maps: 4, Size: 2}},
		Activation:   LeakyReLU}
	deep := image
	deep.Hidden = []int{7}
	smooth := deep
	smooth.Activation = Softplus
	return map[string]criticCase{
		"linear":       {MLP{}, 4, 0},
		"one layer":    {MLP{Hidden: []int{9}, Activation: LeakyReLU}, 5, 0},
		"three layers": {MLP{Hidden: []int{8, 12, 5}, Activation: LeakyReLU}, 6, 0},
		"relu":         {MLP{Hidden: []int{16, 8}}, 6, 0},
		"conditional":  {MLP{Hidden: []int{8, 6}, Activation: LeakyReLU}, 5, 3},
		"image":        {image, 60, 0},
		"deep image":   {deep, 60, 3},

		"deep image, softplus": {smooth, 60, 3},
		"tanh":                 {MLP{Hidden: []int{9, 7}, Activation: Tanh}, 5, 0},
		"sigmoid":              {MLP{Hidden: []int{9, 7}, Activation: Sigmoid}, 5, 2},
		"softplus image": {CNN{Height: 6, Width: 5, Channels: 2, Convolutions: image.Convolutions,
			Activation: Softplus}, 60, 0},
	}
}

func newPaired(t testing.TB, c criticCase) paired {
	n := must(c.arch.Critic(device.CPU(), c.dim, c.classes, 3))(t)
	p := paired{n, 10}
	perturb(p, rand.New(rand.NewPCG(2, 9)), 0.1)
	return p
}

func TestCriticGradients(t *testing.T) {
	for name, c := range criticCases() {
		t.Run(name, func(t *testing.T) {
			n := newPaired(t, c)
			b := criticBatch(rand.New(rand.NewPCG(1, 5)), 7, c.dim, c.classes)
			checkCriticDerivative(t, n, b)
			checkFactored(t, n, b, 0.01)
			checkEmpty(t, n, c.dim)
			checkTotal(t, n, b)
		})
	}
}

// checkCriticDerivative is checkDerivative with a tolerance relative to the norm of the whole
// gradient.
func checkCriticDerivative(t *testing.T, n paired, b device.Batch) {
	t.Helper()
	each, loss := exampleGradients(n, b), n.slowLoss(b)
	p := wide(n.Params().Flat.Data)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range b.Rows {
		scale := math.Sqrt(squaredNorm(each[i]))
		for range 50 {
			j := rng.IntN(len(p))
			const h = 1e-5
			save := p[j]
			p[j] = save + h
			up := loss(p, i)
			p[j] = save - h
			down := loss(p, i)
			p[j] = save
			want := (up - down) / (2 * h)
			if got := float64(each[i][j]); math.Abs(got-want) > 1e-5*(1+scale) {
				t.Fatalf("example %d, parameter %d: gradient %v, difference quotient %v", i, j, got, want)
			}
		}
	}
}

// TestCriticBlockNorms: the stated norm of a block bounds the block's part of a materialised
// gradient. Block sums agree with sums of materialised gradients.
func TestCriticBlockNorms(t *testing.T) {
	for name, c := range criticCases() {
		t.Run(name, func(t *testing.T) {
			n := newPaired(t, c)
			b := criticBatch(rand.New(rand.NewPCG(1, 6)), 9, c.dim, c.classes)
			each := exampleGradients(n, b)
			g := n.Gradients(b).(BlockGradients)
			norms := make([][]float64, n.Params().Blocks())
			weights := make([][]float32, len(norms))
			want := device.NewParams(device.CPU(), n.Params().Shapes...)
			for k := range norms {
				norms[k], weights[k] = make([]float64, b.Rows), make([]float32, b.Rows)
			}
			g.BlockSquaredNorms(norms)
			for k := range norms {
				lo, hi := n.Params().Range(k)
				for i := range b.Rows {
					true := squaredNorm(each[i][lo:hi])
					if norms[k][i] < true*(1-1e-5)-1e-9 || norms[k][i] > true*1.03+1e-4*(1+squaredNorm(each[i])) {
						t.Errorf("block %d, example %d: %v, materialised %v", k, i, norms[k][i], true)
					}
					weights[k][i] = float32(i%3) - float32(k)/2
					for j := lo; j < hi; j++ {
						want.Flat.Data[j] += weights[k][i] * each[i][j]
					}
				}
			}
			got := device.NewParams(device.CPU(), n.Params().Shapes...)
			g.AddBlockSums(got, weights)
			for j, v := range got.Flat.Data {
				if math.Abs(float64(v-want.Flat.Data[j])) > 2e-4*(1+math.Abs(float64(want.Flat.Data[j]))) {
					t.Fatalf("coordinate %d of the sum: %v, materialised %v", j, v, want.Flat.Data[j])
				}
			}
		})
	}
}

// TestCriticNormsBoundWhatCancels: even if parts cancel, the stated norm is at least the norm of
// the row that is added. If a record equals its fake, only the penalty remains. Other records have
// scales far from 1.
func TestCriticNormsBoundWhatCancels(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for name, c := range criticCases() {
		n := newPaired(t, c)
		for trial := range 40 {
			b := criticBatch(rng, 3, c.dim, c.classes)
			for i := range b.Rows {
				f := n.fake(b.Keys[i])
				scale := float32(math.Exp(4 * rng.NormFloat64()))
				for j := range f {
					switch trial % 3 {
					case 0:
						b.Dense.Row(i)[j] = f[j]
					case 1:
						b.Dense.Row(i)[j] = f[j] * (1 + 1e-6*rng.Float32())
					default:
						b.Dense.Row(i)[j] *= scale
					}
				}
			}
			n.lambda = []float64{10, 1e-3, 1e4}[trial/3%3]
			g := n.Gradients(b)
			norms := make([]float64, b.Rows)
			g.SquaredNorms(norms)
			for i, row := range exampleGradients(n, b) {
				if norms[i] < squaredNorm(row)*(1-1e-9) {
					t.Errorf("%s, trial %d: stated norm² %v, true %v", name, trial, norms[i], squaredNorm(row))
				}
			}
		}
	}
}

// TestCriticNormsWhereAllCancels: if record and fake cancel completely, the stated norm is still
// the fraction of their norms that rounding may leave.
func TestCriticNormsWhereAllCancels(t *testing.T) {
	for name, c := range criticCases() {
		if _, ok := c.arch.(MLP); !ok {
			continue
		}
		n := newPaired(t, c)
		n.lambda = 0
		b := criticBatch(rand.New(rand.NewPCG(8, 2)), 1, c.dim, c.classes)
		copy(b.Dense.Data, n.fake(b.Keys[0]))
		blocks := func(g BlockGradients) [][]float64 {
			list := make([][]float64, n.Params().Blocks())
			for k := range list {
				list[k] = make([]float64, 1)
			}
			g.BlockSquaredNorms(list)
			return list
		}
		alone := blocks(recordGradients(n, b))
		for k, norms := range blocks(n.Gradients(b).(BlockGradients)) {
			if want := 4 * cancelled * cancelled * alone[k][0]; !(norms[0] >= want*(1-1e-3)) ||
				norms[0] > 20*want {
				t.Errorf("%s: block %d has squared norm %v, want about %v", name, k, norms[0], want)
			}
		}
	}
}

// recordGradients returns the gradients of −D(record) alone.
func recordGradients(n paired, b device.Batch) BlockGradients {
	c := n.Critic.(*critic)
	c.pair.resize(b.Rows, 1, 1)
	c.run(c.pair.pass, b.Dense, b.Labels, func(int, float64) float64 { return -1 })
	c.pair.pass.backward()
	return c.pair
}

// TestCriticRecordsDoNotMix: the gradient of a record does not depend on other records, to the last
// bit.
func TestCriticRecordsDoNotMix(t *testing.T) {
	for name, c := range criticCases() {
		n := newPaired(t, c)
		b := criticBatch(rand.New(rand.NewPCG(4, 4)), 70, c.dim, c.classes)
		alone, among := make([]float64, 1), make([]float64, b.Rows)
		n.Gradients(b).SquaredNorms(among)
		for _, i := range []int{0, 33, 69} {
			n.Gradients(b.Slice(i, i+1)).SquaredNorms(alone)
			if alone[0] != among[i] {
				t.Errorf("%s: record %d: squared norm %v alone, %v in a batch", name, i, alone[0], among[i])
			}
		}
	}
}

func TestCriticScoreGradient(t *testing.T) {
	for name, c := range criticCases() {
		n := newPaired(t, c)
		b := criticBatch(rand.New(rand.NewPCG(5, 4)), 6, c.dim, c.classes)
		dx, scores := device.CPU().New(b.Rows, c.dim), make([]float64, b.Rows)
		n.ScoreGradient(dx, b.Dense, b.Labels, 1, scores)
		s, p := n.reference(), wide(n.Params().Flat.Data)
		for i := range b.Rows {
			label := int32(0)
			if c.classes > 0 {
				label = b.Labels[i]
			}
			x := wide(b.Dense.Row(i))
			if want := s.score(p, x, label); math.Abs(scores[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: score %v, want %v", name, scores[i], want)
			}
			if got, want := math.Sqrt(squaredNorm(dx.Row(i))),
				s.slope(p, x, label); math.Abs(got-want) > 1e-3*(1+want) {
				t.Errorf("%s: slope %v, want %v", name, got, want)
			}
		}
	}
}

func TestCriticMistakes(t *testing.T) {
	for name, build := range map[string]func() (Critic, error){
		"no backend": func() (Critic, error) { return MLP{}.Critic(nil, 3, 0, 0) },
		"no input": func() (Critic, error) {
			return MLP{}.Critic(device.CPU(), 0, 0, 0)
		},
		"batch norm": func() (Critic, error) {
			return MLP{BatchNorm: true}.Critic(device.CPU(), 3, 0, 0)
		},
		"negative labels": func() (Critic, error) {
			return MLP{}.Critic(device.CPU(), 3, -1, 0)
		},
		"wrong image": func() (Critic, error) {
			return CNN{Height: 4, Width: 4, Channels: 1}.Critic(device.CPU(), 15, 0, 0)
		},
	} {
		if n, err := build(); err == nil || n != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCriticSize(t *testing.T) {
	for name, c := range criticCases() {
		n := newPaired(t, c)
		s := c.arch.(interface{ CriticSize(in, classes int) int64 })
		if got := s.CriticSize(c.dim, c.classes); got != int64(n.Params().Len()) {
			t.Errorf("%s: CriticSize returns %d, the critic has %d parameters", name, got, n.Params().Len())
		}
	}
}

func TestCriticJSON(t *testing.T) {
	for _, a := range []CriticArchitecture{vectorCritic, Critic28(16)} {
		text := must(MarshalArchitecture(a))(t)
		if back, err := UnmarshalCritic(text); err != nil || !reflect.DeepEqual(a, back) {
			t.Errorf("read back as %v, %v", back, err)
		}
	}
	for _, bad := range []string{"", "{}", `{"name":"vae","params":{}}`,
		`{"name":"mlp","params":{"hidden":[-1]}}`, `{"name":"mlp","params":[]}`} {
		if _, err := UnmarshalCritic([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
