package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

func newTestVAE(t *testing.T, a VAE, v Visible) *vae {
	t.Helper()
	g := must(a.New(device.CPU(), v, 11))(t)
	n := g.(*vae)
	perturb(n, rand.New(rand.NewPCG(1, 2)), 0.1)
	return n
}

// referenceVAE computes the textbook loss in float64.
type referenceVAE struct {
	n *vae
	b device.Batch
	x [][]float32
}

func reference64(f Activation, x float64) float64 {
	switch f {
	case ReLU:
		return max(x, 0)
	case LeakyReLU:
		if x < 0 {
			return device.LeakySlope * x
		}
		return x
	case Tanh:
		return math.Tanh(x)
	case Sigmoid:
		return 1 / (1 + math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// stack64 runs the layers whose parameters start at p[at]. The last layer is linear.
func stack64(p []float64, at int, widths []int, f Activation, x []float64) []float64 {
	for l := 1; l < len(widths); l++ {
		in, out := widths[l-1], widths[l]
		y := append([]float64(nil), p[at+in*out:at+in*out+out]...)
		for i, xi := range x {
			for j := range y {
				y[j] += xi * p[at+i*out+j]
			}
		}
		if l < len(widths)-1 {
			for j := range y {
				y[j] = reference64(f, y[j])
			}
		}
		x, at = y, at+in*out+out
	}
	return x
}

func stackLen(widths []int) int {
	n := 0
	for l := 1; l < len(widths); l++ {
		n += (widths[l-1] + 1) * widths[l]
	}
	return n
}

func (r referenceVAE) loss(p []float64, i int) float64 {
	a := r.n.arch
	enc, dec := encoderWidths(a, r.n.visible.Dim), decoderWidths(a, r.n.visible.Dim)
	x := make([]float64, len(r.x[i]))
	for j, v := range r.x[i] {
		x[j] = float64(v)
	}
	head := stack64(p, 0, enc, a.Activation, x)
	eps := make([]float32, a.Latent)
	keyedNormals(eps, r.b.Keys[i])
	z, kl := make([]float64, a.Latent), 0.0
	for j := range z {
		rho := logStdRange * math.Tanh(head[a.Latent+j]/logStdRange)
		z[j] = head[j] + math.Exp(rho)*float64(eps[j])
		kl += 0.5*(head[j]*head[j]+math.Exp(2*rho)-1) - rho
	}
	out := stack64(p, stackLen(enc), dec, a.Activation, z)
	if r.n.visible.Blocks != nil {
		return cmp.Or(a.KLWeight, 1)*kl + mixedLoss64(r.n.visible, out, x)
	}
	rec := 0.0
	for j, o := range out {
		if r.n.visible.Likelihood == GaussianUnit {
			rec += 0.5 * (o - x[j]) * (o - x[j])
		} else {
			rec += math.Log1p(math.Exp(-math.Abs(o))) + max(o, 0) - x[j]*o
		}
	}
	return cmp.Or(a.KLWeight, 1)*kl + rec
}

func rowsOf(b device.Batch) [][]float32 {
	var rows [][]float32
	for i := range b.Rows {
		rows = append(rows, b.Dense.Row(i))
	}
	return rows
}

func TestVAEGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, a := range []VAE{
		{Hidden: []int{9}, Latent: 2, Activation: Tanh},
		{Hidden: []int{8, 5}, Latent: 3, Activation: Softplus},
		{Hidden: []int{7}, Latent: 1, Activation: Sigmoid},
		{Hidden: nil, Latent: 2},
		{Hidden: []int{9}, Latent: 2, Activation: ReLU},
		{Hidden: []int{9}, Latent: 2, Activation: LeakyReLU},
		{Hidden: []int{6}, Latent: 2, Activation: Tanh, KLWeight: 4},
	} {
		for _, v := range []Visible{{Dim: 13}, {Dim: 6, Likelihood: GaussianUnit}} {
			n := newTestVAE(t, a, v)
			b := binaryBatch(rng, 11, v.Dim, 0.4)
			if v.Likelihood == GaussianUnit {
				for i := range b.Dense.Data {
					b.Dense.Data[i] = float32(rng.NormFloat64())
				}
			}
			checkDerivative(t, n, b, referenceVAE{n, b, rowsOf(b)}.loss)
			checkFactored(t, n, b, 0)
			checkEmpty(t, n, v.Dim)
			checkTotal(t, n, b)
		}
	}
}

func TestVAESparseEqualsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	n := newTestVAE(t, VAE{Hidden: []int{12}, Latent: 2, Activation: Tanh},
		Visible{Dim: 40, Sparse: true})
	dense := binaryBatch(rng, 9, 40, 0.1)
	clear(dense.Dense.Row(4)) // an empty set
	sparse := sparsify(dense)
	checkFactored(t, n, sparse, 0)
	a, b := exampleGradients(n, dense), exampleGradients(n, sparse)
	for i := range a {
		for j := range a[i] {
			if math.Abs(float64(a[i][j]-b[i][j])) > 1e-5 {
				t.Fatalf("example %d, coordinate %d: dense %v, sparse %v", i, j, a[i][j], b[i][j])
			}
		}
	}
}

// TestSparseNormCountsRepeats: an item that is listed twice is added twice in the matrix product.
// If the norm counted it once, the norm, and so the sensitivity, would be too small.
func TestSparseNormCountsRepeats(t *testing.T) {
	s := &device.Sparse{Cols: 9, Offsets: []int{0, 3, 3, 7, 10},
		Items: []uint32{1, 4, 8, 5, 2, 5, 5, 3, 3, 6}}
	got := make([]float64, 4)
	sparseSquaredNorms(got, s)
	if want := []float64{3, 0, 10, 5}; !slices.Equal(got, want) {
		t.Errorf("squared norms %v, want %v", got, want)
	}
}

// TestVAEExamplesDoNotInteract: a record's gradient does not depend on other records, since the
// sensitivity is computed for one record at a time.
func TestVAEExamplesDoNotInteract(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	n := newTestVAE(t, VAE{Hidden: []int{16}, Latent: 2}, Visible{Dim: 30})
	b := binaryBatch(rng, 70, 30, 0.3)
	whole := make([]float64, b.Rows)
	n.Gradients(b).SquaredNorms(whole)
	for i := range b.Rows {
		alone := make([]float64, 1)
		n.Gradients(b.Slice(i, i+1)).SquaredNorms(alone)
		if alone[0] != whole[i] {
			t.Fatalf("example %d: squared norm %v in the batch, %v alone", i, whole[i], alone[0])
		}
	}
}

func TestVAEIsTotalUnderWildParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	for _, scale := range []float64{10, 1e4, 1e9, 1e20, 1e38} {
		n := newTestVAE(t, VAE{Hidden: []int{16}, Latent: 2}, Visible{Dim: 30})
		perturb(n, rng, scale)
		b := binaryBatch(rng, 20, 30, 0.3)
		norms := make([]float64, 20)
		g := n.Gradients(b)
		g.SquaredNorms(norms)
		w := make([]float32, 20)
		for i, s := range norms {
			if s <= math.MaxFloat64 {
				w[i] = float32(1 / math.Sqrt(s))
			}
		}
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		g.AddWeightedSum(sum, w)
		if norm := math.Sqrt(squaredNorm(sum.Flat.Data)); !(norm <= 20.001) {
			t.Errorf("parameters of size %g: 20 clipped gradients have a sum of norm %v, want at most 20", scale, norm)
		}
		if scale == 10 && w[0] == 0 {
			t.Error("gradients at moderate parameters are left out as not finite")
		}
	}
}

func TestVAELosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 5))
	for _, v := range []Visible{{Dim: 12}, {Dim: 12, Likelihood: GaussianUnit},
		{Dim: 12, Sparse: true}} {
		n := newTestVAE(t, VAE{Hidden: []int{5}, Latent: 2, Activation: Tanh}, v)
		b := binaryBatch(rng, 6, v.Dim, 0.3)
		ref := referenceVAE{n, b, rowsOf(b)}
		in := b
		if v.Sparse {
			in = sparsify(b)
		}
		got := make([]float64, b.Rows)
		n.Gradients(in).(interface{ Losses([]float64) }).Losses(got)
		p := make([]float64, n.Params().Len())
		for j, x := range n.Params().Flat.Data {
			p[j] = float64(x)
		}
		for i := range got {
			if want := ref.loss(p, i); math.Abs(got[i]-want) > 1e-4*(1+want) {
				t.Errorf("%v: loss %v, want %v", v, got[i], want)
			}
		}
	}
}

// TestVAELearns: with clipped gradient descent without noise, the model learns two patterns.
func TestVAELearns(t *testing.T) {
	const dim, rows = 16, 64
	g := must(VAE{Hidden: []int{24}, Latent: 2, Activation: Tanh}.New(device.CPU(),
		Visible{Dim: dim}, 3))(t)
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, make([]float32, rows*dim)),
		Keys: make([]uint64, rows)}
	for i := range rows {
		for j := range dim / 2 {
			b.Dense.Row(i)[j+i%2*dim/2] = 1
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	w, norms := make([]float32, rows), make([]float64, rows)
	for range 1500 {
		for i := range b.Keys {
			b.Keys[i] = rng.Uint64()
		}
		batch := g.Gradients(b)
		batch.SquaredNorms(norms)
		for i := range w { // clipped descent, since the loss is steep at first
			w[i] = -0.1 / rows * float32(min(1, 2/math.Sqrt(norms[i])))
		}
		batch.AddWeightedSum(g.Params(), w)
	}
	out := device.HostMatrix(400, dim, make([]float32, 400*dim))
	g.Sample(rng, out)
	good, first := 0, 0
	for i := range out.Rows {
		a, c := mean(out.Row(i)[:dim/2]), mean(out.Row(i)[dim/2:])
		if max(a, c) > 0.9 && min(a, c) < 0.1 {
			good++
		}
		if a > c {
			first++
		}
	}
	if good < 300 || first < 80 || first > 320 {
		t.Errorf("%d of 400 samples show one of the patterns, %d the first pattern", good, first)
	}
}

func mean(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}

func TestVAESampleIsConcurrentAndReproducible(t *testing.T) {
	n := newTestVAE(t, PaperVAE(), Visible{Dim: 20})
	want := device.CPU().New(600, 20)
	n.Sample(rand.New(rand.NewPCG(1, 9)), want)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := device.CPU().New(600, 20)
			n.Sample(rand.New(rand.NewPCG(1, 9)), got)
			for i, v := range got.Data {
				if v != want.Data[i] || v < 0 || v > 1 {
					t.Errorf("number %d of the samples is %v, want %v", i, v, want.Data[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestVAEBind(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 5))
	n := newTestVAE(t, VAE{Hidden: []int{5}, Latent: 2}, Visible{Dim: 8})
	b := binaryBatch(rng, 4, 8, 0.5)
	before := exampleGradients(n, b)
	all := device.Concat(device.CPU(), n.Params(), n.Params())
	blocks := len(n.Params().Shapes)
	n.Bind(all.Sub(blocks, 2*blocks))
	after := exampleGradients(n, b)
	for i := range before {
		for j := range before[i] {
			if before[i][j] != after[i][j] {
				t.Fatal("Bind changed the network")
			}
		}
	}
	all.Flat.Data[all.Len()-1] += 5
	if n.Params().Flat.Data[n.Params().Len()-1] != all.Flat.Data[all.Len()-1] {
		t.Error("the network does not use the storage it was bound to")
	}
}

func TestVAEConfig(t *testing.T) {
	a := VAE{Hidden: []int{200, 3}, Latent: 2, Activation: Tanh, OutputBias: -1.5}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back VAE
	if err := json.Unmarshal(text, &back); err != nil || back.Hidden[1] != 3 ||
		back.Activation != Tanh || back.OutputBias != -1.5 {
		t.Errorf("%s was read back as %+v, %v", text, back, err)
	}
	bad := VAE{Hidden: []int{0, -1}, Activation: 99, OutputBias: math.NaN()}
	_, err = bad.New(device.CPU(), Visible{Likelihood: 7}, 0)
	for _, path := range []string{"models.VAE.Hidden[0]", "models.VAE.Hidden[1]", "models.VAE.Latent",
		"models.VAE.Activation", "models.VAE.OutputBias", "models.Visible.Dim",
		"models.Visible.Likelihood"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
	if _, err := PaperVAE().New(nil, Visible{Dim: 1}, 0); err == nil {
		t.Error("a nil backend is accepted")
	}
}

// names reports whether a joined error contains a *param.Error for path.
func names(err error, path string) bool {
	var c *param.Error
	if errors.As(err, &c) && c.Path == path {
		return true
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if names(e, path) {
				return true
			}
		}
	}
	return false
}

// TestVAEDecoderIsAliveAtTheOrigin: before training, about half of the decoder's rectifiers are on
// at the centre of the prior.
func TestVAEDecoderIsAliveAtTheOrigin(t *testing.T) {
	g := must(PaperVAE().New(device.CPU(), Visible{Dim: 10}, 4))(t)
	on := 0
	for _, b := range g.(*vae).blocks[g.(*vae).g.nodes[g.(*vae).latent.id+1].first+1].Data {
		if b > 0 {
			on++
		}
	}
	// 100 ± 5.6 standard deviations: the false-alarm rate over seeds is 2·10⁻⁸, and the seed is fixed.
	if on < 60 || on > 140 {
		t.Errorf("%d of 200 hidden units are on, want about 100", on)
	}
}

func encoderWidths(a VAE, dim int) []int {
	return append(append([]int{dim}, a.Hidden...), 2*a.Latent)
}

func decoderWidths(a VAE, dim int) []int {
	w := slices.Clone(a.Hidden)
	slices.Reverse(w)
	return append(append([]int{a.Latent}, w...), dim)
}
