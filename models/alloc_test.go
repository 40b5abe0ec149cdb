//go:build !race

package models

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// With the race detector, sync.Pool drops values on purpose, so these counts hold only without the
// race detector.

func TestTrainingDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	n := newTestVAE(t, PaperVAE(), Visible{Dim: 50})
	b := binaryBatch(rand.New(rand.NewPCG(1, 1)), 64, 50, 0.2)
	norms, w := make([]float64, 64), make([]float32, 64)
	sum := device.NewParams(device.CPU(), n.Params().Shapes...)
	step := func() {
		g := n.Gradients(b)
		g.SquaredNorms(norms)
		g.AddWeightedSum(sum, w)
	}
	step()
	if a := testing.AllocsPerRun(20, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

func TestRBMTrainingDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	n := newTestRBM(t, RBM{Hidden: 20, Chains: 10}, Visible{Dim: 50})
	b := binaryBatch(rand.New(rand.NewPCG(1, 1)), 64, 50, 0.2)
	norms, w := make([]float64, 64), make([]float32, 64)
	sum := device.NewParams(device.CPU(), n.Params().Shapes...)
	step := func() {
		n.BeginStep()
		g := n.Gradients(b)
		g.SquaredNorms(norms)
		g.AddWeightedSum(sum, w)
	}
	step()
	if a := testing.AllocsPerRun(20, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

func TestTrainingOnBlocksDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	v := mixedVisible(Bernoulli)
	vae, rbm := newTestVAE(t, PaperVAE(), v), newTestRBM(t, RBM{Hidden: 20, Chains: 10}, v)
	b := mixedBatch(rand.New(rand.NewPCG(1, 1)), 64, v)
	norms, w := make([]float64, 64), make([]float32, 64)
	for _, n := range []Network{vae, rbm} {
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		step := func() {
			if s, ok := n.(Stepper); ok {
				s.BeginStep()
			}
			g := n.Gradients(b)
			g.SquaredNorms(norms)
			g.AddWeightedSum(sum, w)
		}
		step()
		if a := testing.AllocsPerRun(20, step); a > 0 {
			t.Errorf("%T: %v allocations a step", n, a)
		}
	}
}

func TestCNNTrainingDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	n := newTestCNN(t, mnistCNN, 10)
	b := greyBatch(rand.New(rand.NewPCG(1, 1)), 20, 784, 10)
	norms, w := make([]float64, 20), make([]float32, 20)
	sum := device.NewParams(device.CPU(), n.Params().Shapes...)
	step := func() {
		g := n.Gradients(b)
		g.SquaredNorms(norms)
		g.AddWeightedSum(sum, w)
	}
	for range 3 {
		step()
	}
	if a := testing.AllocsPerRun(20, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

func TestDecoderTrainingDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	n := newTestDecoder(t, digitsDecoder, 5)
	rng := rand.New(rand.NewPCG(1, 1))
	codes, delta := normalMatrix(rng, 20, 5), normalMatrix(rng, 20, 784)
	grad := device.NewParams(device.CPU(), n.Params().Shapes...)
	step := func() {
		n.Forward(codes)
		n.Backward(delta, grad, device.Matrix{})
	}
	for range 3 {
		step()
	}
	if a := testing.AllocsPerRun(20, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

// TestGeneratorAllocates: adjacent heads of one kind are merged. After a first step, training and
// inference allocate nothing.
func TestGeneratorAllocates(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	n := newTestGenerator(t, testGenerators[0], 3)
	if got := n.g.last().unit.(*headUnit).heads[0]; got != (Head{3, SigmoidHead}) {
		t.Errorf("first head %v, want three sigmoids", got)
	}
	rng := rand.New(rand.NewPCG(6, 1))
	codes, form := normalMatrix(rng, 8, 3), normalMatrix(rng, 8, n.Dim())
	grad := device.NewParams(device.CPU(), n.Params().Shapes...)
	step := func() {
		n.Forward(codes)
		n.Backward(form, grad, device.Matrix{})
		n.Generate(codes, form)
	}
	step()
	if a := testing.AllocsPerRun(50, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

func TestCriticTrainingDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	const rows = 20
	for name, c := range criticCases() {
		n := newPaired(t, c)
		rng := rand.New(rand.NewPCG(1, 1))
		b, fakes := criticBatch(rng, rows, c.dim, c.classes), normalMatrix(rng, rows, c.dim)
		norms, w, mix := make([]float64, rows), make([]float32, rows), make([]float32, rows)
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		step := func() {
			g := n.PairGradients(b, fakes, mix, 10)
			g.SquaredNorms(norms)
			g.AddWeightedSum(sum, w)
		}
		for range 3 {
			step()
		}
		if a := testing.AllocsPerRun(20, step); a > 0 {
			t.Errorf("%s: %v allocations a step", name, a)
		}
	}
}
