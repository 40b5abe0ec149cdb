package models

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

func newTestRBM(t *testing.T, a RBM, v Visible) *rbm {
	t.Helper()
	g := must(a.New(device.CPU(), v, 21))(t)
	n := g.(*rbm)
	perturb(n, rand.New(rand.NewPCG(1, 2)), 0.3)
	n.BeginStep()
	return n
}

// freeEnergy returns the free energy of a visible vector: −b·v − Σ softplus(c + vW).
func freeEnergy(p []float64, v []float32, hidden int) float64 {
	visible := len(v)
	b, c := p[visible*hidden:visible*hidden+visible], p[visible*hidden+visible:]
	f := 0.0
	for i, x := range v {
		f -= float64(x) * b[i]
	}
	for j := range hidden {
		s := c[j]
		for i, x := range v {
			s += float64(x) * p[i*hidden+j]
		}
		f -= max(s, 0) + math.Log1p(math.Exp(-math.Abs(s)))
	}
	return f
}

// TestRBMGradient: with fixed chains, the gradient is the gradient of F(v) − mean F(chain), where F
// is the free energy.
func TestRBMGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, a := range []RBM{{Hidden: 5, Chains: 3}, {Hidden: 9, Chains: 40, Sweeps: 3},
		{Hidden: 1, Chains: 1}} {
		n := newTestRBM(t, a, Visible{Dim: 12})
		b := binaryBatch(rng, 9, 12, 0.4)
		rows := rowsOf(b)
		checkDerivative(t, n, b, func(p []float64, i int) float64 {
			loss := freeEnergy(p, rows[i], a.Hidden)
			for k := range a.Chains {
				loss -= freeEnergy(p, n.chains.state.Row(k), a.Hidden) / float64(a.Chains)
			}
			return loss
		})
		checkFactored(t, n, b, 1e-3)
		checkFactored(t, n, sparsify(b), 1e-3)
		checkEmpty(t, n, 12)
		checkTotal(t, n, b)
	}
}

// TestRBMNormIsAnUpperBound: the norm is never too small, even if everything cancels. The only
// chain equals the first example, so the true gradient of this example is only rounding error.
func TestRBMNormIsAnUpperBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for _, dim := range []int{20, 784} {
		n := newTestRBM(t, RBM{Hidden: 200, Chains: 1, WeightStd: 0.05}, Visible{Dim: dim})
		b := binaryBatch(rng, 40, dim, 0.5)
		for i := range b.Rows {
			row := b.Dense.Row(i)
			copy(row, n.chains.state.Row(0))
			for range i { // later examples differ more
				row[rng.IntN(dim)] = float32(rng.IntN(2))
			}
		}
		norms := make([]float64, b.Rows)
		n.Gradients(b).SquaredNorms(norms)
		for i := range norms {
			want := exactRBMNorm(n, b.Dense.Row(i))
			if norms[i] < want {
				t.Errorf("%d units, example %d: squared norm %v, want at least %v", dim, i, norms[i], want)
			}
			if i > 10 && norms[i] > want*1.02+0.1*float64(dim)/784 {
				t.Errorf("%d units, example %d: squared norm %v is far above %v", dim, i, norms[i], want)
			}
		}
	}
}

// exactRBMNorm computes a squared norm in float64 from the float32 factors that AddWeightedSum
// uses.
func exactRBMNorm(n *rbm, v []float32) float64 {
	n.Gradients(device.Batch{Rows: 1, Dense: device.HostMatrix(1, len(v), v)})
	h := n.hidden.Row(0)
	k, sum := n.chains, 0.0
	for j := range h {
		for i := range v {
			d := float64(k.inner.Row(i)[j]) - float64(v[i])*float64(h[j])
			sum += d * d
		}
		if j < len(h)-1 {
			d := float64(k.border.Row(0)[j]) - float64(h[j])
			sum += d * d
		}
	}
	return sum
}

// TestRBMChainsIgnoreRecords: chains do not depend on the records. Otherwise they would not be
// post-processing.
func TestRBMChainsIgnoreRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	a := newTestRBM(t, RBM{Hidden: 8, Chains: 5}, Visible{Dim: 10})
	b := newTestRBM(t, RBM{Hidden: 8, Chains: 5}, Visible{Dim: 10})
	for range 5 {
		a.BeginStep()
		b.BeginStep()
		a.Gradients(binaryBatch(rng, 7, 10, 0.9))
		b.Gradients(device.Batch{})
	}
	if string(a.AppendState(nil)) != string(b.AppendState(nil)) {
		t.Error("the chains depend on the batches seen")
	}
}

func TestRBMLearnsAndSamples(t *testing.T) {
	const dim, rows = 12, 64
	g := must(RBM{Hidden: 8, Chains: 50}.New(device.CPU(), Visible{Dim: dim}, 5))(t)
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, make([]float32, rows*dim))}
	for i := range rows {
		for j := range dim / 2 {
			b.Dense.Row(i)[j+i%2*dim/2] = 1
		}
	}
	w := make([]float32, rows)
	for i := range w {
		w[i] = -0.1 / rows
	}
	for range 1500 {
		g.(Stepper).BeginStep()
		g.Gradients(b).AddWeightedSum(g.Params(), w)
	}
	want := device.CPU().New(300, dim)
	g.Sample(rand.New(rand.NewPCG(3, 3)), want)
	good, first := 0, 0
	for i := range want.Rows {
		a, c := mean(want.Row(i)[:dim/2]), mean(want.Row(i)[dim/2:])
		if max(a, c) > 0.8 && min(a, c) < 0.2 {
			good++
		}
		if a > c {
			first++
		}
	}
	if good < 250 || first < 30 || first > 270 {
		t.Errorf("%d of 300 samples show one of the patterns, %d the first pattern", good, first)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got := device.CPU().New(300, dim)
			g.Sample(rand.New(rand.NewPCG(3, 3)), got)
			for i := range got.Data {
				if got.Data[i] != want.Data[i] {
					t.Error("concurrent samples differ")
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestRBMDrawsOfAnySize: a draw has the same rows after smaller and larger draws, whose memory it
// may use.
func TestRBMDrawsOfAnySize(t *testing.T) {
	n := newTestRBM(t, RBM{Hidden: 4, Chains: 5}, Visible{Dim: 7})
	first := map[int][]float32{}
	for _, rows := range []int{3, 100, 40, 3, 100, 40} {
		out := device.CPU().New(rows, 7)
		n.Sample(rand.New(rand.NewPCG(1, 1)), out)
		if first[rows] == nil {
			first[rows] = out.Data
		}
		if !slices.Equal(out.Data, first[rows]) {
			t.Errorf("a second draw of %d rows differs", rows)
		}
	}
}

func TestRBMState(t *testing.T) {
	a := newTestRBM(t, RBM{Hidden: 8, Chains: 5}, Visible{Dim: 11})
	fresh := must(RBM{Hidden: 8, Chains: 5}.New(device.CPU(), Visible{Dim: 11}, 21))(t)
	b := fresh.(*rbm)
	copy(b.params.Flat.Data, a.params.Flat.Data)
	for range 3 {
		a.BeginStep()
	}
	if err := b.SetState(a.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	a.BeginStep()
	b.BeginStep()
	if string(a.AppendState(nil)) != string(b.AppendState(nil)) {
		t.Error("a restored machine continues differently")
	}
	for _, bad := range [][]byte{nil, {1}, make([]byte, 1000)} {
		if b.SetState(bad) == nil {
			t.Errorf("a state of %d bytes is accepted", len(bad))
		}
	}
}

func TestRBMConfig(t *testing.T) {
	bad := RBM{Hidden: -1, Sweeps: -1, SampleSweeps: -2, WeightStd: -1, VisibleBias: math.Inf(1)}
	_, err := bad.New(device.CPU(), Visible{Dim: 3, Likelihood: GaussianUnit}, 0)
	for _, path := range []string{"models.RBM.Hidden", "models.RBM.Chains", "models.RBM.Sweeps",
		"models.RBM.SampleSweeps", "models.RBM.WeightStd", "models.RBM.VisibleBias",
		"models.RBM.New: Visible.Likelihood"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
	var c *param.Error
	if !errors.As(err, &c) {
		t.Error("errors are not *param.Error values")
	}
}

// TestChainDrawsAreFair: draws from 24 uniform bits have the given probability. Each test of 4·10⁶
// draws allows six standard deviations, which gives a false-alarm rate of 2·10⁻⁹.
func TestChainDrawsAreFair(t *testing.T) {
	for _, p := range []float32{0, 0.1, 0.5, 0.93, 1} {
		const rows, cols = 2000, 2001
		sum := 0.0
		row := make([]float32, cols)
		for i := range rows {
			s := newStream(1, 2, uint64(i))
			for j := range row {
				row[j] = p
			}
			s.bernoulli(row)
			for _, x := range row {
				sum += float64(x)
			}
		}
		n := float64(rows * cols)
		if d := math.Abs(sum - n*float64(p)); d > 6*math.Sqrt(n*float64(p)*(1-float64(p))) {
			t.Errorf("probability %v: %v ones in %v draws", p, sum, n)
		}
	}
}

// TestKeyedNormals: keyedNormals are standard Gaussian and differ between keys. Each test allows
// six standard deviations.
func TestKeyedNormals(t *testing.T) {
	const keys, per = 100000, 3
	var sum, squares, cross float64
	x := make([]float32, per)
	for k := range keys {
		keyedNormals(x, uint64(k))
		for _, v := range x {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		cross += float64(x[0]) * float64(x[1])
	}
	n := float64(keys * per)
	if math.Abs(sum) > 6*math.Sqrt(n) || math.Abs(squares-n) > 6*math.Sqrt(2*n) ||
		math.Abs(cross) > 6*math.Sqrt(keys) {
		t.Errorf("the sums of numbers, squares and products are %v, %v and %v for %v draws", sum, squares, cross, n)
	}
}

// TestSamplesOfWideMachinesTakeLittleMemory checks that a few samples do not take memory for many.
func TestSamplesOfWideMachinesTakeLittleMemory(t *testing.T) {
	const dim = 20_000
	n, err := RBM{Hidden: 1, Chains: 1, SampleSweeps: 1}.New(device.CPU(), Visible{Dim: dim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	dst := device.HostMatrix(3, dim, make([]float32, 3*dim))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n.Sample(rand.New(rand.NewPCG(1, 1)), dst)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("three samples take %d bytes, want at most 2 MiB", got)
	}
}
